// Package bvgraph reads and writes link graphs in the BV format of WebGraph (Boldi and Vigna, WWW
// 2004), which compresses the graph of a web crawl to a few bits a link. A graph NAME is two files:
//
//	NAME.properties  lines of key=value: nodes, arcs, and the parameters of the compression
//	NAME.graph       the successor lists of the nodes 0, 1, …, each ascending, as a bit stream
//
// A third file, NAME.offsets, has where each list begins, as gaps in γ code. Readers of WebGraph
// need it for random access; a [Reader] reads from front to end and does without. The first bit of a
// byte is its highest. A list is, with the codes of the default parameters:
//
//	γ outdegree d                     nothing follows if d = 0
//	unary reference r                 r > 0: part of the list is copied from that of node x-r, r ≤ window
//	γ number of blocks; γ blocks      the lengths of alternating runs of that list, copied and skipped;
//	                                  all but the first less 1. The rest is copied if the number is even
//	γ number of intervals             runs of consecutive successors among those not copied
//	γ left end, γ length, …           the first end as zigzag of end-x, the others as the gap to the last
//	                                  interval less 1; lengths less the minimum
//	ζ_k residuals                     the rest: the first as zigzag of it less x, the others as gaps less 1
//
// Unary n is n zeros and a one. γ of n is, for n+1 of h+1 bits, unary h and the lower h bits. ζ_k of n
// is, for n+1 in [2^hk, 2^(h+1)k), unary h and n+1-2^hk in a minimal binary code. The zigzag of a
// number v ≥ 0 is 2v, that of v < 0 is -2v-1.
package bvgraph

// MaxNodes bounds the nodes of a graph.
const MaxNodes = 1<<32 - 1

// Bounds of the values in a properties file.
const (
	maxWindow   = 1 << 10
	maxInterval = 1 << 20
	maxZetaK    = 16
)
