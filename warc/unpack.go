package warc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

const (
	zstdMagic     = 0xFD2FB528
	lz4Magic      = 0x184D2204
	dictionary    = 0x184D2A5D // skippable frame at the start of a file, with the dictionary for all others
	maxDictionary = 16 << 20
	maxWindow     = 128 << 20 // what the zstd tool accepts
)

// An unpacker decompresses an archive, if it is compressed. After an error in the compressed data
// it continues with the next member that it finds.
type unpacker struct {
	under  *counter
	raw    *bufio.Reader
	member io.Reader // decompresses a member of raw; nil between members
	gzip   gzip.Reader
	zstd   *zstd.Decoder
	lz4    *lz4.Reader
	packed bool  // there was a member: bytes outside members are damage
	failed error // final error of the underlying reader
}

// A counter counts the bytes read and keeps an error of the underlying reader.
type counter struct {
	r io.Reader
	n int64
	u *unpacker
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.u.failed = err
	}
	return n, err
}

func newUnpacker(r io.Reader) *unpacker {
	u := &unpacker{lz4: lz4.NewReader(nil)}
	u.under = &counter{r: r, u: u}
	u.raw = bufio.NewReaderSize(u.under, 64<<10)
	return u
}

func (u *unpacker) offset() int64 { return u.under.n - int64(u.raw.Buffered()) }

func (u *unpacker) Read(p []byte) (int, error) {
	for {
		if u.failed != nil {
			return 0, u.failed
		}
		if u.member == nil {
			if err := u.begin(); err != nil {
				return 0, err
			}
		}
		n, err := u.member.Read(p)
		if err == nil || u.member == io.Reader(u.raw) {
			return n, err
		}
		u.member = nil
		if err != io.EOF {
			u.seek()
			return n, damaged(err)
		}
		if n > 0 {
			return n, nil
		}
	}
}

func damaged(err error) error {
	if err == io.ErrUnexpectedEOF {
		return errors.New("compressed data are cut short")
	}
	return fmt.Errorf("compressed data are damaged: %w", err)
}

// begin starts the next member.
func (u *unpacker) begin() error {
	head, err := u.raw.Peek(4)
	switch {
	case len(head) == 0:
		return err
	case isGzip(head):
		u.packed = true
		if err := u.gzip.Reset(u.raw); err != nil {
			u.seek()
			return damaged(noEnd(err))
		}
		u.gzip.Multistream(false)
		u.member = &u.gzip
	case isLZ4(head):
		u.packed = true
		u.lz4.Reset(u.raw)
		u.member = u.lz4
	case isZstd(head):
		u.packed = true
		return u.beginZstd(binary.LittleEndian.Uint32(head) == dictionary)
	case u.packed || !isText(head):
		u.packed = true
		u.seek()
		return errors.New("no compressed data where a record should begin")
	default:
		u.member = u.raw
	}
	return nil
}

func noEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func isGzip(b []byte) bool {
	return len(b) >= 4 && b[0] == 0x1f && b[1] == 0x8b && b[2] == 8 && b[3]&0xe0 == 0
}

// isText reports whether an uncompressed archive may begin with these bytes.
func isText(b []byte) bool {
	for _, c := range b {
		if c < '\t' || c > '~' {
			return false
		}
	}
	return true
}

// isLZ4 reports whether b begins like an LZ4 frame.
func isLZ4(b []byte) bool { return len(b) >= 4 && binary.LittleEndian.Uint32(b) == lz4Magic }

func isZstd(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	magic := binary.LittleEndian.Uint32(b)
	return magic == zstdMagic || magic == dictionary
}

// beginZstd decodes all frames from here on as one member.
func (u *unpacker) beginZstd(withDictionary bool) error {
	options := []zstd.DOption{
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow),
	}
	if withDictionary {
		d, err := u.readDictionary()
		if err != nil {
			u.seek()
			return damaged(noEnd(err))
		}
		options = append(options, zstd.WithDecoderDicts(d))
	}
	if u.zstd == nil || withDictionary {
		d, err := zstd.NewReader(nil, options...)
		if err != nil {
			return damaged(err)
		}
		u.zstd = d
	}
	if err := u.zstd.Reset(u.raw); err != nil {
		u.seek()
		return damaged(noEnd(err))
	}
	u.member = u.zstd
	return nil
}

// readDictionary reads the frame of the dictionary, which may be compressed itself.
func (u *unpacker) readDictionary() ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(u.raw, head[:]); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if size > maxDictionary {
		return nil, fmt.Errorf("dictionary of %d bytes", size)
	}
	var d bytes.Buffer
	if _, err := io.CopyN(&d, u.raw, int64(size)); err != nil {
		return nil, err
	}
	if !isZstd(d.Bytes()) {
		return d.Bytes(), nil
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDictionary))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	return dec.DecodeAll(d.Bytes(), nil)
}

// seek discards at least one byte, up to a possible start of a member.
func (u *unpacker) seek() {
	for {
		if _, err := u.raw.Discard(1); err != nil {
			return
		}
		head, _ := u.raw.Peek(4)
		if len(head) < 4 || isGzip(head) || isLZ4(head) || isZstd(head) && binary.LittleEndian.Uint32(head) == zstdMagic {
			return
		}
	}
}
