package repository

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"anatomy/vocab"
)

// MaxRecord is the maximum size of an encoded record in bytes.
const MaxRecord = maxRaw - endSize

const (
	blockMagic   = "\xabBLK"
	blockVersion = 1
	blockHeader  = 28
	maxRecords   = vocab.MaxAddressSlot + 1
	maxRaw       = 64 << 20
	endSize      = 4
	window       = 2 << 20 // window of the compressor: history that a decoder keeps
)

// A header is the decoded header of a block.
type header struct {
	records, raw, stored int
	sum                  uint64
}

var errNoBlock = errors.New("no block begins here")

func parseHeader(b []byte, file uint32, offset int64) (header, error) {
	le := binary.LittleEndian
	if string(b[:4]) != blockMagic {
		return header{}, errNoBlock
	}
	if uint32(blockSum(file, offset, b[:24])) != le.Uint32(b[24:]) {
		return header{}, errors.New("block header checksum is wrong")
	}
	if v := le.Uint16(b[4:]); v != blockVersion {
		return header{}, fmt.Errorf("block of version %d, this program reads %d", v, blockVersion)
	}
	h := header{int(le.Uint16(b[6:])), int(le.Uint32(b[8:])), int(le.Uint32(b[12:])), le.Uint64(b[16:])}
	if h.records < 1 || h.records > maxRecords || h.raw > maxRaw || h.raw < h.records*(endSize+1) || h.stored > maxStored(h.raw) {
		return header{}, fmt.Errorf("block header is out of bounds: %d records, %d bytes raw, %d compressed", h.records, h.raw, h.stored)
	}
	return h, nil
}

// maxStored returns the maximum size of a compressed block.
func maxStored(raw int) int { return raw + raw/64 + 1024 }

// blockSum returns the checksum of parts of a block at an offset of a file.
func blockSum(file uint32, offset int64, parts ...[]byte) uint64 {
	var address [12]byte
	binary.LittleEndian.PutUint32(address[:], file)
	binary.LittleEndian.PutUint64(address[4:], uint64(offset))
	var d xxhash.Digest
	d.Reset()
	d.Write(address[:])
	for _, part := range parts {
		d.Write(part)
	}
	return d.Sum64()
}

// A packer encodes blocks. It reuses its buffers.
type packer struct {
	zstd   *zstd.Encoder
	raw    []byte
	packed []byte
}

func newPacker(level zstd.EncoderLevel) (*packer, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(window), zstd.WithEncoderCRC(false))
	return &packer{zstd: enc}, err
}

// pack returns the block of some records for an offset of a file. The result is valid until the
// next call.
func (p *packer) pack(records []Record, file uint32, offset int64) []byte {
	le := binary.LittleEndian
	p.raw = append(p.raw[:0], make([]byte, endSize*len(records))...)
	for i := range records {
		p.raw = records[i].append(p.raw)
		le.PutUint32(p.raw[endSize*i:], uint32(len(p.raw)))
	}
	b := append(p.packed[:0], blockMagic...)
	b = le.AppendUint16(b, blockVersion)
	b = le.AppendUint16(b, uint16(len(records)))
	b = le.AppendUint32(b, uint32(len(p.raw)))
	b = append(b, make([]byte, blockHeader-len(b))...)
	b = p.zstd.EncodeAll(p.raw, b)
	le.PutUint32(b[12:], uint32(len(b)-blockHeader))
	le.PutUint64(b[16:], blockSum(file, offset, b[:16], b[blockHeader:]))
	le.PutUint32(b[24:], uint32(blockSum(file, offset, b[:24])))
	p.packed = b
	if cap(p.raw) > 4*DefaultBlockBytes { // do not keep the buffers of one huge page
		p.raw, p.packed = nil, nil
	}
	return b
}

