package segment

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"sync/atomic"
)

const (
	fileMagic = "anatlst3"
	fileTail  = 8 + 4 + 8

	// filePage is what one checksum is over. It is checked when a byte of it is first read: four microseconds.
	filePage = 64 << 10

	// slack is how many bytes behind any value can be read, too, so that packed numbers are loaded eight bytes
	// at a time. The tail of the file sees to it.
	slack = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A fileWriter writes a file of lists. Its first error sticks.
type fileWriter struct {
	path string
	file *os.File
	out  *bufio.Writer
	at   uint64 // bytes written
	sums []byte
	sum  uint32 // of the page that is being filled
	err  error
}

func createFile(path string) (*fileWriter, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w := &fileWriter{path: path, file: f, out: bufio.NewWriterSize(f, 128<<10)}
	w.write([]byte(fileMagic))
	return w, nil
}

func (w *fileWriter) write(p []byte) {
	for len(p) > 0 && w.err == nil {
		n := min(len(p), filePage-int(w.at%filePage))
		w.sum = crc32.Update(w.sum, castagnoli, p[:n])
		_, w.err = w.out.Write(p[:n])
		if w.at += uint64(n); w.at%filePage == 0 {
			w.endPage()
		}
		p = p[n:]
	}
}

func (w *fileWriter) endPage() {
	w.sums = binary.LittleEndian.AppendUint32(w.sums, w.sum)
	w.sum = 0
}

// close writes the checksums and closes the file. It is called once.
func (w *fileWriter) close() error {
	if w.at%filePage != 0 {
		w.endPage()
	}
	tail := binary.LittleEndian.AppendUint64(w.sums, w.at)
	tail = binary.LittleEndian.AppendUint32(tail, crc32.Checksum(tail, castagnoli))
	if w.err == nil {
		_, w.err = w.out.Write(append(tail, fileMagic...))
	}
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return errors.Join(w.err, w.file.Close())
}

var errFile = errors.New("its end is damaged")

// A listFile is such a file in memory, mapped where the system can: what is not read takes none. It is safe for
// use by many goroutines.
type listFile struct {
	data    []byte
	end     uint64 // of the lists in it
	sums    []byte
	checked []atomic.Uint32 // a bit for each page
	unmap   func() error
	passed  atomic.Uint64 // bytes that were read once and for all since the memory was given back
}

func openFile(path string) (_ *listFile, err error) {
	f := &listFile{}
	if f.data, f.unmap, err = mapFile(path); err != nil {
		return nil, err
	}
	if err := f.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.unmap())
	}
	return f, nil
}

func (f *listFile) open() error {
	n := len(f.data)
	if n < len(fileMagic)+fileTail || string(f.data[:len(fileMagic)]) != fileMagic || string(f.data[n-8:]) != fileMagic {
		return errFile
	}
	f.end = binary.LittleEndian.Uint64(f.data[n-fileTail:])
	if f.end < uint64(len(fileMagic)) || f.end > uint64(n-fileTail) {
		return errFile
	}
	pages := (f.end + filePage - 1) / filePage
	if uint64(n-fileTail)-f.end != 4*pages || crc32.Checksum(f.data[f.end:n-12], castagnoli) != binary.LittleEndian.Uint32(f.data[n-12:]) {
		return errFile
	}
	f.sums = f.data[f.end : n-fileTail]
	f.checked = make([]atomic.Uint32, (pages+31)/32)
	return nil
}

func (f *listFile) close() error {
	if f == nil || f.unmap == nil {
		return nil
	}
	err := f.unmap()
	f.unmap, f.data = nil, nil
	return err
}

// An extent is where bytes lie in a file.
type extent struct{ at, n uint64 }

var (
	errExtent = errors.New("it lies outside of its file")
	errPage   = errors.New("its checksum is wrong")
)

// read gives the bytes of an extent, once their pages are proved whole. They can be read to slack bytes behind
// their end, and last until the file is closed.
func (f *listFile) read(e extent) ([]byte, error) {
	if e.n > f.end || e.at > f.end-e.n || e.at < uint64(len(fileMagic)) {
		return nil, errExtent
	}
	if e.n > 0 {
		for page, last := e.at/filePage, (e.at+e.n-1)/filePage; page <= last; page++ {
			if f.checked[page/32].Load()>>(page%32)&1 == 0 {
				if err := f.check(page); err != nil {
					return nil, err
				}
			}
		}
	}
	return f.data[e.at : e.at+e.n : e.at+e.n+slack], nil
}

// keptPassed is how much of a file stays in the memory of a process that reads it from its start to its end.
const keptPassed = 8 << 20

// pass says that n bytes were read that will not be read again soon. Now and then the memory of all is given back:
// the pages of a merge's inputs, 600 MB of a crawl of 314,000 pages, counted for as long as they were mapped.
func (f *listFile) pass(n uint64) {
	if f.passed.Add(n) >= keptPassed {
		f.passed.Store(0)
		forget(f.data)
	}
}

func (f *listFile) check(page uint64) error {
	from := page * filePage
	if crc32.Checksum(f.data[from:min(from+filePage, f.end)], castagnoli) != binary.LittleEndian.Uint32(f.sums[4*page:]) {
		return fmt.Errorf("page %d: %w", page, errPage)
	}
	f.checked[page/32].Or(1 << (page % 32))
	return nil
}

// checkAll proves every page whole that was not read yet.
func (f *listFile) checkAll() error {
	for page := range uint64(len(f.sums) / 4) {
		if err := f.check(page); err != nil {
			return err
		}
	}
	return nil
}
