// Package texts packs the texts of documents, from which snippets are cut, into blocks of their own. Forward
// barrels and segments hold them in the same form, so that a text is compressed once, in its batch, and every
// merge after it copies the block as it is.
//
// # Format
//
// A block is a zstd frame, without checksum, since the files that hold it have theirs. Its content is texts, one
// after the other, nothing between them. Where a text stands says its [Place], and how long the content of a block is
// the directory of the file: of texts alone, 32 KB or a little more, but for the last block of a file, which is
// shorter, and for one whose last text is long.
//
// To show one text its block is decompressed, or as much of it as it needs: 50 KB of those that answers show, which are
// longer than most, in 39 µs, at .228 of the size of the texts of 278,000 pages of documentation. In blocks of 64 KB it is
// 81 KB, 55 µs and .215; in blocks of 16 KB at zstd's better level, which takes twice the time to pack, 36 KB, 29 µs and .233.
package texts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"unsafe"

	"github.com/klauspost/compress/zstd"
)

// A Place is where a text stands: N bytes from Start on in the content of a block, both numbered from 0. A text of
// no bytes has the Place{}, whatever blocks there are.
type Place struct{ Block, Start, N uint32 }

const (
	// blockSize closes a block.
	blockSize = 32 << 10

	// window is how far back zstd looks, and how much it compresses, and decompresses, at a time.
	window = 2 * blockSize

	// MaxBlock bounds the content of a block: what is longer is damaged.
	MaxBlock = 64 << 20
)

// Worth says whether a block of so many bytes of content, live ones of them still in use, is worth to be copied as
// it is: where it is short or a quarter of it is of no use, its texts are packed anew.
func Worth(raw, live uint64) bool { return raw >= blockSize/2 && live >= raw-raw/4 }

// A Packer gathers texts into blocks. It is for one goroutine.
type Packer struct {
	raw   []byte
	frame []byte
	zstd  *zstd.Encoder
}

// NewPacker makes a packer.
func NewPacker() (*Packer, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(false), zstd.WithWindowSize(window))
	if err != nil {
		return nil, fmt.Errorf("texts: zstd: %w", err)
	}
	return &Packer{zstd: z}, nil
}

// Add puts a text into the block in hand, and tells where in its content it begins.
func (p *Packer) Add(text string) (start uint32) {
	start = uint32(len(p.raw))
	p.raw = append(p.raw, text...)
	return start
}

// Full says that the block in hand is to be taken before the next text, Empty that it holds none.
func (p *Packer) Full() bool { return len(p.raw) >= blockSize }

// Empty says that the block in hand holds no text.
func (p *Packer) Empty() bool { return len(p.raw) == 0 }

// Take compresses the block in hand, and begins the next. The frame is valid until the next call.
func (p *Packer) Take() (frame []byte, raw int) {
	p.frame = p.zstd.EncodeAll(p.raw, p.frame[:0])
	raw = len(p.raw)
	p.raw = p.raw[:0]
	return p.frame, raw
}

// Close frees the packer.
func (p *Packer) Close() { p.zstd.Close() }

// The ways in which texts can be damaged.
var (
	errBlock = errors.New("block of texts is damaged")
	errPlace = errors.New("a text lies outside of its block")
)

// An Unpacker decompresses blocks. It may be used by many goroutines.
type Unpacker struct {
	zstd  *zstd.Decoder
	heads *sync.Pool // of *zstd.Decoder, for beginnings
}

// NewUnpacker makes an unpacker.
func NewUnpacker() (Unpacker, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(MaxBlock))
	if err != nil {
		return Unpacker{}, fmt.Errorf("texts: zstd: %w", err)
	}
	return Unpacker{z, &sync.Pool{}}, nil
}

// Unpack gives the content of a block, raw bytes of it, in memory of its own.
func (u Unpacker) Unpack(frame []byte, raw int) (string, error) {
	content, err := u.all(nil, frame, raw)
	return unsafe.String(unsafe.SliceData(content), len(content)), err // nobody writes to content again
}

// zstdRoom is what zstd wants to have behind the content, so that it may copy in large steps.
const zstdRoom = 64

// all is Unpack in the memory of dst, where there is room.
func (u Unpacker) all(dst, frame []byte, raw int) ([]byte, error) {
	if raw < 0 || raw > MaxBlock {
		return nil, errBlock
	}
	// The length is believed up to a bound; what is really longer grows as it comes.
	content, err := u.zstd.DecodeAll(frame, slices.Grow(dst[:0], min(raw, 1<<20)+zstdRoom))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBlock, err)
	}
	if len(content) != raw {
		return nil, errBlock
	}
	return content, nil
}

// Head gives the beginning of the content of a block, n bytes at least, where it is much longer than that: the rest of
// a long text is not decompressed for its neighbours, nor for a snippet. Otherwise it gives all. It is in the memory
// of dst where there is room.
func (u Unpacker) Head(dst, frame []byte, raw, n int) ([]byte, error) {
	n = (n + window - 1) / window * window
	if n > raw/2 {
		return u.all(dst, frame, raw)
	}
	z, ok := u.heads.Get().(*zstd.Decoder)
	if !ok {
		var err error
		if z, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(MaxBlock)); err != nil {
			return nil, fmt.Errorf("texts: zstd: %w", err)
		}
	}
	defer u.heads.Put(z)
	content := slices.Grow(dst[:0], n)[:n]
	if err := z.Reset(bytes.NewReader(frame)); err != nil {
		return nil, fmt.Errorf("%w: %w", errBlock, err)
	}
	if _, err := io.ReadFull(z, content); err != nil {
		return nil, fmt.Errorf("%w: %w", errBlock, err)
	}
	return content, nil
}

// Close frees the unpacker.
func (u Unpacker) Close() { u.zstd.Close() }

// In gives the text at a place of the content of its block, or of its beginning, whose memory it shares.
func (p Place) In(content string) (string, error) {
	if uint64(p.Start)+uint64(p.N) > uint64(len(content)) {
		return "", errPlace
	}
	return content[p.Start:][:p.N], nil
}
