package segment

import (
	"encoding/binary"
	"errors"
	"fmt"

	"anatomy/disk/texts"
)

// textEntry is the bytes of a block in the directory of texts: where it lies, its length and that of its content.
const textEntry = 8 + 4 + 4

// A textWriter writes the file of texts: blocks that are copied as they come, and between them one of texts that
// are packed here. A block has its number from the start, and is written when it is done.
type textWriter struct {
	file      *fileWriter
	packer    *texts.Packer
	open      uint32 // number of the block in hand, if the packer holds any text
	directory []byte // by number
}

// add packs a text.
func (w *textWriter) add(text string) texts.Place {
	if text == "" {
		return texts.Place{}
	}
	if w.packer.Empty() {
		w.open = w.number()
	}
	at := texts.Place{Block: w.open, Start: w.packer.Add(text), N: uint32(len(text))}
	if w.packer.Full() {
		w.end()
	}
	return at
}

// copy writes a block as it is.
func (w *textWriter) copy(frame []byte, raw int) uint32 {
	n := w.number()
	w.write(n, frame, raw)
	return n
}

// end writes the block in hand.
func (w *textWriter) end() {
	if !w.packer.Empty() {
		frame, raw := w.packer.Take()
		w.write(w.open, frame, raw)
	}
}

func (w *textWriter) number() uint32 {
	w.directory = append(w.directory, make([]byte, textEntry)...)
	return uint32(len(w.directory)/textEntry - 1)
}

func (w *textWriter) write(n uint32, frame []byte, raw int) {
	e := w.directory[textEntry*int(n):][:textEntry]
	binary.LittleEndian.PutUint64(e, w.file.at)
	binary.LittleEndian.PutUint32(e[8:], uint32(len(frame)))
	binary.LittleEndian.PutUint32(e[12:], uint32(raw))
	w.file.write(frame)
}

// finish writes the directory.
func (w *textWriter) finish() {
	w.end()
	w.file.write(binary.LittleEndian.AppendUint32(w.directory, uint32(len(w.directory)/textEntry)))
}

var errTexts = errors.New("the directory of texts is impossible")

// A textFile is the file of texts, open.
type textFile struct {
	*listFile
	blocks    uint32
	directory uint64 // where it lies
}

func openTexts(path string) (*textFile, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	t := &textFile{listFile: f}
	if err := t.openDirectory(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.close())
	}
	return t, nil
}

func (t *textFile) openDirectory() error {
	if t.end < uint64(len(fileMagic))+4 {
		return errTexts
	}
	n, err := t.read(extent{t.end - 4, 4})
	if err != nil {
		return err
	}
	t.blocks = binary.LittleEndian.Uint32(n)
	size := textEntry*uint64(t.blocks) + 4
	if size > t.end-uint64(len(fileMagic)) {
		return errTexts
	}
	t.directory = t.end - size
	return nil
}

// close closes the file, if it was opened.
func (t *textFile) close() error {
	if t == nil {
		return nil
	}
	return t.listFile.close()
}

// block gives a block, which lasts until the file is closed, and the length of its content.
func (t *textFile) block(i uint32) (frame []byte, raw int, err error) {
	if i >= t.blocks {
		return nil, 0, fmt.Errorf("no block of texts %d", i)
	}
	e, err := t.read(extent{t.directory + textEntry*uint64(i), textEntry})
	if err != nil {
		return nil, 0, err
	}
	at := extent{binary.LittleEndian.Uint64(e), uint64(binary.LittleEndian.Uint32(e[8:]))}
	if at.at > t.directory || at.n > t.directory-at.at {
		return nil, 0, errTexts
	}
	t.pass(at.n)
	frame, err = t.read(at)
	return frame, int(binary.LittleEndian.Uint32(e[12:])), err
}

// TextBlocks is the number of blocks of texts.
func (s *Segment) TextBlocks() int { return int(s.texts.blocks) }

// Texts gives a block of texts, which has a content of raw bytes. It lasts until the segment is closed.
func (s *Segment) Texts(i uint32) (frame []byte, raw int, err error) {
	if frame, raw, err = s.texts.block(i); err != nil {
		err = s.damagedTexts(i, err)
	}
	return frame, raw, err
}

func (s *Segment) damagedTexts(i uint32, err error) error {
	return fmt.Errorf("segment: %s: texts, block %d: %w", s.dir, i, err)
}
