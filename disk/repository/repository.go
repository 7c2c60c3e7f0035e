package repository

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/zstd"

	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/vocab"
)

// Defaults of [Options].
const (
	DefaultFileBytes  = 1 << 30
	DefaultBlockBytes = 1 << 20
	DefaultCacheBytes = 4 << 20
)

// Options are the options of a repository. The zero value is ready to use.
type Options struct {
	FileBytes  int64             // size at which a new file is started; default 1 GiB, at most 16 GiB
	BlockBytes int               // raw size at which a block is full; default 1 MiB
	Level      zstd.EncoderLevel // default zstd.SpeedDefault
	CacheBytes int               // for decoded blocks; default 4 MiB, negative for none

	// The following apply if the data folder has several disks.
	Free    func(dir string) (int64, error) // free bytes of a disk; default datadir.FreeSpace
	Reserve int64                           // bytes to keep free on a disk while another one has more
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
	o.FileBytes = min(o.FileBytes, vocab.MaxAddressOffset)
	if o.BlockBytes <= 0 {
		o.BlockBytes = DefaultBlockBytes
	}
	o.BlockBytes = min(o.BlockBytes, maxRaw)
	if o.Free == nil {
		o.Free = datadir.FreeSpace
	}
	if o.Level == 0 {
		o.Level = zstd.SpeedDefault
	}
	return o
}

// A Repository is a repository to which this process appends. No other process may append to it.
// Append, Sync and Roll exclude each other; reads may run concurrently.
type Repository struct {
	*Reader
	o         Options
	recovered Recovery

	kept sync.RWMutex // write-locked while files are deleted

	write  sync.Mutex // guards the fields below; held while appending, not while reading
	packer *packer
	spread spread
	number uint32 // number of the last file; 0 if there is none
	last   durable.File
	end    int64 // offset of the next block in the last file
	synced int64 // the last file is durable up to here
	lost   error // error of a roll that failed to sync and truncated records; the next Sync returns it
}

// Recovery describes the damage that [Open] found and repaired in the last file.
type Recovery struct {
	File    string  // the last file
	Cut     int64   // bytes truncated at its end, which were not a complete block
	Damaged []error // a *DamageError for each damaged block before the last complete one
}

// Open opens the repository in dir for appending, creating it if needed. It reads the last file and
// truncates it after the last complete block, see [Repository.Recovered].
func Open(dir string, o Options) (*Repository, error) {
	return open(durable.OS, dir, o)
}

func open(fsys durable.FS, dir string, o Options) (*Repository, error) {
	o = o.withDefaults()
	p, err := newPacker(o.Level)
	if err != nil {
		return nil, fmt.Errorf("repository: %w", err)
	}
	r := &Repository{Reader: newReader(fsys, dir, o), o: o, packer: p}
	if err := r.recover(); err != nil {
		return nil, errors.Join(fmt.Errorf("repository: open: %w", err), r.Reader.Close())
	}
	return r, nil
}

// Recovered returns the repairs made by Open.
func (r *Repository) Recovered() Recovery { return r.recovered }

