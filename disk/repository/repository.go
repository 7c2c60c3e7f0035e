package repository

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/zstd"

	"anatomy/vocab"
)

// Defaults of [Options].
const (
	DefaultFileBytes  = 1 << 30
	DefaultBlockBytes = 1 << 20
	DefaultCacheBytes = 4 << 20
)

// Options says how a repository is written. The zero value works.
type Options struct {
	FileBytes  int64             // a file that would grow past it is followed by a new one; default 1 GiB, at most 16 GiB
	BlockBytes int               // raw bytes of a block that no more records are added to; default 1 MiB
	Level      zstd.EncoderLevel // default zstd.SpeedDefault
	CacheBytes int               // of decoded blocks for reading neighbours; default 4 MiB, negative for none
}

func (o Options) cacheBytes() int {
	if o.CacheBytes == 0 {
		return DefaultCacheBytes
	}
	return max(o.CacheBytes, 0)
}

func (o Options) withDefaults() Options {
	if o.FileBytes <= 0 {
		o.FileBytes = DefaultFileBytes
	}
	o.FileBytes = min(o.FileBytes, vocab.MaxPlaceOffset)
	if o.BlockBytes <= 0 {
		o.BlockBytes = DefaultBlockBytes
	}
	o.BlockBytes = min(o.BlockBytes, maxRaw)
	if o.Level == 0 {
		o.Level = zstd.SpeedDefault
	}
	return o
}

// A Repository is one that this process appends to; no other process may. One goroutine appends
// and syncs at a time (others wait), any number read.
type Repository struct {
	*Reader
	o         Options
	create    func(path string) (file, error)
	recovered Recovery

	kept sync.RWMutex // held while files are deleted, or must not be

	write  sync.Mutex // guards what follows; held while appending, not while reading
	packer *packer
	number uint32 // of the last file; 0 where there is none yet
	last   file
	end    int64 // of the last file: where the next block goes
	synced int64 // of the last file: what is on disk for good
	lost   error // a roll could not sync, and cut off what was appended: the next Sync has to say so
}

// Recovery says what Open found after the last writer died.
type Recovery struct {
	File    string  // the last file
	Cut     int64   // bytes cut off its end, as they were no whole block
	Damaged []error // each a *DamageError: blocks of the last file that are lost, with whole ones after them
}

// Open opens the repository in dir for appending, and makes it if there is none. The last file
// is read through: bytes after its last whole block are cut off, see [Repository.Recovered].
func Open(dir string, o Options) (*Repository, error) {
	return open(dir, o, func(path string) (file, error) {
		return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	})
}

func open(dir string, o Options, create func(path string) (file, error)) (*Repository, error) {
	o = o.withDefaults()
	p, err := newPacker(o.Level)
	if err != nil {
		return nil, fmt.Errorf("repository: %w", err)
	}
	r := &Repository{Reader: newReader(dir, o), o: o, create: create, packer: p}
	if err := r.recover(); err != nil {
		return nil, errors.Join(fmt.Errorf("repository: open: %w", err), r.Reader.Close())
	}
	return r, nil
}

// Recovered says what Open found.
func (r *Repository) Recovered() Recovery { return r.recovered }

// recover finds the end of the last file, and cuts off what follows it.
func (r *Repository) recover() error {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	numbers, err := fileNumbers(r.dir)
	if err != nil || len(numbers) == 0 {
		return err
	}
	number := numbers[len(numbers)-1]
	f, err := r.create(r.path(number))
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() < fileHeader { // died while making it
		_, err = f.WriteAt(makeFileHeader(number), 0)
	}
	if err == nil {
		err = checkFileHeader(f, number)
	}
	if err == nil {
		err = r.recoverBlocks(f, number, max(info.Size(), fileHeader))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", r.path(number), err), f.Close())
	}
	r.use(number, f)
	return nil
}

func (r *Repository) recoverBlocks(f file, number uint32, size int64) error {
	r.recovered.File = r.path(number)
	end := int64(fileHeader)
	var buf []byte
	for at := end; at < size; {
		h, stored, err := readBlock(f, number, at, size, buf)
		if err == nil {
			buf = stored
			at += blockHeader + int64(h.stored)
			end = at
			continue
		}
		next := nextBlock(f, number, at+1, size)
		if next < size {
			r.recovered.Damaged = append(r.recovered.Damaged, &DamageError{r.path(number), at, err})
		}
		at = next
	}
	r.end, r.synced = end, end
	r.recovered.Cut = size - end
	if end < size {
		if err := f.Truncate(end); err != nil {
			return err
		}
	}
	return f.Sync()
}

