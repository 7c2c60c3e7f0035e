package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"anatomy/vocab"
)

// appendColumn packs values, whose spread is below 2^56.
func appendColumn[V ~uint8 | ~uint16 | ~uint32 | ~uint64](dst []byte, values []V) []byte {
	var least, most uint64
	if len(values) > 0 {
		least, most = uint64(slices.Min(values)), uint64(slices.Max(values))
	}
	width := width64(most - least)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(values)))
	dst = binary.LittleEndian.AppendUint64(dst, least)
	dst = append(dst, width)
	over := make([]uint64, len(values))
	for i, v := range values {
		over[i] = uint64(v) - least
	}
	return appendPacked(dst, over, width)
}

var errColumn = errors.New("its length is impossible")

// decodeColumn reads the values of n documents.
func decodeColumn[V ~uint8 | ~uint16 | ~uint32 | ~uint64](src []byte, n int) ([]V, error) {
	d := decoder{src: src}
	count, least, width := d.uint32(), d.uint64(), d.byte()
	if d.err != nil || int(count) != n || width > 56 || len(d.src) != packedLen(n, width) {
		return nil, errColumn
	}
	values := make([]V, n)
	unpack(values, d.src, width)
	for i := range values {
		values[i] += V(least)
	}
	return values, nil
}

// appendSketches writes eight bytes for each document: no packing makes hashes smaller.
func appendSketches(dst []byte, sketches []vocab.Sketch) []byte {
	for _, s := range sketches {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(s))
	}
	return dst
}

func decodeSketches(src []byte, n int) ([]vocab.Sketch, error) {
	if len(src) != 8*n {
		return nil, errColumn
	}
	sketches := make([]vocab.Sketch, n)
	for i := range sketches {
		sketches[i] = vocab.Sketch(binary.LittleEndian.Uint64(src[8*i:]))
	}
	return sketches, nil
}

func appendBits(dst []byte, flags []bool) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(flags)))
	packed := make([]uint8, len(flags))
	for i, set := range flags {
		if set {
			packed[i] = 1
		}
	}
	return appendPacked(dst, packed, 1)
}

func decodeBits(src []byte, n int) ([]byte, error) {
	d := decoder{src: src}
	if count := d.uint32(); d.err != nil || int(count) != n || len(d.src) != packedLen(n, 1) {
		return nil, errColumn
	}
	return slices.Clone(d.src), nil
}

func appendRemoved(dst []byte, docs []vocab.DocID) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(docs)))
	last := vocab.DocID(0)
	for _, doc := range docs {
		dst = binary.AppendUvarint(dst, uint64(doc-last))
		last = doc
	}
	return dst
}

func decodeRemoved(src []byte) ([]vocab.DocID, error) {
	d := decoder{src: src}
	n := d.uvarint()
	if d.err != nil || n > uint64(len(d.src)) {
		return nil, errColumn
	}
	docs := make([]vocab.DocID, n)
	last := vocab.DocID(0)
	for i := range docs {
		last += vocab.DocID(d.uvarint())
		docs[i] = last
	}
	if d.err != nil || len(d.src) > 0 {
		return nil, errColumn
	}
	return docs, nil
}

// A docBlock is an entry of the directory of doc blocks.
type docBlock struct {
	first vocab.Ordinal
	key   string // weburl Key of the first document
}

func appendDirectory(dst []byte, blocks []docBlock) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(blocks)))
	for _, b := range blocks {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(b.first))
		dst = append(binary.AppendUvarint(dst, uint64(len(b.key))), b.key...)
	}
	return dst
}

func decodeDirectory(src []byte, docs int) ([]docBlock, error) {
	d := decoder{src: src}
	n := d.uvarint()
	if d.err != nil || n > uint64(len(d.src))/5 || n > uint64(docs) || (n == 0) != (docs == 0) {
		return nil, errColumn
	}
	blocks := make([]docBlock, n)
	for i := range blocks {
		blocks[i] = docBlock{vocab.Ordinal(d.uint32()), string(d.text())}
		switch {
		case d.err != nil:
			return nil, errColumn
		case i == 0 && blocks[0].first != 0, int(blocks[i].first) >= docs,
			i > 0 && (blocks[i].first <= blocks[i-1].first || blocks[i].key < blocks[i-1].key):
			return nil, fmt.Errorf("doc block %d is out of order", i)
		}
	}
	if len(d.src) > 0 {
		return nil, errColumn
	}
	return blocks, nil
}
