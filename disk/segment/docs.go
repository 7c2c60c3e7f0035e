package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/klauspost/compress/zstd"

	"anatomy/disk/texts"
	"anatomy/vocab"
)

const (
	// docBlockDocs is the number of documents of a doc block: about 10 KB of records, so that
	// reading one record does not decompress many.
	docBlockDocs = 64

	// maxDocBlock bounds the size of a doc block in bytes.
	maxDocBlock = 16 << 20
)

const (
	docCrawled = 1 << iota
	docHasTime
)

// A docWriter encodes the records of a doc block.
type docWriter struct {
	records []byte
	ends    []byte
	n       int
	raw     []byte
	value   []byte
	zstd    *zstd.Encoder
}

func newDocWriter() (*docWriter, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithWindowSize(128<<10))
	if err != nil {
		return nil, fmt.Errorf("segment: zstd: %w", err)
	}
	return &docWriter{zstd: z}, nil
}

func (w *docWriter) add(info *vocab.DocInfo, text texts.Span) {
	w.records = appendDoc(w.records, info, text)
	w.ends = binary.LittleEndian.AppendUint32(w.ends, uint32(len(w.records)))
	w.n++
}

func (w *docWriter) full() bool { return w.n == docBlockDocs }

// flush compresses the block and starts the next. The result is valid until the next call.
func (w *docWriter) flush() []byte {
	w.raw = binary.LittleEndian.AppendUint32(w.raw[:0], uint32(w.n))
	w.raw = append(append(w.raw, w.ends...), w.records...)
	w.value = binary.AppendUvarint(w.value[:0], uint64(len(w.raw)))
	w.value = w.zstd.EncodeAll(w.raw, w.value)
	w.records, w.ends, w.n = w.records[:0], w.ends[:0], 0
	return w.value
}

func appendDoc(dst []byte, info *vocab.DocInfo, text texts.Span) []byte {
	dst = binary.AppendUvarint(dst, uint64(info.Doc))
	flags := byte(0)
	if info.Crawled {
		flags |= docCrawled
	}
	if !info.Fetched.IsZero() {
		flags |= docHasTime
	}
	dst = append(dst, flags)
	if flags&docHasTime != 0 {
		dst = binary.AppendVarint(dst, info.Fetched.Unix())
	}
	dst = binary.AppendUvarint(dst, uint64(info.Address))
	dst = binary.AppendUvarint(dst, uint64(info.Words))
	for _, v := range [...]uint32{text.Block, text.Start, text.N} {
		dst = binary.AppendUvarint(dst, uint64(v))
	}
	for _, s := range [...]string{info.URL, info.Title, info.Description, info.Lang} {
		dst = append(binary.AppendUvarint(dst, uint64(len(s))), s...)
	}
	return dst
}

var (
	errDocBlock = errors.New("the doc block is damaged")
	errDoc      = errors.New("the document record is damaged")
)

// A docDecoder decompresses doc blocks and texts. It is safe for concurrent use.
type docDecoder struct {
	zstd  *zstd.Decoder
	texts texts.Unpacker
}

func newDocDecoder() (docDecoder, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxDocBlock))
	if err != nil {
		return docDecoder{}, fmt.Errorf("segment: zstd: %w", err)
	}
	unpacker, err := texts.NewUnpacker()
	if err != nil {
		return docDecoder{}, err
	}
	return docDecoder{z, unpacker}, nil
}

// decode returns the content of a doc block of n documents.
func (d docDecoder) decode(value []byte, n int) (string, error) {
	size, at := binary.Uvarint(value)
	if at <= 0 || size > maxDocBlock || size < 4+4*uint64(n) {
		return "", errDocBlock
	}
	// A damaged length must not allocate much: above 1 MB the memory grows with the content.
	raw, err := d.zstd.DecodeAll(value[at:], make([]byte, 0, min(size, 1<<20)))
	if err != nil {
		return "", fmt.Errorf("%w: %w", errDocBlock, err)
	}
	if uint64(len(raw)) != size || binary.LittleEndian.Uint32(raw) != uint32(n) {
		return "", errDocBlock
	}
	return unsafe.String(unsafe.SliceData(raw), len(raw)), nil // raw is immutable from here
}

// docAt decodes document i of n in the content of a doc block. Its strings share the memory of the
// block.
func docAt(raw string, i, n int) (info vocab.DocInfo, text texts.Span, err error) {
	end := func(i int) uint64 {
		if i < 0 {
			return 0
		}
		at := 4 + 4*i
		return uint64(raw[at]) | uint64(raw[at+1])<<8 | uint64(raw[at+2])<<16 | uint64(raw[at+3])<<24
	}
	records := raw[4+4*n:]
	from, to := end(i-1), end(i)
	if from > to || to > uint64(len(records)) {
		return info, text, errDoc
	}
	d := stringDecoder{src: records[from:to]}
	info.Doc = vocab.DocID(d.uvarint())
	flags := d.uvarint()
	info.Crawled = flags&docCrawled != 0
	if flags&docHasTime != 0 {
		zigzag := d.uvarint()
		info.Fetched = time.Unix(int64(zigzag>>1)^-int64(zigzag&1), 0).UTC()
	}
	info.Address = vocab.Address(d.uvarint())
	words := d.uvarint()
	info.Words = uint32(words)
	for _, v := range [...]*uint32{&text.Block, &text.Start, &text.N} {
		n := d.uvarint()
		d.bad = d.bad || n > 1<<32-1
		*v = uint32(n)
	}
	for _, s := range [...]*string{&info.URL, &info.Title, &info.Description, &info.Lang} {
		*s = d.text()
	}
	if d.bad || d.src != "" || words > 1<<32-1 || flags > docCrawled|docHasTime {
		return vocab.DocInfo{}, texts.Span{}, errDoc
	}
	return info, text, nil
}

// A stringDecoder is a decode.Reader of a string, whose memory its texts share.
type stringDecoder struct {
	src string
	bad bool
}

func (d *stringDecoder) uvarint() (v uint64) {
	for i := 0; i < len(d.src) && i < binary.MaxVarintLen64; i++ {
		b := d.src[i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			d.src = d.src[i+1:]
			return v
		}
	}
	d.src, d.bad = "", true
	return 0
}

func (d *stringDecoder) text() string {
	n := d.uvarint()
	if n > uint64(len(d.src)) {
		d.src, d.bad = "", true
		return ""
	}
	s := d.src[:n]
	d.src = d.src[n:]
	return s
}
