package bvgraph

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

var errTooLong = errors.New("a code is longer than 64 bits")

// A bitReader reads codes, the highest bit of a byte first. Its error is sticky: after it all numbers
// are 0.
type bitReader struct {
	in   *bufio.Reader
	word uint64 // the next bits, from the highest on; the others are 0
	have int    // their number
	err  error
}

// fill makes have at least 32, unless the input ends before.
func (r *bitReader) fill() {
	for r.have <= 56 {
		if r.have <= 32 {
			if p, _ := r.in.Peek(4); len(p) == 4 {
				r.word |= uint64(binary.BigEndian.Uint32(p)) << (32 - r.have)
				r.have += 32
				r.in.Discard(4) // which were peeked at
				continue
			}
		}
		b, err := r.in.ReadByte()
		if err != nil {
			if err != io.EOF {
				r.err = err
			}
			return
		}
		r.word |= uint64(b) << (56 - r.have)
		r.have += 8
	}
}

func (r *bitReader) fail(err error) uint64 {
	if r.err == nil {
		r.err = err
	}
	return 0
}

// bits reads n bits, at most 63.
func (r *bitReader) bits(n int) uint64 {
	if n > 32 {
		high := r.bits(n - 32)
		return high<<32 | r.bits(32)
	}
	if r.have < n {
		r.fill()
	}
	if r.err != nil || r.have < n {
		return r.fail(io.ErrUnexpectedEOF)
	}
	v := r.word >> (64 - n)
	r.word <<= n
	r.have -= n
	return v
}

func (r *bitReader) unary() (n uint64) {
	for {
		if r.have < 32 {
			r.fill()
		}
		if r.err != nil || r.have == 0 {
			return r.fail(io.ErrUnexpectedEOF)
		}
		if zeros := bits.LeadingZeros64(r.word); zeros < r.have {
			r.word <<= zeros + 1 // a shift by 64 gives 0
			r.have -= zeros + 1
			return n + uint64(zeros)
		}
		n += uint64(r.have)
		r.word, r.have = 0, 0
	}
}

func (r *bitReader) gamma() uint64 {
	h := r.unary()
	if h > 63 {
		return r.fail(errTooLong)
	}
	return (1<<h | r.bits(int(h))) - 1
}

func (r *bitReader) delta() uint64 {
	h := r.gamma()
	if h > 63 {
		return r.fail(errTooLong)
	}
	return (1<<h | r.bits(int(h))) - 1
}

func (r *bitReader) zeta(k int) uint64 {
	h := int(min(r.unary(), 64))
	if h*k+k > 63 {
		return r.fail(errTooLong)
	}
	left := uint64(1) << (h * k)
	if m := r.bits(h*k + k - 1); m < left {
		return m + left - 1
	} else {
		return m<<1 + r.bits(1) - 1
	}
}

// nibbles reads a number in groups of three bits; the first bit of a group of four is 1 in the last.
func (r *bitReader) nibbles() (v uint64) {
	for range 21 {
		last := r.bits(1)
		v = v<<3 | r.bits(3)
		if last == 1 || r.err != nil {
			return v
		}
	}
	return r.fail(errTooLong)
}

func (r *bitReader) read(c code, k int) uint64 {
	switch c {
	case gamma:
		return r.gamma()
	case delta:
		return r.delta()
	case unary:
		return r.unary()
	case nibble:
		return r.nibbles()
	}
	return r.zeta(k)
}

// A bitWriter writes codes.
type bitWriter struct {
	out   *bufio.Writer
	word  uint64 // bits that are not in out, from the lowest
	have  int    // their number, below 8
	total uint64 // bits written
}

// bits writes the lower n bits of v, n at most 64. An error of out stays until it is flushed.
func (w *bitWriter) bits(v uint64, n int) {
	w.total += uint64(n)
	if n > 32 {
		w.put(v>>32&(1<<(n-32)-1), n-32)
		v, n = v&(1<<32-1), 32
	}
	w.put(v, n)
}

func (w *bitWriter) put(v uint64, n int) {
	w.word = w.word<<n | v
	for w.have += n; w.have >= 8; w.have -= 8 {
		w.out.WriteByte(byte(w.word >> (w.have - 8)))
	}
	w.word &= 1<<w.have - 1
}

func (w *bitWriter) unary(n uint64) {
	for ; n >= 32; n -= 32 {
		w.bits(0, 32)
	}
	w.bits(1, int(n)+1)
}

func (w *bitWriter) gamma(n uint64) {
	h := bits.Len64(n+1) - 1
	w.unary(uint64(h))
	w.bits((n+1)&(1<<h-1), h)
}

func (w *bitWriter) zeta(n uint64, k int) {
	n++
	h := (bits.Len64(n) - 1) / k
	left := uint64(1) << (h * k)
	w.unary(uint64(h))
	if n-left < left {
		w.bits(n-left, h*k+k-1)
	} else {
		w.bits(n, h*k+k)
	}
}

// close fills the last byte with zeros and flushes.
func (w *bitWriter) close() error {
	if w.have > 0 {
		w.put(0, 8-w.have)
	}
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("BV graph: %w", err)
	}
	return nil
}

// Lengths of codes in bits.
func gammaLen(n uint64) int { return 2*bits.Len64(n+1) - 1 }

func zetaLen(n uint64, k int) int {
	n++
	h := (bits.Len64(n) - 1) / k
	if left := uint64(1) << (h * k); n-left < left {
		return h + 1 + h*k + k - 1
	}
	return h + 1 + h*k + k
}

// zigzag maps numbers of both signs to natural numbers.
func zigzag(v int64) uint64 { return uint64(v<<1 ^ v>>63) }

func unzigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }
