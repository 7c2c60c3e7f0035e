// Package postings encodes and decodes posting lists: blocks of up to 128 postings, the hits of a block,
// the directory of the blocks of a list, and the dictionary entry of a list. Package segment describes
// the format.
package postings

import "errors"

// BlockSize is the number of postings of a block.
const BlockSize = 128

// NoOrdinal precedes ordinal 0 modulo 2^32, and marks the absence of a posting.
const NoOrdinal = ^uint32(0)

// Errors of damaged lists.
var (
	errCount     = errors.New("the number of postings is out of range")
	ErrDirectory = errors.New("the directory of blocks is damaged")
	ErrOrdinals  = errors.New("ordinals are out of order")
	errWidth     = errors.New("a width is out of range")
)
