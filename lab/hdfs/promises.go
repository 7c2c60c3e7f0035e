package main

// A keeper is who keeps a promise.
type keeper string

const (
	anatomy   keeper = "anatomy"
	theBucket keeper = "the bucket"
	nobody    keeper = "nobody here"
)

// A promise is one of HDFS's, with what keeps it here.
type promise struct {
	name   string
	hdfs   string // what HDFS does
	keeper keeper
	here   string                       // what keeps it: of anatomy, the packages
	tests  []string                     // PACKAGE.TEST
	show   func(*bench) (string, error) // shows it and returns what was done; nil unless anatomy keeps it
}

// promises follow the sections of the HDFS architecture document, but for the order of some, which
// need what others leave.
var promises = []promise{
	{
		name: "replication", hdfs: "each block is on several machines",
		keeper: theBucket, here: "an S3 server or the shared file system decides how often it stores an object",
	},
	{
		name: "placement", hdfs: "copies are spread over racks",
		keeper: theBucket, here: "it knows its machines, anatomy does not",
	},
	{
		name: "erasure coding", hdfs: "parity takes less space than copies",
		keeper: theBucket, here: "anatomy stores each object once",
	},
	{
		name: "replicas", hdfs: "readers find the same data on each machine that has a copy",
		keeper: anatomy, here: "cluster/replica: each follower has a whole data folder",
		tests: []string{"cluster/replica.TestFollow", "cluster/replica.TestInterruptedFollower"},
		show:  (*bench).replicas,
	},
	{
		name: "access", hdfs: "files are read by common tools",
		keeper: anatomy, here: "every copy is an ordinary data folder, which all commands read",
		tests: []string{"cmd/anatomy.TestScripts"},
		show:  (*bench).access,
	},
	{
		name: "replica selection", hdfs: "a reader uses the nearest copy",
		keeper: anatomy, here: "a server answers from its own disk, also while the bucket is away",
		tests: []string{"cluster/replica.TestFollow"},
		show:  (*bench).nearest,
	},
	{
		name: "write once", hdfs: "a file that was written does not change",
		keeper: anatomy, here: "cluster/replica: objects are named by their SHA-256 and never put again",
		tests: []string{"cluster/replica.TestFollow", "cluster/replica.TestNames"},
		show:  (*bench).writeOnce,
	},
	{
		name: "append", hdfs: "a file may grow at its end",
		keeper: anatomy, here: "cluster/replica: the new end of the last repository file is an object of its own",
		tests: []string{"cluster/replica.TestStay"},
		show:  (*bench).grow,
	},
	{
		name: "staging", hdfs: "a file is there when it is whole",
		keeper: anatomy, here: "cluster/bucket: an object appears when all of it is stored; a generation after its objects",
		tests: []string{"cluster/bucket.TestFailedPutLeavesNothing", "cluster/bucket.TestPutAfterCrash", "cluster/bucket.TestCorruptedPut"},
		show:  (*bench).staging,
	},
	{
		name: "checksums", hdfs: "a client verifies what it reads, and reads another copy if it is wrong",
		keeper: anatomy, here: "cluster/replica: content must have the SHA-256 in its name; it is fetched again, then named",
		tests: []string{"cluster/replica.TestDamagedObjects", "cluster/bucket.TestCorruptedPut"},
		show:  (*bench).checksums,
	},
	{
		name: "re-replication", hdfs: "a lost copy is made again from another one",
		keeper: anatomy, here: "cluster/replica: cluster check --repair puts objects again from any machine's folder",
		tests: []string{"cmd/anatomy.TestScripts"},
		show:  (*bench).replicateAgain,
	},
	{
		name: "disk failure", hdfs: "what a disk had is copied to others",
		keeper: anatomy, here: "cluster/replica: a follower with an empty folder copies all; check names a damaged file",
		tests: []string{"cluster/replica.TestInterruptedFollower", "cmd/anatomy.TestDamageIsAnAlarm"},
		show:  (*bench).diskFailure,
	},
	{
		name: "block reports", hdfs: "each machine says what it has",
		keeper: anatomy, here: "cluster/node: nodes announce their role and generation; cluster status lists them",
		tests: []string{"cmd/anatomy.TestScripts"},
		show:  (*bench).reports,
	},
	{
		name: "heartbeats", hdfs: "a silent machine is taken for dead, and its work goes on",
		keeper: anatomy, here: "cluster/lease: another machine owns the collection after 8 s of silence",
		tests: []string{"cluster/lease.TestTakeOver", "cluster/node.TestTakeOver", "cluster/node.TestStandby"},
		show:  (*bench).heartbeats,
	},
	{
		name: "fencing", hdfs: "a master that was replaced changes nothing when it wakes",
		keeper: anatomy, here: "cluster/lease, cluster/replica: names of generations begin with the owner's epoch",
		tests: []string{"cluster/node.TestOldOwner", "cluster/lease.TestOneOwner"},
		show:  (*bench).fencing,
	},
	{
		name: "safe mode", hdfs: "nothing is moved or deleted while too little is known",
		keeper: anatomy, here: "cluster/lease: without the bucket nobody becomes the owner, and only the owner deletes",
		tests: []string{"cluster/lease.TestCutOff", "cluster/bucket.TestFolderGone"},
		show:  (*bench).safeMode,
	},
	{
		name: "decommissioning", hdfs: "a machine is taken out without a gap",
		keeper: anatomy, here: "cluster/lease: cluster drain and SIGTERM hand over at once",
		tests: []string{"cluster/lease.TestHandOver"},
		show:  (*bench).drain,
	},
	{
		name: "disks of a machine", hdfs: "a machine uses several disks, and says which one is missing",
		keeper: anatomy, here: "disk/repository, disk/datadir: pages are stored where most space is free",
		tests: []string{"upkeep.TestSpreadFolder", "upkeep.TestDiskAway", "engine.TestFullDisks", "engine.TestPowerLossOnDisks"},
		show:  (*bench).disks,
	},
	{
		name: "image and edit log", hdfs: "the state of the master is made again from what it wrote",
		keeper: anatomy, here: "cluster/replica: generations in the bucket suffice; claims and the state of machines do not count",
		tests: []string{"cmd/anatomy.TestScripts", "cluster/node.TestDamagedTakeOver"},
		show:  (*bench).metadata,
	},
	{
		name: "several images", hdfs: "a damaged image is replaced by another one",
		keeper: anatomy, here: "cluster/replica: earlier generations stay, and followers keep the one before",
		tests: []string{"cluster/node.TestDamagedTakeOver", "cluster/replica.TestDamagedObjects"},
		show:  (*bench).images,
	},
	{
		name: "snapshots", hdfs: "the file system goes back to an earlier time",
		keeper: anatomy, here: "cluster/replica: cluster restore --generation; of a day one is kept for each ten minutes",
		tests: []string{"cluster/replica.TestCollect", "upkeep.TestBackupDuringCrawl"},
		show:  (*bench).snapshots,
	},
	{
		name: "trash", hdfs: "what is deleted stays for a time, and can be had back",
		keeper: anatomy, here: "cluster/replica: objects that no kept generation names go after 24 h by the bucket's clock",
		tests: []string{"cluster/replica.TestCollect"},
		show:  (*bench).trash,
	},
	{
		name: "balancing", hdfs: "blocks move to machines with free space",
		keeper: anatomy, here: "cluster/division: nodes that divide shards own equally many; the bucket spreads its objects itself",
		tests: []string{"cluster/division.TestNodes", "cluster/division.TestMayClaim"},
		show:  (*bench).balance,
	},
	{
		name: "moving computation", hdfs: "a job runs where its data are, on many machines",
		keeper: anatomy, here: "cluster/division, cluster/peer: the owner of a shard crawls, parses, indexes and ranks it; " +
			"lists and texts are read where they are",
		tests: []string{"cluster/division.TestNodes", "searcher.TestLightShards"},
		show:  (*bench).compute,
	},
}
