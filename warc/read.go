package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a record.
const (
	DefaultMaxBlock = 64 << 20
	maxHeader       = 1 << 20 // bytes of a record's header
	maxDamages      = 1000    // after which the rest of a file is not read
)

// ReaderOptions are the options of a [Reader]. The zero value works.
type ReaderOptions struct {
	MaxBlock int64 // largest block that is returned, in bytes; default 64 MiB
}

// A DamageError reports a damaged record. Reading can continue.
type DamageError struct {
	Offset int64 // about where in the file the damage was found
	Err    error
}

func (e *DamageError) Error() string { return fmt.Sprintf("near byte %d: %v", e.Offset, e.Err) }

func (e *DamageError) Unwrap() error { return e.Err }

// A Reader reads the records of an archive in order.
type Reader struct {
	o       ReaderOptions
	source  *source
	in      *bufio.Reader // over source
	block   bytes.Buffer
	lost    bool // after damage: search for the start of a record
	damages int
	reread  int64 // bytes of ClueWeb09 that were put back
}

// NewReader returns a reader of the archive r.
func NewReader(r io.Reader, o ReaderOptions) *Reader {
	if o.MaxBlock <= 0 {
		o.MaxBlock = DefaultMaxBlock
	}
	s := &source{unpacker: newUnpacker(r)}
	return &Reader{o: o, source: s, in: bufio.NewReaderSize(s, 64<<10)}
}

// Offset returns the number of bytes of the file that were read.
func (r *Reader) Offset() int64 { return r.source.unpacker.offset() }

// Next returns the next record. The error is io.EOF at the end, and a *DamageError for a record
// that was skipped, after which the caller may call Next again. Any other error is final: the
// underlying reader failed, or a thousand records were damaged.
func (r *Reader) Next() (*Record, error) {
	rec, err := r.next()
	if err == nil || err == io.EOF {
		return rec, err
	}
	if failed := r.source.unpacker.failed; failed != nil {
		return nil, fmt.Errorf("warc: %w", failed)
	}
	r.lost = true
	if r.damages++; r.damages > maxDamages {
		return nil, fmt.Errorf("warc: near byte %d: more than %d damaged records; the rest is not read", r.Offset(), maxDamages)
	}
	return nil, &DamageError{r.Offset(), noEOF(err)}
}

// noEOF returns err, or another error if err is io.EOF: the end is within a record.
func noEOF(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("record is cut short")
	}
	return err
}

func (r *Reader) next() (*Record, error) {
	rec, err := r.start()
	if err != nil {
		return nil, err
	}
	if rec.Version != arcVersion {
		if err := r.header(rec); err != nil {
			return nil, noEOF(err)
		}
	}
	length, err := strconv.ParseUint(rec.Get("Content-Length"), 10, 62)
	if err != nil {
		return nil, fmt.Errorf("Content-Length %.40q is not a length", rec.Get("Content-Length"))
	}
	if int64(length) > r.o.MaxBlock {
		rec.Long = true
		return rec, r.skipBlock(rec.Version, int64(length))
	}
	r.block.Reset()
	_, err = io.CopyN(&r.block, r.in, int64(length))
	if err != nil && (rec.Version != cluewebVersion || err != io.EOF) {
		r.putBack()
		return nil, noEOF(err)
	}
	err = r.endOf(rec.Version)
	rec.Block = r.block.Bytes()
	return rec, err
}

const mark = "WARC/"

// start reads the first line of a record: the next line that is not empty or, after damage, the
// next one that begins a record. In an ARC file this line is the whole header.
func (r *Reader) start() (*Record, error) {
	for fresh := true; ; {
		line, err := r.in.ReadSlice('\n')
		begins := fresh
		fresh = err == nil
		text := strings.TrimSpace(string(line[:min(len(line), 64)]))
		if begins && err == nil && len(line) <= maxARCLine {
			if rec, ok := arcRecord(string(line)); ok {
				r.lost = false
				return rec, nil
			}
		}
		switch {
		case begins && strings.HasPrefix(text, mark):
			r.lost = false
			return &Record{Version: text[len(mark):]}, nil
		case err == bufio.ErrBufferFull, err == nil && (text == "" || r.lost):
		case err == nil:
			return nil, fmt.Errorf("%.20q where a record should begin", text)
		case err == io.EOF && (text == "" || r.lost):
			return nil, io.EOF
		case r.lost && r.source.unpacker.failed == nil && err != io.EOF: // damaged again
			fresh = true
		default:
			return nil, noEOF(err)
		}
	}
}

// header reads the fields up to the empty line. A line that begins with white space continues the
// previous one.
func (r *Reader) header(rec *Record) error {
	for size := 0; ; {
		line, err := r.in.ReadSlice('\n')
		if size += len(line); size > maxHeader || err == bufio.ErrBufferFull {
			return fmt.Errorf("header of more than %d bytes", min(size, maxHeader))
		}
		if err != nil {
			return err
		}
		text := strings.TrimSpace(string(line))
		name, value, ok := strings.Cut(text, ":")
		isBroken := rec.Version == cluewebVersion
		switch last := len(rec.Fields) - 1; {
		case text == "" && (!isBroken || rec.Get("Content-Length") != ""):
			return nil
		case text == "" && isBroken:
		case !ok && isBroken && last >= 0: // the URL has a line end in it
			rec.Fields[last].Value += text
		case (line[0] == ' ' || line[0] == '\t') && last >= 0:
			rec.Fields[last].Value += " " + text
		case !ok:
			return fmt.Errorf("header line %.40q has no colon", text)
		default:
			rec.Fields = append(rec.Fields, Field{strings.TrimSpace(name), strings.TrimSpace(value)})
		}
	}
}

