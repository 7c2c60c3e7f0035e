// Package engine joins the stages of a crawl on one machine. It carries leases from the URL server
// to the crawler, fetches to the store server and the index, and outcomes to the document index.
// The stages know the vocabulary and their files, and not each other.
//
//	urlserver --lease--> fetcher --> crawler --fetch--> intake --links--> urlserver.Add
//	                                                      |
//	                                                   storeserver
//	                                                      | receipt, after fsync
//	                                                      v
//	   election, compactor, operators ---- event ---> committer --> urlserver.Complete
//	                                                      |
//	                                                      v
//	                                                index.Builder: batch --> segment, link run
//
// Beside that, background work flushes, merges and ranks and, in a crawl that never ends, elects
// canonical documents, compacts and scrubs.
//
// A page is acknowledged when urlserver.Complete has made its outcome durable. What a crash cuts
// off before is fetched again. What it cuts off after, between repository and index, is read from
// the repository again.
package engine
