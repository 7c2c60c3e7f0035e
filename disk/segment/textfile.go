package segment

import (
	"encoding/binary"
	"errors"
	"fmt"

	"anatomy/disk/segment/internal/mapfile"
	"anatomy/disk/texts"
)

// textEntry is the size in bytes of an entry of the directory of text blocks.
const textEntry = 8 + 4 + 4

// A textWriter writes the file of texts: copied blocks, and blocks that it packs. A packed block
// gets its number with its first text, and is written when it is full.
type textWriter struct {
	file      *mapfile.Writer
	packer    *texts.Packer
	open      uint32 // number of the block in packer, if that is not empty
	directory []byte // entries by block number
}

// add packs a text, and returns its span.
func (w *textWriter) add(text string) texts.Span {
	if text == "" {
		return texts.Span{}
	}
	if w.packer.Empty() {
		w.open = w.number()
	}
	at := texts.Span{Block: w.open, Start: w.packer.Add(text), N: uint32(len(text))}
	if w.packer.Full() {
		w.flush()
	}
	return at
}

// copy writes a compressed block and returns its number.
func (w *textWriter) copy(frame []byte, raw int) uint32 {
	n := w.number()
	w.write(n, frame, raw)
	return n
}

// flush writes the block in packer.
func (w *textWriter) flush() {
	if !w.packer.Empty() {
		frame, raw := w.packer.Flush()
		w.write(w.open, frame, raw)
	}
}

func (w *textWriter) number() uint32 {
	w.directory = append(w.directory, make([]byte, textEntry)...)
	return uint32(len(w.directory)/textEntry - 1)
}

func (w *textWriter) write(n uint32, frame []byte, raw int) {
	e := w.directory[textEntry*int(n):][:textEntry]
	binary.LittleEndian.PutUint64(e, w.file.Offset())
	binary.LittleEndian.PutUint32(e[8:], uint32(len(frame)))
	binary.LittleEndian.PutUint32(e[12:], uint32(raw))
	w.file.Write(frame)
}

// finish writes the last block and the directory.
func (w *textWriter) finish() {
	w.flush()
	w.file.Write(binary.LittleEndian.AppendUint32(w.directory, uint32(len(w.directory)/textEntry)))
}

var errTexts = errors.New("the directory of text blocks is damaged")

// A textFile is the file of texts, open for reading. Its File is nil in a light segment.
type textFile struct {
	*mapfile.File
	blocks    uint32
	directory uint64 // offset of the directory
}

func openTexts(path string) (*textFile, error) {
	f, err := mapfile.Open(path)
	if err != nil {
		return nil, err
	}
	t := &textFile{File: f}
	if err := t.openDirectory(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return t, nil
}

func (t *textFile) openDirectory() error {
	if t.End() < uint64(mapfile.HeaderSize)+4 {
		return errTexts
	}
	n, err := t.Read(mapfile.Extent{Offset: t.End() - 4, Len: 4})
	if err != nil {
		return err
	}
	t.blocks = binary.LittleEndian.Uint32(n)
	size := textEntry*uint64(t.blocks) + 4
	if size > t.End()-uint64(mapfile.HeaderSize) {
		return errTexts
	}
	t.directory = t.End() - size
	return nil
}

// Close closes the file. t may be nil.
func (t *textFile) Close() error {
	if t == nil {
		return nil
	}
	return t.File.Close()
}

// block returns block i and the length of its content. The frame is valid until the file is closed.
func (t *textFile) block(i uint32) (frame []byte, raw int, err error) {
	if t.File == nil {
		return nil, 0, ErrLight
	}
	if i >= t.blocks {
		return nil, 0, fmt.Errorf("no text block %d", i)
	}
	e, err := t.Read(mapfile.Extent{Offset: t.directory + textEntry*uint64(i), Len: textEntry})
	if err != nil {
		return nil, 0, err
	}
	at := mapfile.Extent{Offset: binary.LittleEndian.Uint64(e), Len: uint64(binary.LittleEndian.Uint32(e[8:]))}
	if at.Offset > t.directory || at.Len > t.directory-at.Offset {
		return nil, 0, errTexts
	}
	t.DropBehind(at.Len)
	frame, err = t.Read(at)
	return frame, int(binary.LittleEndian.Uint32(e[12:])), err
}
