// Package index makes parsed pages searchable. A Builder gathers pages in a batch, has the indexer
// write the batch as barrels, the resolver its links as a run and the sorter the barrels as a
// segment, and publishes segment and run in one manifest. Behind that it merges small segments.
//
//	pages --> batch --flush--> barrels --sort--> segment --+--> manifest
//	links --> batch --flush-----------> link run ----------+
//	                      segments, link runs --merge--> one segment, one run
//
// Pages come in the order of the repository, so that the manifest's Indexed address says exactly
// which pages are in the index. A Replayer reads those that a crash cut off from the repository
// again, or all of them to rebuild the index.
package index
