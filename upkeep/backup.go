package upkeep

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
	"anatomy/disk/durable"
	"anatomy/disk/shards"
	"anatomy/disk/snapshot"
)

// A backup is a tar archive compressed with zstd, which tar --zstd reads: the files of a data
// folder below data/, then SHA256SUMS, which sha256sum -c reads. An archive that does not end in
// SHA256SUMS is not complete.
//
//	data/VERSION, data/MANIFEST, data/index/000007/…, data/docindex/…, data/repository/000001.repo, …
//	SHA256SUMS     a line each: 64 hexadecimal digits, two blanks, the name
//
// A backup of a folder of shards has data/SHARDS, its other files and data/shard-0/VERSION, …
const (
	backupRoot = "data/"
	backupSums = "SHA256SUMS"
	maxSums    = 64 << 20 // bytes of SHA256SUMS: about 100 per file

	// restoring is a file in a folder that Restore unpacks to. If it exists and VERSION does not,
	// the folder has a partial backup and nothing else. A kill may leave it under its temporary
	// name.
	restoring = "RESTORING"
)

// A BackupReport counts the content of a backup.
type BackupReport struct {
	Files int
	Bytes int64 // before compression
}

// Errors of Restore.
var (
	ErrNotWhole = errors.New("the file is not a complete backup")
	ErrNotEmpty = errors.New("the folder is not empty")
)

// Backup writes a data folder, or a folder of shards, as of one moment, whether or not a crawl is
// running. It omits the server's certificates and keys. progress may be nil.
func Backup(ctx context.Context, w io.Writer, dir string, progress func(BackupReport)) (r BackupReport, err error) {
	write := func(s *snapshot.Snapshot) error {
		packed, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest)) // most data is compressed already
		if err != nil {
			return err
		}
		b := &backupWriter{ctx: ctx, tar: tar.NewWriter(packed), progress: progress}
		err = b.snapshot(s)
		r = b.report
		if err == nil {
			err = b.end()
		}
		return errors.Join(err, packed.Close())
	}
	if err := Snapshot(ctx, dir, snapshot.Backup, write); err != nil {
		return r, fmt.Errorf("backup: %w", err)
	}
	return r, nil
}

type backupWriter struct {
	ctx      context.Context
	tar      *tar.Writer
	sums     strings.Builder
	report   BackupReport
	progress func(BackupReport)
}

// snapshot writes the files of a snapshot.
func (b *backupWriter) snapshot(s *snapshot.Snapshot) error {
	return filepath.WalkDir(s.Folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		below, err := filepath.Rel(s.Folder, path)
		if err != nil {
			return err
		}
		info, err := os.Stat(path) // os.Stat, because files on other disks are symbolic links
		if err != nil {
			return err
		}
		size := s.SizeOf(filepath.ToSlash(below), info.Size())
		if size < 0 {
			return nil
		}
		return b.file(path, backupRoot+filepath.ToSlash(below), size, info)
	})
}

// end writes SHA256SUMS and ends the archive.
func (b *backupWriter) end() error {
	sums := b.sums.String()
	if err := b.tar.WriteHeader(&tar.Header{Name: backupSums, Mode: 0o600, Size: int64(len(sums)), Format: tar.FormatPAX}); err != nil {
		return err
	}
	if _, err := io.WriteString(b.tar, sums); err != nil {
		return err
	}
	return b.tar.Close()
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
	if err := b.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: size, ModTime: info.ModTime(), Format: tar.FormatPAX}); err != nil {
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

// copyStep is the number of bytes copied between checks of the context.
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

// Restore unpacks a backup into the folder dir, which must be empty or absent, and verifies the
// checksum of every file. On failure it removes everything that it wrote. It first removes the
// remains of a killed Restore. progress may be nil.
func Restore(ctx context.Context, from io.Reader, dir string, progress func(BackupReport)) (r BackupReport, err error) {
	made, err := emptyFolder(dir)
	if err != nil {
		return r, fmt.Errorf("restore: %w", err)
	}
	b := &backupReader{ctx: ctx, dir: dir, sums: map[string]string{}, progress: progress}
	err = durable.WriteFile(durable.OS, filepath.Join(dir, restoring), nil)
	if err == nil {
		err = b.read(from)
	}
	if err == nil {
		err = b.finish()
	}
	if err != nil {
		return b.report, errors.Join(fmt.Errorf("restore: %w", err), clearFolder(dir, made))
	}
	return b.report, nil
}

// VerifyBackup reads a backup to its end. It verifies that the backup is complete, the checksum of
// every file, and that this program reads its format. It writes nothing. progress may be nil.
func VerifyBackup(ctx context.Context, from io.Reader, progress func(BackupReport)) (BackupReport, error) {
	b := &backupReader{ctx: ctx, sums: map[string]string{}, progress: progress}
	err := b.read(from)
	if err == nil && b.shards != nil {
		_, err = shards.Decode(b.shards)
	} else if err == nil {
		err = datadir.VerifyVersion("the backup", b.version)
	}
	if err != nil {
		err = fmt.Errorf("verify: %w", err)
	}
	return b.report, err
}

// emptyFolder creates the folder, or fails if it is not empty. made reports whether it created the
// folder. Only its owner may read the folder afterwards, because a backup may contain pages that
// required signing in.
func emptyFolder(dir string) (made bool, err error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, durable.MkdirAll(durable.OS, dir)
	case err != nil:
		return false, err
	case slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), restoring) }) &&
		errors.Is(datadir.CheckVersion(dir), datadir.ErrNone):
		return false, clearFolder(dir, false)
	case len(entries) > 0:
		return false, fmt.Errorf("%s: %w: it holds %s", dir, ErrNotEmpty, entries[0].Name())
	}
	return false, os.Chmod(dir, 0o700)
}

