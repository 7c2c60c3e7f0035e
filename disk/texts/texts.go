// Package texts packs the texts of documents, which snippets are cut from, into blocks. Barrels and
// segments have the same blocks, so that a text is compressed once, in its batch, and merges copy
// the block.
//
// # Format
//
// A block is a zstd frame without checksum, because the file that contains it has checksums. Its
// content is texts, one after the other. The [Span] of a text is in its document's record, and the
// length of the content in the directory of the file. The content is slightly more than 32 KB of
// texts; it is less in the last block of a file, and much more in a block whose last text is long.
//
// To show a text, its block or a prefix of it is decompressed. With blocks of 32 KB that is 50 KB
// on average (shown texts are longer than most) in 39 µs, and texts are compressed to .228 of their
// size, over 278,000 pages of documentation. Blocks of 64 KB: 81 KB, 55 µs and .215. Blocks of 16
// KB at zstd's next level, which takes twice the time to compress: 36 KB, 29 µs and .233.
package texts

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/klauspost/compress/zstd"
)

// A Span locates a text: N bytes from offset Start of the content of a block. The span of an empty text
// is the zero value.
type Span struct{ Block, Start, N uint32 }

const (
	// blockSize is the size in bytes of the content at which a block is full.
	blockSize = 32 << 10

	// window is the zstd window, and the unit in which zstd decompresses.
	window = 2 * blockSize

	// MaxBlock bounds the content of a block in bytes. A longer one is damaged.
	MaxBlock = 64 << 20
)

// WorthCopying reports whether a merge should copy a block with raw bytes of content, of which live
// bytes are in use. The texts of other blocks are repacked: of short blocks, and of those with a
// quarter unused.
func WorthCopying(raw, live uint64) bool { return raw >= blockSize/2 && live >= raw-raw/4 }

// A Packer packs texts into blocks. It is not safe for concurrent use.
type Packer struct {
	raw   []byte
	frame []byte
	zstd  *zstd.Encoder
}

// NewPacker returns a packer. The caller closes it.
func NewPacker() (*Packer, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(false), zstd.WithWindowSize(window))
	if err != nil {
		return nil, fmt.Errorf("texts: zstd: %w", err)
	}
	return &Packer{zstd: z}, nil
}

// Add adds a text to the current block, and returns its offset in the content.
func (p *Packer) Add(text string) (start uint32) {
	start = uint32(len(p.raw))
	p.raw = append(p.raw, text...)
	return start
}

// Full reports whether the current block must be flushed before the next text is added.
func (p *Packer) Full() bool { return len(p.raw) >= blockSize }

// Empty reports whether the current block has no texts.
func (p *Packer) Empty() bool { return len(p.raw) == 0 }

// Flush compresses the current block and starts the next. It returns the frame, which is valid
// until the next call, and the length of the content.
func (p *Packer) Flush() (frame []byte, raw int) {
	p.frame = p.zstd.EncodeAll(p.raw, p.frame[:0])
	raw = len(p.raw)
	p.raw = p.raw[:0]
	return p.frame, raw
}

// Close releases the memory of the packer.
func (p *Packer) Close() { p.zstd.Close() }

var (
	errBlock = errors.New("the text block is damaged")
	errSpan  = errors.New("a text is outside of its block")
)

// An Unpacker decompresses blocks. It is safe for concurrent use.
type Unpacker struct {
	zstd     *zstd.Decoder
	prefixes *sync.Pool // of *[]byte: frames with the first windows of other frames
}

// NewUnpacker returns an unpacker. The caller closes it.
func NewUnpacker() (Unpacker, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(MaxBlock))
	if err != nil {
		return Unpacker{}, fmt.Errorf("texts: zstd: %w", err)
	}
	return Unpacker{z, &sync.Pool{New: func() any { return new([]byte) }}}, nil
}

// Unpack returns the content of a block, which has raw bytes.
func (u Unpacker) Unpack(frame []byte, raw int) (string, error) {
	content, err := u.all(nil, frame, raw)
	return unsafe.String(unsafe.SliceData(content), len(content)), err // content is immutable from here
}

// zstdRoom is the capacity beyond the content that zstd uses to copy in large steps.
const zstdRoom = 64

// all is Unpack that uses the memory of dst if it suffices.
func (u Unpacker) all(dst, frame []byte, raw int) ([]byte, error) {
	if raw < 0 || raw > MaxBlock {
		return nil, errBlock
	}
	// A damaged length must not allocate much: above 1 MB the memory grows with the content.
	content, err := u.zstd.DecodeAll(frame, slices.Grow(dst[:0], min(raw, 1<<20)+zstdRoom))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBlock, err)
	}
	if len(content) != raw {
		return nil, errBlock
	}
	return content, nil
}

// UnpackPrefix returns at least the first n bytes of the content of a block, in complete windows.
// So texts before a long one, and snippets of it, do not require decompressing all of it. It uses
// the memory of dst if it suffices.
func (u Unpacker) UnpackPrefix(dst, frame []byte, raw, n int) ([]byte, error) {
	windows := (n + window - 1) / window
	if windows*window >= raw {
		return u.all(dst, frame, raw)
	}
	short := u.prefixes.Get().(*[]byte)
	defer u.prefixes.Put(short)
	var ok bool
	if *short, ok = appendPrefix((*short)[:0], frame, windows); !ok {
		return u.all(dst, frame, raw)
	}
	content, err := u.zstd.DecodeAll(*short, slices.Grow(dst[:0], windows*window+zstdRoom))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBlock, err)
	}
	if len(content) < n { // a frame from another encoder
		return u.all(content, frame, raw)
	}
	return content, nil
}

// appendPrefix appends a frame with the first blocks of a zstd frame (RFC 8878, section 3.1.1),
// each of which has a window of content. It reports whether that is possible: the frame must have
// more blocks and a window size of its own.
func appendPrefix(dst, frame []byte, blocks int) (short []byte, ok bool) {
	var h zstd.Header
	if h.Decode(frame) != nil || h.SingleSegment || h.Skippable || h.DictionaryID != 0 || h.WindowSize < 1<<10 {
		return dst, false
	}
	descriptor := byte(bits.Len64(h.WindowSize-1)-10) << 3
	dst = append(dst, 0x28, 0xB5, 0x2F, 0xFD, 0, descriptor) // no length, no checksum
	for at := h.HeaderSize; at+blockHeader <= len(frame); {
		head := uint32(frame[at]) | uint32(frame[at+1])<<8 | uint32(frame[at+2])<<16
		last, size := head&1 != 0, int(head>>3)
		if head>>1&3 == 1 { // a repeated byte
			size = 1
		}
		end := at + blockHeader + size
		if last || end > len(frame) {
			return dst, false
		}
		start := len(dst)
		dst = append(dst, frame[at:end]...)
		if blocks--; blocks == 0 {
			dst[start] |= 1
			return dst, true
		}
		at = end
	}
	return dst, false
}

// blockHeader is the size of the header of a zstd block in bytes.
const blockHeader = 3

// Close releases the memory of the unpacker.
func (u Unpacker) Close() { u.zstd.Close() }

// Slice returns the text, given the content of its block or a prefix of it. The result shares its
// memory.
func (s Span) Slice(content string) (string, error) {
	if uint64(s.Start)+uint64(s.N) > uint64(len(content)) {
		return "", errSpan
	}
	return content[s.Start:][:s.N], nil
}
