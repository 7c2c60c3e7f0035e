// Package engine joins the stages of a crawl on one machine. It carries leases from the URL server
// to the crawler, fetches to the store server and the index, and outcomes to the document index.
// The stages know package vocab and their files, but not each other.
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
// Background work flushes, merges and ranks and, in a crawl that never ends, elects canonical
// documents, compacts and scrubs.
//
// A page is acknowledged when urlserver.Complete has made its outcome durable. If a crash comes
// before, the page is fetched again. If it comes after, but before the page is indexed, the page is
// read from the repository again.
package engine