// use makes f, already as long as r.end, the file to append to.
func (r *Repository) use(number uint32, f file) {
	r.number, r.last = number, f
	r.mu.Lock()
	r.files[number] = f
	r.mu.Unlock()
}

// Append writes records and returns their places, which mean something from now on for this
// process and survive a crash after [Repository.Sync]. Consecutive records share blocks: those of
// one host should stand together. On an error the places returned are those of the records that
// were written, and nothing is left of the others; the error wraps syscall.ENOSPC if the disk is
// full. Where a full file could not be synced there are none, and the next Sync fails. Appending may be tried again at any time.
func (r *Repository) Append(records []Record) ([]vocab.Place, error) {
	r.write.Lock()
	defer r.write.Unlock()
	places := make([]vocab.Place, 0, len(records))
	for i := range records {
		if err := valid(&records[i]); err != nil {
			return nil, fmt.Errorf("repository: append document %d: %w", records[i].Page.Doc, err)
		}
	}
	for len(records) > 0 {
		n := r.fit(records)
		offset, err := r.appendBlock(records[:n])
		if r.lost != nil {
			places = nil
		}
		if err != nil {
			return places, fmt.Errorf("repository: append: %w", err)
		}
		for slot := range n {
			places = append(places, vocab.PlaceAt(r.number, offset, slot))
		}
		records = records[n:]
	}
	return places, nil
}

func valid(rec *Record) error {
	if rec.Kind < PageRecord || rec.Kind > RedirectRecord {
		return fmt.Errorf("record of unknown %v", rec.Kind)
	}
	if rec.size() > MaxRecord {
		return fmt.Errorf("record of %d bytes is longer than %d", rec.size(), MaxRecord)
	}
	return nil
}

// fit is how many of the records make the next block: at least one.
func (r *Repository) fit(records []Record) int {
	raw := 0
	for i := range min(len(records), maxRecords) {
		raw += endSize + records[i].size()
		if raw > maxRaw && i > 0 {
			return i
		}
		// The record that fills the block is part of it, however long: those before it are read
		// without it, and it would often be alone in the next.
		if raw >= r.o.BlockBytes {
			return i + 1
		}
	}
	return min(len(records), maxRecords)
}

func (r *Repository) appendBlock(records []Record) (offset int64, err error) {
	if r.last == nil {
		if err := r.roll(); err != nil {
			return 0, err
		}
	}
	b := r.packer.pack(records, r.number, r.end)
	if r.end > fileHeader && r.end+int64(len(b)) > r.o.FileBytes {
		if err := r.roll(); err != nil {
			return 0, err
		}
		b = r.packer.pack(records, r.number, r.end) // the checksum covers the place
	}
	if _, err := r.last.WriteAt(b, r.end); err != nil {
		// What could not be cut off would be overwritten by the next block, or cut off by the next Open.
		return 0, errors.Join(err, r.last.Truncate(r.end))
	}
	offset = r.end
	r.end += int64(len(b))
	return offset, nil
}

// roll starts the next file. On an error the repository goes on with the old one.
func (r *Repository) roll() error {
	if r.last != nil {
		if err := r.sync(); err != nil {
			r.lost = err
			return err
		}
	}
	number := r.number + 1
	f, err := r.create(r.path(number))
	if err != nil {
		return err
	}
	_, err = f.WriteAt(makeFileHeader(number), 0)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = syncDir(r.dir)
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(r.path(number)))
	}
	r.end, r.synced = fileHeader, fileHeader
	r.use(number, f)
	return nil
}

// Sync makes everything appended durable. If it fails, what was appended to the last file since
// the last Sync is cut off again and its places mean nothing: after a failed fsync the operating
// system may have dropped those pages, and a later fsync would not say so.
func (r *Repository) Sync() error {
	r.write.Lock()
	defer r.write.Unlock()
	if r.last == nil {
		return nil
	}
	err := r.sync()
	err, r.lost = errors.Join(r.lost, err), nil
	if err != nil {
		return fmt.Errorf("repository: sync: %w", err)
	}
	return nil
}

func (r *Repository) sync() error {
	if r.synced == r.end {
		return nil
	}
	if err := r.last.Sync(); err != nil {
		r.end = r.synced
		r.forget()
		return errors.Join(err, r.last.Truncate(r.end))
	}
	r.synced = r.end
	return nil
}

// End is the place after the last record: a scan from it meets what is appended later.
func (r *Repository) End() vocab.Place {
	r.write.Lock()
	defer r.write.Unlock()
	if r.last == nil {
		return 0
	}
	return vocab.PlaceAt(r.number, r.end, 0)
}

// Close makes everything appended durable and closes the files.
func (r *Repository) Close() error {
	return errors.Join(r.Sync(), r.packer.zstd.Close(), r.Reader.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
