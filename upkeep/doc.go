// Package upkeep implements the operator's commands on a data folder: check, repair, rebuild,
// compact, block, back up, restore, export, import, and indexing of given text. All of them are
// safe while others read the folder. A command that writes to the folder holds its lock, or sends the
// request to the running crawl.
package upkeep
