package engine

import (
	"archive/tar"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"anatomy/disk/datadir"
)

// A backup is a tar archive within zstd, which tar --zstd reads: the files of a data folder below
// data/, then SHA256SUMS, which sha256sum -c reads. An archive that does not end in it is not whole.
//
//	data/VERSION, data/MANIFEST, data/index/000007/…, data/docindex/…, data/repository/000001.repo, …
//	SHA256SUMS     a line each: 64 hexadecimal digits, two blanks, the name
const (
	backupRoot = "data/"
	backupSums = "SHA256SUMS"
	maxSums    = 64 << 20 // bytes of SHA256SUMS: a hundred for each file
)

// BackupReport counts what a backup holds.
type BackupReport struct {
	Files int
	Bytes int64 // before compression
}

// What is wrong with a backup, or with where it should go.
var (
	ErrNotWhole = errors.New("the backup is not whole")
	ErrNotEmpty = errors.New("the folder is not empty")
)

// Backup writes a data folder as it is at one moment, while a crawl runs on it or not. Certificates
// of the server and their keys stay out. Progress may be nil.
func Backup(ctx context.Context, w io.Writer, dir string, progress func(BackupReport)) (r BackupReport, err error) {
	err = snapshotOf(ctx, dir, func(s *snapshot) error {
		packed, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest)) // most of it is compressed already
		if err != nil {
			return err
		}
		b := &backupWriter{ctx: ctx, tar: tar.NewWriter(packed), progress: progress}
		err = b.snapshot(s)
		r = b.report
		if err == nil {
			err = b.tar.Close()
		}
		return errors.Join(err, packed.Close())
	})
	if err != nil {
		err = fmt.Errorf("backup: %w", err)
	}
	return r, err
}

type backupWriter struct {
	ctx      context.Context
	tar      *tar.Writer
	sums     strings.Builder
	report   BackupReport
	progress func(BackupReport)
}

func (b *backupWriter) snapshot(s *snapshot) error {
	err := filepath.WalkDir(s.Folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		below, err := filepath.Rel(s.Folder, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		size := s.sizeOf(below, info.Size())
		if size < 0 {
			return nil
		}
		return b.file(path, backupRoot+filepath.ToSlash(below), size, info)
	})
	if err != nil {
		return err
	}
	sums := b.sums.String()
	if err := b.tar.WriteHeader(&tar.Header{Name: backupSums, Mode: 0o644, Size: int64(len(sums)), Format: tar.FormatPAX}); err != nil {
		return err
	}
	_, err = io.WriteString(b.tar, sums)
	return err
}

// sizeOf is how much of a file belongs to the snapshot, -1 for none of it.
func (s *snapshot) sizeOf(name string, size int64) int64 {
	var number uint32
	if n, _ := fmt.Sscanf(filepath.ToSlash(name), "repository/%d.repo", &number); n == 0 || s.End == 0 {
		return size
	}
	switch end := s.End.File(); {
	case number > end:
		return -1
	case number == end:
		return min(size, s.End.Offset())
	}
	return size
}

func (b *backupWriter) file(path, name string, size int64, info fs.FileInfo) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := b.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: size, ModTime: info.ModTime(), Format: tar.FormatPAX}); err != nil {
		return err
	}
	sum := sha256.New()
	if err := b.copy(io.MultiWriter(b.tar, sum), io.LimitReader(f, size)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Fprintf(&b.sums, "%x  %s\n", sum.Sum(nil), name)
	b.report.Files++
	return nil
}

// copyStep is how much is copied between looks at the context.
const copyStep = 4 << 20

func (b *backupWriter) copy(to io.Writer, from io.Reader) error {
	for {
		n, err := io.CopyN(to, from, copyStep)
		b.report.Bytes += n
		if b.progress != nil {
			b.progress(b.report)
		}
		if err == io.EOF {
			return nil
		}
		if err = errors.Join(err, b.ctx.Err()); err != nil {
			return err
		}
	}
}

// Restore unpacks a backup into the folder dir, which must be empty or not there, and proves every
// file by its checksum. What fails leaves nothing behind. Progress may be nil.
func Restore(ctx context.Context, from io.Reader, dir string, progress func(BackupReport)) (r BackupReport, err error) {
	made, err := emptyFolder(dir)
	if err != nil {
		return r, fmt.Errorf("restore: %w", err)
	}
	b := &backupReader{ctx: ctx, dir: dir, sums: map[string]string{}, progress: progress}
	err = b.read(from)
	if err == nil {
		err = b.finish()
	}
	if err != nil {
		return b.report, errors.Join(fmt.Errorf("restore: %w", err), clear(dir, made))
	}
	return b.report, nil
}

