// Package replica replicates a data folder to other machines through a bucket.
//
// The owner of a collection writes its data folder and publishes generations. A generation is a
// complete, crash-consistent state of the folder. Followers copy the newest one into their own
// folders. These are ordinary data folders: they can be searched, backed up, or become the folder
// of the next owner. Machines connect to the bucket only.
//
//	anatomy.json                            ID of the cluster and version of this format
//	objects/AB/ABCD…                        up to 16 MiB of a file, named by its SHA-256
//	generations/EPOCH-OWNER-NUMBER-SHA256   one generation: its files as lists of objects
//	clock                                   put to read the bucket's clock
//	owners/…                                lease of the owner                (cluster/lease)
//	nodes/…, keys/…                         live nodes, and secrets for them  (cluster/node)
//
// A data folder may be a folder of shards. A generation has all of them, with the parcels between
// them, in a consistent state: each parcel is sent and applied, sent and waiting, or not sent. So a
// new owner need not reconcile the parcels of the shards.
//
// A copy can be light ([FollowerOptions.Light]): it lacks the mapped files of segments and the
// repository, nine tenths of a generation, and has everything that decides over several shards.
// Readers of its posting lists, texts and pages fail. A follower makes a copy light or whole while
// processes search it.
//
// An immutable file of the data folder is uploaded once. The last file of the repository grows, and
// each new end becomes an object; small objects at the end of a file are replaced by one that
// contains them all, so that a file has few more objects than its size requires.
//
// Names of generations increase: first by the epoch, which grows when another machine becomes the
// owner, then by the number. Followers copy the greatest. So generations of an owner that does not
// know that it was replaced are ignored once the new owner has published. One that was copied
// earlier does no harm, because the new owner uses other file numbers. Conditional puts are not
// used, because several S3-compatible servers ignore the condition. A list must show every earlier
// put, as S3 guarantees since 2020.
//
// Everything read is verified by the SHA-256 in the names of generations and objects.
package replica
