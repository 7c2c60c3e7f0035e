package crawler

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

	"anatomy/vocab"
)

const (
	maxCodings = 3        // content codings one over the other
	maxRatio   = 200      // unpacked to packed; real pages stay under 60
	ratioFrom  = 1 << 20  // bytes unpacked before the ratio counts
	maxWindow  = 8 << 20  // of zstd (RFC 9659)
	keepBuffer = 1 << 20  // larger buffers are not kept for the next body
	headBytes  = 512      // what a type is told by (mimesniff §7)
	firstBuf   = 64 << 10 // of a body of unknown length
)

// A largeError is a body over its bound.
type largeError struct{ reason string }

func (e *largeError) Error() string { return e.reason }

// An unsupportedError is a body that we cannot or do not want to read.
type unsupportedError struct{ reason string }

func (e *unsupportedError) Error() string { return e.reason }

// A body reads a response with its content coding undone and its bounds kept.
type body struct {
	c      *Crawler
	g      *guard
	raw    io.Reader
	out    io.Reader // over raw, or raw itself
	packed bool
	in, n  int64 // bytes read so far, on the wire and unpacked
	max    int64 // of n
	failed error // of the wire or of a bound, as opposed to what is in the body
	give   []func()
}

// unpack prepares the body of a response for reading. What Content-Length says about it is enough
// to refuse it.
func (c *Crawler) unpack(resp *http.Response, g *guard, max int64) (*body, error) {
	b := &body{c: c, g: g, raw: resp.Body, max: max}
	if resp.ContentLength > max {
		return nil, b.tooLarge()
	}
	b.out = wire{b}
	var codings []string
	for coding := range strings.SplitSeq(strings.Join(resp.Header.Values("Content-Encoding"), ","), ",") {
		if coding = strings.ToLower(strings.TrimSpace(coding)); coding != "" && coding != "identity" {
			codings = append(codings, coding)
		}
	}
	if len(codings) > maxCodings {
		return nil, &unsupportedError{fmt.Sprintf("%d content codings", len(codings))}
	}
	for i := len(codings) - 1; i >= 0; i-- { // the last one applied comes off first
		if err := b.undo(codings[i]); err != nil {
			b.release()
			return nil, err
		}
	}
	return b, nil
}

func (b *body) tooLarge() error {
	b.failed = &largeError{fmt.Sprintf("body larger than %d bytes", b.max)}
	return b.failed
}

// A wire reads the body as it comes.
type wire struct{ b *body }

func (w wire) Read(p []byte) (int, error) {
	n, err := w.b.raw.Read(p)
	w.b.in += int64(n)
	w.b.g.received(int64(n))
	w.b.c.count.bytes.Add(uint64(n))
	if err != nil && err != io.EOF {
		w.b.failed = err
	}
	return n, err
}

// Read reads unpacked bytes until a bound is reached.
func (b *body) Read(p []byte) (int, error) {
	if b.failed != nil {
		return 0, b.failed
	}
	n, err := b.out.Read(p)
	b.n += int64(n)
	switch {
	case b.n > b.max:
		return 0, b.tooLarge()
	case b.packed && b.n > ratioFrom && b.n > maxRatio*b.in:
		b.failed = &largeError{fmt.Sprintf("unpacks to more than %d times its size", maxRatio)}
		return 0, b.failed
	case b.failed != nil: // the decoder may have called it something else
		return n, b.failed
	case err != nil && errors.Is(err, gzip.ErrHeader) && b.n > 0:
		return n, io.EOF // junk after the last gzip member
	case err != nil && err != io.EOF:
		return n, fmt.Errorf("unpack body: %w", err)
	}
	return n, err
}

// release gives decoders back for the next body.
func (b *body) release() {
	for _, give := range b.give {
		give()
	}
	b.c.count.unpacked.Add(uint64(b.n))
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, firstBuf); return &b }}

