package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"anatomy/disk/segment/internal/bitpack"
	"anatomy/disk/segment/internal/decode"
	"anatomy/vocab"
)

// appendColumn appends an encoded column. The values differ by less than 2^56.
func appendColumn[V ~uint8 | ~uint16 | ~uint32 | ~uint64](dst []byte, values []V) []byte {
	var least, most uint64
	if len(values) > 0 {
		least, most = uint64(slices.Min(values)), uint64(slices.Max(values))
	}
	width := bitpack.Width(most - least)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(values)))
	dst = binary.LittleEndian.AppendUint64(dst, least)
	dst = append(dst, width)
	over := make([]uint64, len(values))
	for i, v := range values {
		over[i] = uint64(v) - least
	}
	return bitpack.Append(dst, over, width)
}

var errColumn = errors.New("the column is damaged")

// decodeColumn decodes the values of n documents.
func decodeColumn[V ~uint8 | ~uint16 | ~uint32 | ~uint64](src []byte, n int) ([]V, error) {
	d := decode.Reader{Src: src}
	count, least, width := d.Uint32(), d.Uint64(), d.Byte()
	if d.Err != nil || int(count) != n || width > 56 || len(d.Src) != bitpack.Len(n, width) {
		return nil, errColumn
	}
	values := make([]V, n)
	bitpack.Unpack(values, d.Src, width)
	for i := range values {
		values[i] += V(least)
	}
	return values, nil
}

// appendSketches appends 8 bytes per document, because hashes cannot be packed.
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
	return bitpack.Append(dst, packed, 1)
}

func decodeBits(src []byte, n int) ([]byte, error) {
	d := decode.Reader{Src: src}
	if count := d.Uint32(); d.Err != nil || int(count) != n || len(d.Src) != bitpack.Len(n, 1) {
		return nil, errColumn
	}
	return slices.Clone(d.Src), nil
}

func appendTombstones(dst []byte, docs []vocab.DocID) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(docs)))
	last := vocab.DocID(0)
	for _, doc := range docs {
		dst = binary.AppendUvarint(dst, uint64(doc-last))
		last = doc
	}
	return dst
}

func decodeTombstones(src []byte) ([]vocab.DocID, error) {
	d := decode.Reader{Src: src}
	n := d.Uvarint()
	if d.Err != nil || n > uint64(len(d.Src)) {
		return nil, errColumn
	}
	docs := make([]vocab.DocID, n)
	last := vocab.DocID(0)
	for i := range docs {
		last += vocab.DocID(d.Uvarint())
		docs[i] = last
	}
	if d.Err != nil || len(d.Src) > 0 {
		return nil, errColumn
	}
	return docs, nil
}

// A docBlock is an entry of the directory of doc blocks.
type docBlock struct {
	first vocab.Ordinal
	key   string // of the first document: see weburl.URL.Key
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
	d := decode.Reader{Src: src}
	n := d.Uvarint()
	if d.Err != nil || n > uint64(len(d.Src))/5 || n > uint64(docs) || (n == 0) != (docs == 0) {
		return nil, errColumn
	}
	blocks := make([]docBlock, n)
	for i := range blocks {
		blocks[i] = docBlock{vocab.Ordinal(d.Uint32()), string(d.Text())}
		switch {
		case d.Err != nil:
			return nil, errColumn
		case i == 0 && blocks[0].first != 0, int(blocks[i].first) >= docs,
			i > 0 && (blocks[i].first <= blocks[i-1].first || blocks[i].key < blocks[i-1].key):
			return nil, fmt.Errorf("doc block %d is out of order", i)
		}
	}
	if len(d.Src) > 0 {
		return nil, errColumn
	}
	return blocks, nil
}

// A hostRun is the consecutive documents of a host.
type hostRun struct {
	first vocab.Ordinal
	name  string // the part of their keys before the path: "org.example.www", "org.example.8080"
}

// hostOf returns the part of a URL's key before the path.
func hostOf(key string) string {
	host, _, _ := strings.Cut(key, "/")
	return host
}

func appendHosts(dst []byte, runs []hostRun) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(runs)))
	last := vocab.Ordinal(0)
	for _, r := range runs {
		dst = binary.AppendUvarint(dst, uint64(r.first-last))
		dst = append(binary.AppendUvarint(dst, uint64(len(r.name))), r.name...)
		last = r.first
	}
	return dst
}

// decodeHosts decodes the hosts of the documents. All names share memory.
func decodeHosts(src []byte, docs int) ([]hostRun, error) {
	d := stringDecoder{src: string(src)}
	n := d.uvarint()
	if d.bad || n > uint64(len(d.src))/2 || n > uint64(docs) || (n == 0) != (docs == 0) {
		return nil, errColumn
	}
	runs := make([]hostRun, n)
	next := uint64(0)
	for i := range runs {
		gap := d.uvarint()
		name := d.text()
		switch first := next + gap; {
		case d.bad || gap > uint64(docs) || first >= uint64(docs):
			return nil, errColumn
		case (i == 0) != (first == 0), i > 0 && (gap == 0 || name+"/" <= runs[i-1].name+"/"):
			return nil, fmt.Errorf("host %d is out of order", i)
		default:
			runs[i] = hostRun{vocab.Ordinal(first), name}
			next = first
		}
	}
	if d.src != "" {
		return nil, errColumn
	}
	return runs, nil
}
