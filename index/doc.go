// Package index makes parsed pages searchable. A Builder collects pages in a batch. At a flush the
// indexer writes the batch as barrels, the resolver writes its links as a run, and the sorter sorts
// the barrels into a segment; one manifest publishes segment and run. In the background the Builder
// merges small segments.
//
//	pages --> batch --flush--> barrels --sort--> segment --+--> manifest
//	links --> batch --flush-----------> link run ----------+
//	                      segments, link runs --merge--> one segment, one run
//
// Pages are added in the order of the repository, so the manifest's Indexed address determines
// exactly which pages are in the index. A Replayer reads pages that a crash cut off from the
// repository again, or all pages to rebuild the index.
package index
