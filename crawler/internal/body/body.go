// Package body reads the bodies of HTTP responses: it undoes content codings, and bounds the size,
// the number of codings and the ratio of decoded to encoded bytes.
package body

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	maxCodings  = 3        // content codings of one body
	maxRatio    = 200      // decoded to encoded bytes
	pageRatio   = 60       // real pages stay under it
	ratioFrom   = 1 << 20  // decoded bytes before the ratio counts
	maxWindow   = 8 << 20  // of zstd (RFC 9659)
	keepBuffer  = 1 << 20  // larger buffers are not reused
	firstBuffer = 64 << 10 // of a body of unknown length

	// HeadBytes is the length of the head that shows the type of a body (mimesniff §7).
	HeadBytes = 512
)

// A TooLargeError is the error of a body over its bound.
type TooLargeError struct {
	reason string
	Bomb   bool // it unpacks to far more than was sent, so that no part of it is used
}

func (e *TooLargeError) Error() string { return e.reason }

// An UnsupportedError is the error of a body that cannot be read, or is useless.
type UnsupportedError struct{ Reason string }

func (e *UnsupportedError) Error() string { return e.Reason }

// A Reader reads a decoded body.
type Reader struct {
	raw      io.Reader
	received func(int64)
	out      io.Reader // the last decoder
	encoded  bool
	in, n    int64 // bytes read so far, on the wire and decoded
	max      int64 // of n
	err      error // of the wire or of a bound, as opposed to that of a decoder
	release  []func()
}

// New returns a reader of at most max decoded bytes of a response. received is called with the
// bytes that come over the wire. The caller has to call Release.
func New(resp *http.Response, max int64, received func(int64)) (*Reader, error) {
	b := &Reader{raw: resp.Body, max: max, received: received}
	b.out = wire{b}
	var codings []string
	stated := strings.Join(resp.Header.Values("Content-Encoding"), ",")
	for coding := range strings.SplitSeq(stated, ",") {
		if coding = strings.ToLower(strings.TrimSpace(coding)); coding != "" && coding != "identity" {
			codings = append(codings, coding)
		}
	}
	if len(codings) > maxCodings {
		return nil, &UnsupportedError{fmt.Sprintf("%d content codings", len(codings))}
	}
	for i := len(codings) - 1; i >= 0; i-- { // the last one applied comes off first
		if err := b.undo(codings[i]); err != nil {
			b.Release()
			return nil, err
		}
	}
	return b, nil
}

// TooLarge returns the error of a body of more than max bytes.
func TooLarge(max int64) error {
	return &TooLargeError{reason: largerThan(max)}
}

func largerThan(max int64) string { return fmt.Sprintf("body larger than %d bytes", max) }

// A wire reads the body as it comes.
type wire struct{ b *Reader }

func (w wire) Read(p []byte) (int, error) {
	n, err := w.b.raw.Read(p)
	w.b.in += int64(n)
	w.b.received(int64(n))
	if err != nil && err != io.EOF {
		w.b.err = err
	}
	return n, err
}

// Read reads decoded bytes until a bound is reached. All bytes that it returns, with or without an
// error, are bytes of the body in order.
func (b *Reader) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.out.Read(p)
	b.n += int64(n)
	switch {
	case b.encoded && b.n > ratioFrom && b.n > maxRatio*b.in:
		reason := fmt.Sprintf("unpacks to more than %d times its size", maxRatio)
		b.err = &TooLargeError{reason: reason, Bomb: true}
		return 0, b.err
	case b.n > b.max:
		n -= int(b.n - b.max)
		bomb := b.encoded && b.n > pageRatio*b.in
		b.n, b.err = b.max, &TooLargeError{reason: largerThan(b.max), Bomb: bomb}
		return n, b.err
	case b.err != nil: // a decoder may have returned another error
		return n, b.err
	case err != nil && errors.Is(err, gzip.ErrHeader) && b.n > 0:
		return n, io.EOF // junk after the last gzip member
	case err != nil && err != io.EOF:
		return n, fmt.Errorf("unpack body: %w", err)
	}
	return n, err
}

