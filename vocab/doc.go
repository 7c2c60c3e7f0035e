// Package vocab defines the types that all rooms of anatomy share: identifiers, hits, and the messages
// between URL server, crawlers, store server and indexer. It imports only the standard library and
// does no I/O.
package vocab