// clearFolder removes the contents of a folder, and the folder itself if it was created for the backup.
func clearFolder(dir string, made bool) error {
	if made {
		return os.RemoveAll(dir)
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != restoring {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err == nil { // last, so that the next Restore completes a killed clearFolder
		err = os.RemoveAll(filepath.Join(dir, restoring))
	}
	return err
}

type backupReader struct {
	ctx      context.Context
	dir      string            // folder to unpack to; "" to verify only
	sums     map[string]string // checksums of the files unpacked, by name
	version  []byte            // contents of VERSION, which is written last and makes the folder a data folder
	shards   []byte            // contents of SHARDS, which a backup of shards has instead
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
			_, err := io.Copy(io.Discard, damageReader{unpacked}) // to verify the checksum at the end of the zstd frame
			return err
		}
		if err := b.file(archive, h); err != nil {
			return err
		}
	}
}

// A damageReader wraps every error but io.EOF in ErrNotWhole.
type damageReader struct{ r io.Reader }

func (d damageReader) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", ErrNotWhole, err)
	}
	return n, err
}

// noEOF returns io.ErrUnexpectedEOF for io.EOF, and other errors as they are.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// file unpacks one file. The name must be local, and the file regular.
func (b *backupReader) file(archive io.Reader, h *tar.Header) error {
	below, ok := strings.CutPrefix(h.Name, backupRoot)
	name := filepath.FromSlash(below)
	switch {
	case !ok || h.Typeflag != tar.TypeReg || !filepath.IsLocal(name) || b.sums[h.Name] != "":
		return fmt.Errorf("%w: it holds %q, which is not a file of a backup", ErrNotWhole, h.Name)
	case b.ctx.Err() != nil:
		return b.ctx.Err()
	}
	sum := sha256.New()
	var err error
	if below == datadir.VersionName {
		b.version, err = io.ReadAll(io.LimitReader(io.TeeReader(archive, sum), 1<<10))
	} else if below == shards.FileName {
		b.shards, err = io.ReadAll(io.LimitReader(io.TeeReader(archive, sum), maxSums))
	} else if b.dir == "" {
		_, err = io.Copy(&countedWriter{io.Discard, b}, io.TeeReader(archive, sum))
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
	if err := durable.MkdirAll(durable.OS, filepath.Dir(path)); err != nil {
		return err
	}
	return durable.WriteNew(durable.OS, path, func(w io.Writer) error {
		_, err := io.Copy(&countedWriter{w, b}, from)
		return err
	})
}

// A countedWriter reports progress, and fails once the context has ended.
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

// verify compares the unpacked files with SHA256SUMS, the end of the archive.
func (b *backupReader) verify(list io.Reader) error {
	lines := bufio.NewScanner(io.LimitReader(list, maxSums))
	listed := 0
	for lines.Scan() {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		if b.sums[name] != sum || len(sum) != 2*sha256.Size {
			return fmt.Errorf("%w: the checksum of %s is wrong", ErrNotWhole, name)
		}
		listed++
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if listed != len(b.sums) || (b.version == nil) == (b.shards == nil) {
		return fmt.Errorf("%w: %d of its %d files are listed", ErrNotWhole, listed, len(b.sums))
	}
	return nil
}

// finish makes the folder a data folder. All its files must be durable.
func (b *backupReader) finish() error {
	if b.shards != nil {
		return b.finishShards()
	}
	if err := datadir.MakeFolders(b.dir); err != nil {
		return err
	}
	if err := durable.WriteFile(durable.OS, filepath.Join(b.dir, datadir.VersionName), b.version); err != nil {
		return err
	}
	if err := durable.Remove(durable.OS, filepath.Join(b.dir, restoring)); err != nil {
		return err
	}
	return datadir.CheckVersion(b.dir)
}