// emptyFolder makes the folder, or finds that it is empty.
func emptyFolder(dir string) (made bool, err error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, os.MkdirAll(dir, 0o755)
	case err != nil:
		return false, err
	case len(entries) > 0:
		return false, fmt.Errorf("%s: %w: it holds %s", dir, ErrNotEmpty, entries[0].Name())
	}
	return false, nil
}

// clear removes what is in a folder that was empty, and the folder if it was made.
func clear(dir string, made bool) error {
	if made {
		return os.RemoveAll(dir)
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

type backupReader struct {
	ctx      context.Context
	dir      string
	sums     map[string]string // of what was unpacked, by name
	version  []byte            // of the folder: written last, for until then it is none
	report   BackupReport
	progress func(BackupReport)
}

func (b *backupReader) read(from io.Reader) error {
	unpacked, err := zstd.NewReader(from, zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		return err
	}
	defer unpacked.Close()
	archive := tar.NewReader(damageReader{unpacked})
	for {
		h, err := archive.Next()
		if err != nil {
			if !errors.Is(err, ErrNotWhole) {
				err = fmt.Errorf("%w: %w", ErrNotWhole, noEOF(err))
			}
			return err
		}
		if h.Name == backupSums {
			if err := b.verify(archive); err != nil {
				return err
			}
			_, err := io.Copy(io.Discard, damageReader{unpacked}) // there is a checksum at the end of it all
			return err
		}
		if err := b.file(archive, h); err != nil {
			return err
		}
	}
}

// A damageReader says of every error but the end that the backup is not whole.
type damageReader struct{ r io.Reader }

func (d damageReader) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", ErrNotWhole, err)
	}
	return n, err
}

// noEOF is an error for one that says no more than that something ended.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// file unpacks a file. Names are local ones, and no links are followed: there are none.
func (b *backupReader) file(archive io.Reader, h *tar.Header) error {
	below, ok := strings.CutPrefix(h.Name, backupRoot)
	name := filepath.FromSlash(below)
	switch {
	case !ok || h.Typeflag != tar.TypeReg || !filepath.IsLocal(name) || b.sums[h.Name] != "":
		return fmt.Errorf("%w: it holds %q, which no backup does", ErrNotWhole, h.Name)
	case b.ctx.Err() != nil:
		return b.ctx.Err()
	}
	sum := sha256.New()
	var err error
	if below == "VERSION" {
		b.version, err = io.ReadAll(io.LimitReader(io.TeeReader(archive, sum), 1<<10))
	} else {
		err = b.unpack(filepath.Join(b.dir, name), io.TeeReader(archive, sum))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", h.Name, err)
	}
	b.sums[h.Name] = hex.EncodeToString(sum.Sum(nil))
	b.report.Files++
	return nil
}

func (b *backupReader) unpack(path string, from io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	w := &countedWriter{f, b}
	_, err = io.Copy(w, from)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// A countedWriter tells of progress, and ends with the context.
type countedWriter struct {
	to io.Writer
	b  *backupReader
}

func (w *countedWriter) Write(p []byte) (int, error) {
	if err := w.b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.to.Write(p)
	w.b.report.Bytes += int64(n)
	if w.b.progress != nil {
		w.b.progress(w.b.report)
	}
	return n, err
}

// verify compares what was unpacked with the list at the end of the archive.
func (b *backupReader) verify(list io.Reader) error {
	lines := bufio.NewScanner(io.LimitReader(list, maxSums))
	listed := 0
	for lines.Scan() {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		if b.sums[name] != sum || len(sum) != 2*sha256.Size {
			return fmt.Errorf("%w: %s is not what was saved", ErrNotWhole, name)
		}
		listed++
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if listed != len(b.sums) || b.version == nil {
		return fmt.Errorf("%w: %d of its %d files are listed", ErrNotWhole, listed, len(b.sums))
	}
	return nil
}

// finish makes the names durable, and the folder a data folder.
func (b *backupReader) finish() error {
	var folders []string
	err := filepath.WalkDir(b.dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			folders = append(folders, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, folder := range slices.Backward(folders) {
		if err := datadir.SyncFolder(folder); err != nil {
			return err
		}
	}
	if err := b.unpack(filepath.Join(b.dir, "VERSION"), strings.NewReader(string(b.version))); err != nil {
		return err
	}
	if err := datadir.SyncFolder(b.dir); err != nil {
		return err
	}
	return datadir.CheckVersion(b.dir)
}
