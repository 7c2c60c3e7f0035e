// Package vocab holds the words that every room of anatomy shares: identifiers, hits, and the
// messages that pass between the URL server, the crawlers, the store server and the indexer.
// It uses the standard library alone and does no I/O.
package vocab
