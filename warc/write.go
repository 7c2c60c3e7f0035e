package warc

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A Compression is the compression of records. Each record is a separate member, so that it can be
// read without the others.
type Compression int

// The compressions.
const (
	Plain Compression = iota
	Gzip
	Zstd
)

// A Writer writes records of version 1.1.
type Writer struct {
	w    io.Writer
	how  Compression
	gzip *gzip.Writer
	zstd *zstd.Encoder
	buf  bytes.Buffer
	out  []byte
	end  int64 // bytes written
}

// Offset returns the number of bytes written: where the next record begins.
func (w *Writer) Offset() int64 { return w.end }

// NewWriter returns a writer to w.
func NewWriter(w io.Writer, how Compression) (*Writer, error) {
	out := &Writer{w: w, how: how}
	var err error
	switch how {
	case Gzip:
		out.gzip = gzip.NewWriter(nil)
	case Zstd:
		level := zstd.WithEncoderLevel(zstd.SpeedBetterCompression)
		out.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), level)
	}
	return out, err
}

// Write writes one record of a type and returns its ID. It adds the ID, the length, and the digest
// of the block. Records with the same type, fields and block have the same ID.
func (w *Writer) Write(kind string, at time.Time, fields []Field, block []byte) (id string, err error) {
	digest := Digest(block)
	id = recordID(kind, at, fields, digest)
	head := append([]Field{{"WARC-Type", kind}, {"WARC-Record-ID", id}, {"WARC-Date", at.UTC().Format(time.RFC3339)}}, fields...)
	head = append(head, Field{"WARC-Block-Digest", digest}, Field{"Content-Length", fmt.Sprint(len(block))})
	w.buf.Reset()
	w.buf.WriteString(mark + "1.1\r\n")
	for _, f := range head {
		w.buf.WriteString(f.Name + ": " + oneLine.Replace(f.Value) + "\r\n")
	}
	w.buf.WriteString("\r\n")
	w.buf.Write(block)
	w.buf.WriteString("\r\n\r\n")
	if err := w.member(w.buf.Bytes()); err != nil {
		return "", fmt.Errorf("warc: write: %w", err)
	}
	return id, nil
}

var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

func (w *Writer) member(b []byte) (err error) {
	switch w.how {
	case Gzip:
		w.gzip.Reset(countingWriter{w})
		if _, err = w.gzip.Write(b); err == nil {
			err = w.gzip.Close()
		}
		return err
	case Zstd:
		w.out = w.zstd.EncodeAll(b, w.out[:0])
		b = w.out
	}
	_, err = countingWriter{w}.Write(b)
	return err
}

// A countingWriter writes to the archive and counts.
type countingWriter struct{ *Writer }

func (c countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.end += int64(n)
	return n, err
}

// recordID returns a UUID in the form of version 5, so that the same pages make the same archive.
func recordID(kind string, at time.Time, fields []Field, digest string) string {
	h := sha1.New()
	fmt.Fprint(h, kind, "\n", at.Unix(), "\n", fields, "\n", digest)
	u := h.Sum(nil)[:16]
	u[6], u[8] = u[6]&0x0f|0x50, u[8]&0x3f|0x80
	return fmt.Sprintf("<urn:uuid:%x-%x-%x-%x-%x>", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// FieldsBlock returns the block of a record of the media type application/warc-fields.
func FieldsBlock(fields ...Field) []byte {
	var b bytes.Buffer
	for _, f := range fields {
		b.WriteString(f.Name + ": " + oneLine.Replace(f.Value) + "\r\n")
	}
	return b.Bytes()
}