// readAll reads the whole body into memory of its own, which the receiver may keep. look sees the
// first bytes and may refuse them before more is read.
func (b *body) readAll(look func(head []byte) error) ([]byte, error) {
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
		if !looked && (len(buf) >= headBytes || err == io.EOF) {
			looked = true
			if refused := look(buf[:min(len(buf), headBytes)]); refused != nil {
				return nil, refused
			}
		}
		if err == io.EOF {
			return append(make([]byte, 0, len(buf)), buf...), nil
		}
		if err != nil {
			return nil, err
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

// undo puts the decoder of one coding over what is there.
func (b *body) undo(coding string) error {
	b.packed = true
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
		b.give = append(b.give, func() { brotlis.Put(r) })
		return nil
	case "zstd":
		return b.undoZstd()
	}
	return &unsupportedError{fmt.Sprintf("content coding %.40q", coding)}
}

// undoGzip allows for servers that say gzip and send the plain page.
func (b *body) undoGzip() error {
	head, err := b.peek(2)
	if err != nil || !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return err
	}
	r, _ := gzips.Get().(*gzip.Reader)
	if r == nil {
		r = new(gzip.Reader)
	}
	if err := r.Reset(b.out); err != nil {
		return b.trouble(err)
	}
	b.out = r
	b.give = append(b.give, func() { gzips.Put(r) })
	return nil
}

// undoDeflate takes both readings of the word: with zlib's header, as the standard wants it, and
// without (RFC 9110 §8.4.1.2).
func (b *body) undoDeflate() error {
	head, err := b.peek(2)
	if err != nil || len(head) < 2 {
		return err
	}
	if head[0]&15 == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		r, err := zlib.NewReader(b.out)
		if err != nil {
			return b.trouble(err)
		}
		b.out = r
		return nil
	}
	b.out = flate.NewReader(b.out)
	return nil
}

func (b *body) undoZstd() error {
	r, _ := zstds.Get().(*zstd.Decoder)
	if r == nil {
		var err error
		r, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return err
		}
	}
	if err := r.Reset(b.out); err != nil {
		return b.trouble(err)
	}
	b.out = r
	b.give = append(b.give, func() {
		_ = r.Reset(nil) // lets go of the body
		zstds.Put(r)
	})
	return nil
}

// peek reads the first bytes and puts them back.
func (b *body) peek(n int) ([]byte, error) {
	head := make([]byte, n)
	got, err := io.ReadFull(b.out, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, b.trouble(err)
	}
	b.out = io.MultiReader(bytes.NewReader(head[:got]), b.out)
	return head[:got], nil
}

// trouble prefers what the wire said to what a decoder made of it.
func (b *body) trouble(err error) error {
	if b.failed != nil {
		return b.failed
	}
	return fmt.Errorf("unpack body: %w", err)
}

// indexed says whether we index a media type; one that is not stated has to be told by its bytes.
func indexed(contentType string) bool {
	return strings.TrimSpace(contentType) == "" || vocab.MediumOf(contentType) != vocab.Unread
}

// binary refuses a body whose first bytes are neither text nor PDF, whatever it was sent as.
func binary(head []byte, contentType string) error {
	told := http.DetectContentType(head)
	pdf := vocab.IsPDF(head)
	switch {
	case pdf && (contentType == "" || vocab.MediumOf(contentType) == vocab.PDF):
		return nil
	case vocab.MediumOf(contentType) == vocab.PDF:
	case strings.HasPrefix(told, "text/") || bytes.IndexFunc(head, control) < 0 && !pdf:
		return nil // "BM" begins a bitmap, and texts about cars
	}
	if lower := strings.ToLower(contentType); strings.Contains(lower, "utf-16") || strings.Contains(lower, "utf-32") {
		return nil // text with zero bytes in it
	}
	if contentType == "" {
		return &unsupportedError{"no media type, looks like " + told}
	}
	return &unsupportedError{fmt.Sprintf("sent as %.100q, is %s", contentType, told)}
}

// control says whether a character stands in no text (mimesniff §3, binary data bytes).
func control(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\f' && r != '\r' && r != 0x1B
}

// sniffed is the media type of a body that came without one.
func sniffed(body []byte) string {
	media, _, _ := strings.Cut(http.DetectContentType(body), ";") // its charset is a guess
	return media
}
