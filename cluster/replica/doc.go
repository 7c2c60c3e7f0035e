// Package replica keeps copies of a data folder on other machines, by way of a bucket.
//
// The owner of a collection, which writes its data folder, publishes generations: complete states of
// the folder, each of which a crash could have left. Followers copy the newest one into folders of
// their own, which are ordinary data folders and can be searched, backed up, or crawled on by the
// next owner. Nothing connects to anything but the bucket.
//
//	anatomy.json                            ID of the cluster and version of this format
//	objects/AB/ABCD…                        up to 16 MiB of a file, named by its SHA-256
//	generations/EPOCH-OWNER-NUMBER-SHA256   one generation: its files as lists of objects
//	clock                                   put to learn the time by the bucket's clock
//	owners/…                                who may publish                   (cluster/lease)
//	nodes/…, keys/…                         who is there, and secrets for them (cluster/node)
//
// A data folder may be a folder of shards. A generation has all of them, with the parcels between them:
// a state in which each parcel is sent and applied, or sent and waiting, or not sent. So what is read of
// a bucket is one collection, and who takes over need not ask which shard has which parcels.
//
// A file of the data folder that does not change is uploaded once. The last file of the repository
// grows, and its new end is an object of its own; small objects at the end of a file are replaced by
// one that holds them all, so that a file has few objects more than its size needs.
//
// Names of generations grow: first with the epoch, a number that grows when another machine becomes
// the owner, then with the number. Followers take the greatest. So what an owner publishes that was
// replaced, but does not know it, is not read once the new owner has published; what is copied before
// does no harm, because the new owner uses other numbers of files. No put depends on a condition,
// because several S3-compatible servers ignore conditions. That a list shows what was put before is
// required, as S3 guarantees since 2020.
//
// Everything read is verified: generations and objects by the SHA-256 in their names.
package replica