// endOf reads the bytes between a block and the next record.
func (r *Reader) endOf(version string) error {
	switch version {
	case cluewebVersion:
		return r.endClueWeb()
	case arcVersion:
		return r.endARC()
	}
	return r.end()
}

// end reads the two empty lines after a block. If they are missing, the length was wrong.
func (r *Reader) end() error {
	after, err := r.in.Peek(4)
	switch {
	case string(after) == "\r\n\r\n", string(after) == "\n\nWA":
		_, err := r.in.ReadSlice('\n')
		return err
	case err == io.EOF && len(bytes.TrimSpace(after)) == 0:
		return nil
	}
	length := r.block.Len()
	r.putBack()
	return fmt.Errorf("Content-Length %d is not where the record ends", length)
}

// endARC reads the line end after a block. If it is missing, the length was wrong.
func (r *Reader) endARC() error {
	after, err := r.in.Peek(1)
	switch {
	case err != nil: // the end
		return nil
	case after[0] == '\r' || after[0] == '\n':
		return nil // start passes over empty lines
	}
	line, _ := r.in.Peek(min(r.in.Buffered(), maxARCLine))
	first, _, _ := strings.Cut(string(line), "\n")
	if _, ok := arcRecord(first); ok {
		return nil
	}
	return fmt.Errorf("length %d is not where the record ends", r.block.Len())
}

const maxARCLine = 16 << 10 // bytes

// endClueWeb is end for a record with a length that may be wrong: it ends the block where the next
// record begins, within the block or behind it. Bytes beyond the bound on blocks are dropped.
func (r *Reader) endClueWeb() error {
	after, err := r.in.Peek(4)
	if string(after) == "\r\n\r\n" || string(after) == "\n\nWA" {
		return r.end()
	}
	border, _ := r.in.Peek(len(betweenClueWeb) - 1)
	block := r.block.Bytes()
	if i := bytes.Index(slices.Concat(block, border), betweenClueWeb); i >= 0 && i < len(block) {
		if r.reread += int64(len(block) - i); r.reread > 8*r.Offset()+maxReread {
			return fmt.Errorf("Content-Length %d is not where the record ends", len(block))
		}
		r.unread(block[i+1:])
		r.block.Truncate(i)
	} else if err == nil {
		r.rest()
	}
	r.block.Truncate(len(bytes.TrimRight(r.block.Bytes(), "\r\n")))
	return nil
}

// rest adds the bytes before the next record, or before the end, to the block.
func (r *Reader) rest() {
	for {
		head, _ := r.in.Peek(len(betweenClueWeb) - 1)
		if bytes.Equal(head, betweenClueWeb[1:]) {
			return
		}
		line, err := r.in.ReadSlice('\n')
		if int64(r.block.Len()+len(line)) <= r.o.MaxBlock {
			r.block.Write(line)
		}
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
	}
}

// maxReread bounds, with the bytes of the file, the bytes that are read more than once.
const maxReread = 1 << 20

// between separates two records.
var between = []byte("\r\n\r\n" + mark)

// putBack unreads the block from the first record in it, if there is one: a length that was too
// large included it.
func (r *Reader) putBack() {
	block := r.block.Bytes()
	i := bytes.Index(block, between)
	if i < 0 {
		return
	}
	r.unread(block[i:])
}

// unread makes the reader continue with b.
func (r *Reader) unread(b []byte) {
	ahead, _ := r.in.Peek(r.in.Buffered())
	r.source.push(ahead)
	r.source.push(b)
	r.in.Reset(r.source)
}

// skipBlock skips a block that is too large. It stops at a record that begins in it: the length was
// wrong, as is usual in ClueWeb09. In an ARC file nothing marks the beginning of a record.
func (r *Reader) skipBlock(version string, length int64) error {
	border := between
	if version == cluewebVersion {
		border = betweenClueWeb
	}
	over := len(border) - 1 // a border may cross the end of a piece
	for left := length; left > 0; {
		piece, err := r.in.Peek(int(min(left+int64(over), 32<<10)))
		i := bytes.Index(piece, border)
		switch {
		case version == arcVersion || i < 0 || int64(i) >= left:
		case version == cluewebVersion:
			_, err := r.in.Discard(i + 1)
			return err
		default:
			r.in.Discard(i)
			return fmt.Errorf("Content-Length %d is not where the record ends", length)
		}
		n := int64(len(piece) - over)
		if err != nil {
			n = int64(len(piece))
		}
		r.in.Discard(int(min(n, left)))
		if left -= n; err != nil && left > 0 {
			if err == io.EOF && version == cluewebVersion {
				return nil
			}
			return noEOF(err)
		}
	}
	r.block.Reset()
	return r.endOf(version)
}

// A source reads the bytes that were put back, and then the archive.
type source struct {
	ahead    [][]byte // a stack, none of them empty
	unpacker *unpacker
}

// maxAhead bounds one read of what was unread, in bytes: the reader's buffer is unread together with
// a block, and most records are shorter than the buffer.
const maxAhead = 4 << 10

func (s *source) push(b []byte) {
	if len(b) > 0 {
		s.ahead = append(s.ahead, bytes.Clone(b))
	}
}

func (s *source) Read(p []byte) (int, error) {
	last := len(s.ahead) - 1
	if last < 0 {
		return s.unpacker.Read(p)
	}
	n := copy(p[:min(len(p), maxAhead)], s.ahead[last])
	if s.ahead[last] = s.ahead[last][n:]; len(s.ahead[last]) == 0 {
		s.ahead[last] = nil
		s.ahead = s.ahead[:last]
	}
	return n, nil
}