// readBlock returns the header and the compressed bytes of the block at offset, after verifying
// them. The block must end before end. The bytes are in buf if its capacity suffices.
func readBlock(f io.ReaderAt, file uint32, offset, end int64, buf []byte) (header, []byte, error) {
	var head [blockHeader]byte
	if offset > end-blockHeader {
		return header{}, nil, io.ErrUnexpectedEOF
	}
	if _, err := f.ReadAt(head[:], offset); err != nil {
		return header{}, nil, noEOF(err)
	}
	h, err := parseHeader(head[:], file, offset)
	if err != nil {
		return h, nil, err
	}
	if int64(h.stored) > end-offset-blockHeader {
		return h, nil, io.ErrUnexpectedEOF
	}
	if cap(buf) < h.stored {
		buf = make([]byte, h.stored)
	}
	buf = buf[:h.stored]
	if _, err := f.ReadAt(buf, offset+blockHeader); err != nil {
		return h, nil, noEOF(err)
	}
	if blockSum(file, offset, head[:16], buf) != h.sum {
		return h, nil, errors.New("block checksum is wrong")
	}
	return h, buf, nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A block is a decoded block: its table, and its records up to some slot.
type block struct {
	ends []byte // endSize bytes per record
	raw  []byte // the raw block from its start, with the table
}

func (b *block) records() int     { return len(b.ends) / endSize }
func (b *block) end(slot int) int { return int(binary.LittleEndian.Uint32(b.ends[endSize*slot:])) }
func (b *block) has(slot int) bool {
	return slot < b.records() && b.end(slot) <= len(b.raw)
}

// record returns the encoding of a record for which has returns true.
func (b *block) record(slot int) []byte {
	from := len(b.ends)
	if slot > 0 {
		from = b.end(slot - 1)
	}
	return b.raw[from:b.end(slot)]
}

// check fails if the table does not fit a raw block of the given length.
func (b *block) check(raw int) error {
	last := len(b.ends)
	for i := range b.records() {
		if b.end(i) <= last || b.end(i) > raw {
			return errors.New("table of the block is malformed")
		}
		last = b.end(i)
	}
	if last != raw {
		return errors.New("table of the block does not end with it")
	}
	return nil
}

// unpack decodes a whole block into buf.
func (u *unpacker) unpack(h header, stored, buf []byte) (*block, error) {
	dec, err := u.decoder()
	if err != nil {
		return nil, err
	}
	defer u.decoders.Put(dec)
	if cap(buf) < h.raw {
		buf = make([]byte, 0, h.raw)
	}
	raw, err := dec.DecodeAll(stored, buf[:0])
	if err != nil {
		return nil, err
	}
	if len(raw) != h.raw {
		return nil, fmt.Errorf("block has %d bytes, its header says %d", len(raw), h.raw)
	}
	b := &block{ends: raw[:endSize*h.records], raw: raw}
	return b, b.check(h.raw)
}

// unpackTo decodes a block up to the end of one record, which is half the work on average.
func (u *unpacker) unpackTo(h header, stored []byte, slot int) (*block, error) {
	dec, err := u.decoder()
	if err != nil {
		return nil, err
	}
	defer u.decoders.Put(dec)
	if err := dec.Reset(bytes.NewReader(stored)); err != nil {
		return nil, err
	}
	defer dec.Reset(nil)
	b := &block{ends: make([]byte, endSize*h.records)}
	if _, err := io.ReadFull(dec, b.ends); err != nil {
		return nil, noEOF(err)
	}
	if err := b.check(h.raw); err != nil {
		return nil, err
	}
	b.raw = make([]byte, b.end(slot))
	_, err = io.ReadFull(dec, b.raw[copy(b.raw, b.ends):])
	return b, noEOF(err)
}

// An unpacker pools decoders and buffers. The zero value is ready for use and safe for concurrent
// use. Each reader has its own, because decoders have channels, which must not leave the bubble of
// a synctest.
type unpacker struct {
	decoders sync.Pool // of *zstd.Decoder
	buffers  sync.Pool // of *[]byte
}

func (u *unpacker) decoder() (*zstd.Decoder, error) {
	if dec, ok := u.decoders.Get().(*zstd.Decoder); ok {
		return dec, nil
	}
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxRaw), zstd.WithDecoderMaxWindow(maxRaw))
}

func (u *unpacker) buffer() *[]byte {
	if buf, ok := u.buffers.Get().(*[]byte); ok {
		return buf
	}
	return new([]byte)
}
