// Package division divides the shards of one collection among the nodes of a cluster: each shard
// has an owner, which crawls it, and every node keeps copies of the others. Nodes communicate
// through a bucket only.
//
//	anatomy.json                ID and format of the cluster
//	SHARDS                      which shard has which site, see disk/shards
//	anatomy.toml                the rules of the crawl; beside it, other settings: see ShareSettings
//	owners/…                    lease for creating the collection           (cluster/lease)
//	shards/3/…                  a bucket for shard 3, with its owner, generations and objects
//	urls/SHA256                 URLs to add, one per line
//	ranks/EPOCH-NUMBER/…        ranks of all shards, from one computation
//	nodes/…                     the live nodes                               (cluster/node)
//
// # Links to other shards
//
// A shard sends parcels of links and URLs to others (disk/parcel). They are files of the shard, in
// parcels/TO/FROM-NUMBER.parcel, so they are part of its generations and of the copies on other
// nodes. The exchange stays correct when owners change:
//
//   - Shards read parcels from generations only. So no shard applies a parcel that its sender could
//     lose: the next owner of the sender continues from that generation or a later one, and DocIDs
//     in the parcel stay valid.
//   - A generation lists the parcels applied to it. The sender deletes a parcel when a later one is
//     in a generation of the receiver, so the next owner of the receiver finds every parcel that
//     its generation lacks.
//   - A generation is valid only if no greater epoch was claimed after it was listed, see
//     [lease.Epoch]. So generations that a replaced owner publishes late are ignored.
//
// The receiver applies the parcels of a sender in the order of their numbers, each once, and records
// the numbers with the links. Lists may be late, and may repeat parcels.
//
// # Who owns which shard
//
// Each node announces how many shards it owns. The node with the fewest claims a shard that has no
// owner; after a grace period any node does. A node that owns two more than another hands one over.
//
// # Whole and light copies
//
// With Options.Copies, a shard is whole on so many nodes, its owner among them, and light on the
// others: without the files that are nine tenths of it, see package replica. Who has it whole follows
// from the IDs of the nodes, by rendezvous hashing, so that nodes agree without messages and few copies
// change when one comes or leaves. Each node announces which shards it has whole. A copy becomes light
// only when all chosen nodes have announced that they have the shard whole; more nodes may have it until
// then. A node that becomes the owner makes its copy whole first. Nodes keep their IDs in their folders,
// and their part for some time after they have left, so a restart moves nothing.
//
// # Answers
//
// A node answers over the shards that it has copied, and names the missing ones, see
// [shards.Copied] and searcher.Response.
//
// # Ranks
//
// The owner of shard 0 computes the ranks of all shards as one graph, over its copies, and uploads
// them. Each owner makes its part current, and its next generation contains it.
package division
