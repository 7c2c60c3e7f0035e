package division

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"anatomy/cluster/bucket"
	"anatomy/cluster/lease"
	"anatomy/cluster/node"
	"anatomy/cluster/replica"
	"anatomy/disk/parcel"
	"anatomy/disk/snapshot"
	"anatomy/vocab"
)

// A Member is a shard that this node owns, open for writing.
type Member interface {
	Run(ctx context.Context) error // crawls until ctx ends
	Notify()                       // called when parcels for it may have arrived
	AddSeeds(urls []string) error  // adds URLs of the shard; known ones are ignored
	State() string                 // identifies its state, see replica.PublisherOptions
	Work() vocab.ShardWork         // without Shard and Waiting
	Close() error

	// Snapshot calls use with a copy of the shard and the number of the last parcel applied, by
	// sender.
	Snapshot(p snapshot.Purpose, use func(s *snapshot.Snapshot, received []uint64) error) error
}

// Options configure a Node.
type Options struct {
	Bucket  bucket.Bucket // of the collection
	Dir     string        // the folder of shards, see Join
	Shards  int
	Machine string // name of this machine, for display
	Version string // of the program
	Log     *slog.Logger

	// Of the server at which other nodes call this one, see package peer; "" if it has none.
	Address, Certificate string

	// Open opens a shard for writing. It is nil for a node that owns no shard and only keeps
	// copies.
	Open func(ctx context.Context, shard int, post parcel.Post) (Member, error)

	// Copies is the number of nodes that have a shard whole: its owner and others. Further nodes have
	// light copies. 0: all nodes have all shards whole, as always without Open.
	Copies int

	Of func(url string) (int, error) // returns the shard of a URL

	// Rank computes ranks of all shards, and calls put for each vector of each shard. It is nil if
	// Open is.
	Rank func(ctx context.Context, put func(shard int, name string, content []byte) error) error

	Changed func(text string) // called with messages to display; default: none

	Intervals // for tests
}

// Intervals are the intervals of a node's periodic work. The zero value has the defaults.
type Intervals struct {
	Publish time.Duration // between generations of a changed shard: 2 s
	Follow  time.Duration // between checks for new generations of other shards: 1 s
	Look    time.Duration // between checks for nodes, URLs and ranks: 2 s
	Quiet   time.Duration // time without new links before ranks are computed: 8 s
	Grace   time.Duration // delay before claiming a shard that another node should claim: 5 s
	HandOn  time.Duration // between two hand-overs: 15 s
	Retry   time.Duration // delay after a failure: 5 s
	Away    time.Duration // time for which a node that has left keeps its part in Copies: 5 min
	Share   time.Duration // between checks for changed settings, see ShareSettings: 10 s
}

func (p *Intervals) setDefaults() {
	for _, d := range []struct {
		of *time.Duration
		to time.Duration
	}{
		{&p.Publish, 2 * time.Second}, {&p.Follow, time.Second}, {&p.Look, 2 * time.Second},
		{&p.Quiet, 8 * time.Second}, {&p.Grace, 5 * time.Second}, {&p.HandOn, 15 * time.Second},
		{&p.Retry, 5 * time.Second}, {&p.Away, 5 * time.Minute}, {&p.Share, 10 * time.Second},
	} {
		if *d.of == 0 {
			*d.of = d.to
		}
	}
}

// A Node owns some shards, and keeps copies of the others.
type Node struct {
	o    Options
	id   string // see node.ID
	mail *Mail

	private bool // the folder is marked as private; used by markPrivate only

	mu        sync.Mutex                   // guards what follows
	shards    []shardState                 // by shard number
	others    map[string]bool              // other live nodes that may own shards
	present   map[string]vocab.ClusterNode // other live nodes, by ID
	seen      map[string]time.Time         // when other nodes were last live, by ID
	hasLooked bool                         // present is known
	handed    time.Time                    // time of the last hand-over
	urls      map[string][]string          // URLs to add, by object
}

// A shardState is the state of one shard on a node.
type shardState struct {
	holder   lease.Holder // another node, as last seen
	copy     *replica.Follower
	own      *owned
	failing  string
	isCopied bool // a generation has been current since the node started
}

// An owned is a shard that this node owns.
type owned struct {
	release  context.CancelFunc // starts the hand-over
	opened   chan struct{}      // closed when member is set
	member   Member             // nil if the shard cannot be opened
	received []uint64           // of the last snapshot
	owner    *node.Owner
	ranks    string // name of the current ranks
}

// state identifies the state of the shard; it is "" while the shard is not open.
func (s *owned) state() string {
	select {
	case <-s.opened:
		if s.member != nil {
			return s.member.State()
		}
	default:
	}
	return ""
}

// set calls change with mu held.
func (n *Node) set(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
}

// open returns the shards that this node owns and has opened.
func (n *Node) open() map[int]*owned {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := map[int]*owned{}
	for shard := range n.shards {
		s := n.shards[shard].own
		if s == nil {
			continue
		}
		select {
		case <-s.opened:
			if s.member != nil {
				all[shard] = s
			}
		default:
		}
	}
	return all
}
