package barrel

import (
	"encoding/binary"
	"fmt"
)

// A decoder decodes a section. It stores the first error; after it, it is at the end of the section
// and returns zeros.
type decoder struct {
	data []byte
	at   int
	err  error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("byte %d: %s", d.at, fmt.Sprintf(format, args...))
	}
	d.at = len(d.data)
}

func (d *decoder) more() bool { return d.at < len(d.data) }

func (d *decoder) uvarint() uint64 {
	if at := d.at; at+1 < len(d.data) { // most have one or two bytes
		low, high := d.data[at], d.data[at+1]
		if low < 0x80 {
			d.at = at + 1
			return uint64(low)
		}
		if high < 0x80 {
			d.at = at + 2
			return uint64(high)<<7 | uint64(low&0x7F)
		}
	}
	return d.longUvarint()
}

func (d *decoder) longUvarint() uint64 {
	v, n := binary.Uvarint(d.data[d.at:])
	if n <= 0 {
		d.fail("not a number")
		return 0
	}
	d.at += n
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.data[d.at:])
	if n <= 0 {
		d.fail("not a number")
		return 0
	}
	d.at += n
	return v
}

// number decodes a uvarint, which fails above max.
func (d *decoder) number(max uint64, what string) int {
	v := d.uvarint()
	if v > max {
		d.fail("%s is %d, the maximum is %d", what, v, max)
		return 0
	}
	return int(v)
}

func (d *decoder) byte() byte {
	if d.at >= len(d.data) {
		d.fail("cut short")
		return 0
	}
	d.at++
	return d.data[d.at-1]
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.data)-d.at {
		d.fail("cut short")
		return nil
	}
	d.at += n
	return d.data[d.at-n : d.at]
}

func (d *decoder) string() string {
	return string(d.bytes(d.number(uint64(len(d.data)), "length")))
}

func (d *decoder) uint64() uint64 {
	if b := d.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if b := d.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}
