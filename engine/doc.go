// Package engine joins the rooms on one machine: it opens the data folder, carries leases from the
// URL server to the crawlers, pages from the crawlers to the store server and the indexer, batches
// to the resolver and the sorter, and graphs to PageRank. It is the only package that knows all of
// them; they know only the vocabulary and the files.
//
//	urlserver --lease--> crawler --fetch--> indexer.Parse --links--> urlserver.Add
//	                                             |
//	                                         storeserver --receipt, after fsync--> urlserver.Done
//	                                                                                    |
//	                                                Builder: batch --> barrels, link run --> segment
//
// A page is acknowledged when urlserver.Done has made its receipt durable. What a crash cuts off
// before is fetched again; what it cuts off after, between repository and index, is read again
// from the repository.
package engine
