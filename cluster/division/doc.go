// Package division divides the shards of one collection among the nodes of a cluster: each shard has
// an owner, which crawls it, and every node keeps copies of the others. It uses nothing but a bucket.
//
//	anatomy.json                ID and format of the cluster
//	SHARDS                      which shard has which site, see disk/shards
//	anatomy.toml                the rules of the crawl
//	owners/…                    who may found the collection                (cluster/lease)
//	shards/3/…                  a bucket for shard 3, with its owner, generations and objects
//	urls/SHA256                 URLs that were given to a node, one a line
//	ranks/EPOCH-NUMBER/…        ranks of all shards, of the same computation
//	nodes/…                     who is there                                 (cluster/node)
//
// # Links to other shards
//
// A shard sends parcels of links and URLs to others (disk/parcel). They are files of the shard, in
// parcels/TO/FROM-NUMBER.parcel, so its generations carry them, and the copies that the others keep.
// That makes the exchange right when owners come and go:
//
//   - A parcel is read from a generation alone. So nobody applies one that its sender could forget: the
//     next owner of the sender goes on from that generation or a later one, and DocIDs in the parcel
//     stay what they are.
//   - A generation states which parcels are in it. The sender deletes a parcel when a later one is in a
//     generation of the receiver. So the next owner of the receiver finds all that its generation lacks.
//   - A generation counts only if nobody had claimed a greater epoch after it was listed, see
//     [lease.Epoch]. So what an owner puts that was replaced is not read, whenever it wakes up.
//
// The receiver applies the parcels of a sender in the order of their numbers, each once, and records
// the numbers with the links. Lists may be late, and may repeat parcels.
//
// # Who owns which shard
//
// Nodes see how many shards each of them owns. One with the least claims a shard that has no owner;
// any does after a while. One that owns two more than another hands one over.
//
// # Ranks
//
// The owner of shard 0 computes the ranks of all shards as one graph, over its copies, and puts them
// into the bucket. Each owner puts its part in force, and its next generation has it.
package division
