// Package upkeep holds the work on a data folder that an operator starts: check, repair, rebuild,
// compact, block, back up, restore, export, import, and indexing of given text. All of it is safe
// beside readers of the folder. What writes to the folder takes its lock, or asks the crawl that
// runs on it to do the work.
package upkeep