// Release returns the decoders to their pools.
func (b *Reader) Release() {
	for _, release := range b.release {
		release()
	}
}

// Decoded returns the number of decoded bytes read.
func (b *Reader) Decoded() int64 { return b.n }

// Err returns the error of the network or of a bound, or nil.
func (b *Reader) Err() error { return b.err }

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, firstBuffer); return &b }}

// ReadAll reads the entire body into new memory. look gets the first HeadBytes, and may refuse the
// body before more is read. After other errors ReadAll returns what it read before.
func (b *Reader) ReadAll(look func(head []byte) error) ([]byte, error) {
	kept := buffers.Get().(*[]byte)
	buf := (*kept)[:0]
	defer func() {
		if *kept = buf; cap(buf) <= keepBuffer {
			buffers.Put(kept)
		}
	}()
	looked := false
	for {
		n, err := b.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if !looked && (len(buf) >= HeadBytes || err == io.EOF || err != nil && len(buf) > 0) {
			looked = true
			if refused := look(buf[:min(len(buf), HeadBytes)]); refused != nil {
				return nil, refused
			}
		}
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return append(make([]byte, 0, len(buf)), buf...), err
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
}

var (
	gzips   sync.Pool // of *gzip.Reader
	brotlis sync.Pool // of *brotli.Reader
	zstds   sync.Pool // of *zstd.Decoder
)

// undo adds the decoder of one coding.
func (b *Reader) undo(coding string) error {
	b.encoded = true
	switch coding {
	case "gzip", "x-gzip":
		return b.undoGzip()
	case "deflate":
		return b.undoDeflate()
	case "br":
		r, _ := brotlis.Get().(*brotli.Reader)
		if r == nil {
			r = brotli.NewReader(nil)
		}
		if err := r.Reset(b.out); err != nil {
			return err
		}
		b.out = r
		b.release = append(b.release, func() { brotlis.Put(r) })
		return nil
	case "zstd":
		return b.undoZstd()
	}
	return &UnsupportedError{fmt.Sprintf("content coding %.40q", coding)}
}

// undoGzip tolerates servers that state gzip and send the plain page.
func (b *Reader) undoGzip() error {
	head, err := b.peek(2)
	if err != nil || !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return err
	}
	r, _ := gzips.Get().(*gzip.Reader)
	if r == nil {
		r = new(gzip.Reader)
	}
	if err := r.Reset(b.out); err != nil {
		return b.failure(err)
	}
	b.out = r
	b.release = append(b.release, func() { gzips.Put(r) })
	return nil
}

// undoDeflate accepts both forms in use: with a zlib header, as RFC 9110 §8.4.1.2 requires, and
// without.
func (b *Reader) undoDeflate() error {
	head, err := b.peek(2)
	if err != nil || len(head) < 2 {
		return err
	}
	if head[0]&15 == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		r, err := zlib.NewReader(b.out)
		if err != nil {
			return b.failure(err)
		}
		b.out = r
		return nil
	}
	b.out = flate.NewReader(b.out)
	return nil
}

func (b *Reader) undoZstd() error {
	r, _ := zstds.Get().(*zstd.Decoder)
	if r == nil {
		var err error
		r, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return err
		}
	}
	if err := r.Reset(b.out); err != nil {
		return b.failure(err)
	}
	b.out = r
	b.release = append(b.release, func() {
		_ = r.Reset(nil) // drops the reference to the body
		zstds.Put(r)
	})
	return nil
}

// peek returns the first bytes without consuming them.
func (b *Reader) peek(n int) ([]byte, error) {
	head := make([]byte, n)
	got, err := io.ReadFull(b.out, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, b.failure(err)
	}
	b.out = io.MultiReader(bytes.NewReader(head[:got]), b.out)
	return head[:got], nil
}

// failure returns the error of the wire, if any, instead of that of a decoder.
func (b *Reader) failure(err error) error {
	if b.err != nil {
		return b.err
	}
	return fmt.Errorf("unpack body: %w", err)
}
