// Package decode decodes the fields of values in segments from byte slices.
package decode

import (
	"encoding/binary"
	"errors"
)

// ErrShort is the error for a value that ends before its last field.
var ErrShort = errors.New("the value is too short")

// A Reader decodes fields from the start of Src, which it advances. It stores the first error;
// after it Src is empty and all fields are zero.
type Reader struct {
	Src []byte
	Err error
}

func (d *Reader) fail() { d.Src, d.Err = nil, ErrShort }

// Byte decodes one byte.
func (d *Reader) Byte() byte {
	if len(d.Src) == 0 {
		d.fail()
		return 0
	}
	b := d.Src[0]
	d.Src = d.Src[1:]
	return b
}

// Uvarint decodes a varint.
func (d *Reader) Uvarint() uint64 {
	v, size := binary.Uvarint(d.Src)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.Src = d.Src[size:]
	return v
}

// Bytes returns the next n bytes, which share memory with Src.
func (d *Reader) Bytes(n int) []byte {
	if n < 0 || n > len(d.Src) {
		d.fail()
		return nil
	}
	b := d.Src[:n]
	d.Src = d.Src[n:]
	return b
}

// Uint32 decodes 4 bytes, little-endian.
func (d *Reader) Uint32() uint32 {
	if b := d.Bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// Uint64 decodes 8 bytes, little-endian.
func (d *Reader) Uint64() uint64 {
	if b := d.Bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Text returns a byte string preceded by its length, a varint. It shares memory with Src.
func (d *Reader) Text() []byte {
	n := d.Uvarint()
	if n > uint64(len(d.Src)) {
		d.fail()
		return nil
	}
	return d.Bytes(int(n))
}
