package fleet

import (
	"encoding/binary"
	"errors"
	"time"
)

// An encoder appends fields to a message. Numbers are uvarints; a string is its length followed by
// its bytes.
type encoder struct{ b []byte }

func (e *encoder) uint(n uint64)            { e.b = binary.AppendUvarint(e.b, n) }
func (e *encoder) duration(d time.Duration) { e.uint(uint64(max(d, 0))) }

func (e *encoder) bool(v bool) {
	if v {
		e.uint(1)
		return
	}
	e.uint(0)
}

func (e *encoder) string(s string) {
	e.uint(uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) strings(all []string) {
	e.uint(uint64(len(all)))
	for _, s := range all {
		e.string(s)
	}
}

// time appends seconds since 1970. Earlier times, and the zero time, are 0.
func (e *encoder) time(t time.Time) { e.uint(uint64(max(t.Unix(), 0))) }

var errMalformed = errors.New("malformed message")

// A decoder reads the output of an encoder. After an error it returns zero values, so callers check
// err once.
type decoder struct {
	b     []byte
	items int // list items that may still follow: an item is many times larger in memory
	err   error
}

func (d *decoder) fail() {
	d.b, d.err = nil, errMalformed
}

// uint decodes a number of at most most.
func (d *decoder) uint(most uint64) uint64 {
	n, size := binary.Uvarint(d.b)
	if size <= 0 || n > most {
		d.fail()
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *decoder) bool() bool { return d.uint(1) == 1 }

func (d *decoder) duration(most time.Duration) time.Duration {
	return time.Duration(d.uint(uint64(most)))
}

// bytes decodes at most most bytes, which share memory with the message.
func (d *decoder) bytes(most int) []byte {
	n := d.uint(uint64(min(most, len(d.b))))
	if n > uint64(len(d.b)) { // the length was decoded from d.b
		d.fail()
		return nil
	}
	field := d.b[:n:n]
	d.b = d.b[n:]
	return field
}

func (d *decoder) string(most int) string { return string(d.bytes(most)) }

// count decodes the number of items that follow, at most most, each of at least one byte.
func (d *decoder) count(most int) int {
	n := int(d.uint(uint64(min(most, len(d.b)))))
	if d.items -= n; d.items < 0 {
		d.fail()
		return 0
	}
	return n
}

func (d *decoder) strings(most, length int) (all []string) {
	n := d.count(most)
	for range n {
		all = append(all, d.string(length))
	}
	if d.err != nil {
		return nil
	}
	return all
}

// maxTime is the last second of the year 9999.
const maxTime = 253402300799

func (d *decoder) time() time.Time {
	if n := d.uint(maxTime); n > 0 {
		return time.Unix(int64(n), 0).UTC()
	}
	return time.Time{}
}

// end returns the error. Remaining bytes are an error, too.
func (d *decoder) end() error {
	if d.err == nil && len(d.b) > 0 {
		d.fail()
	}
	return d.err
}