// recover finds the end of the last file and truncates the rest.
func (r *Repository) recover() error {
	if err := durable.MkdirAll(r.fs, r.dir); err != nil {
		return err
	}
	folders, err := r.folders()
	if err != nil {
		return err
	}
	r.spread.folders, r.spread.full = folders, map[string]bool{}
	r.spread.free, r.spread.reserve = r.o.Free, r.o.Reserve
	numbers, err := r.fileNumbers()
	if err != nil || len(numbers) == 0 {
		return err
	}
	number := numbers[len(numbers)-1]
	f, err := r.openFile(number, os.O_RDWR)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && unbegun(f, info.Size()) {
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

func (r *Repository) recoverBlocks(f durable.File, number uint32, size int64) error {
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
	// The process that created the file may have been killed before it synced the folder.
	return errors.Join(f.Sync(), r.fs.SyncFolder(filepath.Dir(r.path(number))))
}

// unbegun reports whether a file has at most a header that was not synced before a crash: a
// truncated one, or zeros.
func unbegun(f durable.File, size int64) bool {
	var header [fileHeader]byte
	if size < fileHeader {
		return true
	}
	_, err := f.ReadAt(header[:], 0)
	return size == fileHeader && err == nil && header == [fileHeader]byte{}
}

// use makes f, which has the length r.end, the file to append to.
func (r *Repository) use(number uint32, f durable.File) {
	r.number, r.last = number, f
	r.mu.Lock()
	r.files[number] = f
	r.mu.Unlock()
}

// Append writes records and returns their addresses. They are valid in this process at once, and
// survive a crash after [Repository.Sync]. Consecutive records share blocks, so records of one host
// should be consecutive. After an error Append returns the addresses of the written records; the
// caller may append the others again. The error wraps syscall.ENOSPC if the disk is full. If a full
// file could not be synced, Append returns no addresses and the next Sync fails.
func (r *Repository) Append(records []Record) ([]vocab.Address, error) {
	r.write.Lock()
	defer r.write.Unlock()
	addresses := make([]vocab.Address, 0, len(records))
	for i := range records {
		if err := valid(&records[i]); err != nil {
			return nil, fmt.Errorf("repository: append document %d: %w", records[i].Page.Doc, err)
		}
	}
	for len(records) > 0 {
		n := r.fit(records)
		offset, err := r.appendBlock(records[:n])
		if r.lost != nil {
			addresses = nil
		}
		if err != nil {
			return addresses, fmt.Errorf("repository: append: %w", err)
		}
		for slot := range n {
			addresses = append(addresses, vocab.MakeAddress(r.number, offset, slot))
		}
		records = records[n:]
	}
	return addresses, nil
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

// fit returns the number of records for the next block, at least one.
func (r *Repository) fit(records []Record) int {
	raw := 0
	for i := range min(len(records), maxRecords) {
		raw += endSize + records[i].size()
		if raw > maxRaw && i > 0 {
			return i
		}
		// The record that fills the block is part of it, with any size: earlier records are
		// read without it, and it would often be alone in the next block.
		if raw >= r.o.BlockBytes {
			return i + 1
		}
	}
	return min(len(records), maxRecords)
}

func (r *Repository) appendBlock(records []Record) (offset int64, err error) {
	if r.last == nil {
		if err := r.roll(r.number + 1); err != nil {
			return 0, err
		}
	}
	if err := r.leaveFull(); err != nil {
		return 0, err
	}
	b := r.packer.pack(records, r.number, r.end)
	if r.end > fileHeader && r.end+int64(len(b)) > r.o.FileBytes {
		if err := r.roll(r.number + 1); err != nil {
			return 0, err
		}
		b = r.packer.pack(records, r.number, r.end) // the checksum covers the address
	}
	if _, err := r.last.WriteAt(b, r.end); err != nil {
		// If this fails, too, the next block overwrites the rest, or the next Open truncates it.
		cut := r.last.Truncate(r.end)
		if cut == nil && r.elsewhere(err) {
			return r.appendBlock(records)
		}
		return 0, errors.Join(err, cut)
	}
	offset = r.end
	r.end += int64(len(b))
	return offset, nil
}

// SkipTo starts a new file unless later records get addresses after past anyway. It is for a
// repository that ends before an acknowledged record, whose address must not be reused.
func (r *Repository) SkipTo(past vocab.Address) error {
	r.write.Lock()
	defer r.write.Unlock()
	if r.last != nil && vocab.MakeAddress(r.number, r.end, 0) > past {
		return nil
	}
	if err := r.roll(max(r.number, past.File()) + 1); err != nil {
		return fmt.Errorf("repository: %w", err)
	}
	return nil
}

// roll starts the file with a number. On an error the repository continues with the old one.
func (r *Repository) roll(number uint32) error {
	if r.last != nil {
		if err := r.sync(); err != nil {
			r.lost = err
			return err
		}
	}
	folder := r.newFolder()
	path := filepath.Join(folder, fileName(number))
	f, err := r.fs.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(makeFileHeader(number), 0)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = r.fs.SyncFolder(folder)
	}
	if err != nil {
		return errors.Join(err, f.Close(), r.fs.Remove(path))
	}
	if folder != r.dir {
		r.mu.Lock()
		r.at[number] = folder
		r.mu.Unlock()
	}
	r.end, r.synced = fileHeader, fileHeader
	r.use(number, f)
	return nil
}

// Sync makes all records durable. If it fails, it truncates the records that were appended to the
// last file since the last Sync, and their addresses become invalid: after a failed fsync the
// operating system may have dropped their pages, which a later fsync would not report.
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

// End returns the address after the last record. A scan from it yields only later records.
func (r *Repository) End() vocab.Address {
	r.write.Lock()
	defer r.write.Unlock()
	if r.last == nil {
		return 0
	}
	return vocab.MakeAddress(r.number, r.end, 0)
}

// Close makes all records durable and closes the files.
func (r *Repository) Close() error {
	return errors.Join(r.Sync(), r.packer.zstd.Close(), r.Reader.Close())
}
