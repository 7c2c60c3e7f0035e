package repository

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"anatomy/disk/durable"
	"anatomy/disk/durable/durabletest"
	"anatomy/vocab"
)

func page(doc vocab.DocID, body string) Record {
	return Record{Kind: PageRecord, Page: vocab.Page{
		Doc: doc, URL: fmt.Sprintf("http://a.test/%d", doc), Fetched: time.Unix(1_790_000_000, 0).UTC(),
		ContentType: "text/html", Body: []byte(body),
	}}
}

// someRecord draws records of every kind, with bodies that compress and bodies that do not.
func someRecord(t *rapid.T) Record {
	r := Record{Kind: Kind(rapid.IntRange(1, 3).Draw(t, "kind"))}
	p := &r.Page
	p.Doc = vocab.DocID(rapid.Uint64().Draw(t, "doc"))
	p.Fetched = time.Unix(rapid.Int64Range(-62135596800, 1<<40).Draw(t, "fetched"), 0).UTC()
	p.URL = rapid.String().Draw(t, "url")
	p.Truncated = vocab.Truncation(rapid.IntRange(0, int(vocab.Truncations)-1).Draw(t, "truncated"))
	switch r.Kind {
	case PageRecord:
		p.ContentType = rapid.String().Draw(t, "type")
		p.ETag = rapid.String().Draw(t, "etag")
		p.Language, p.LastModified, p.Robots = "de", "then", "noindex\nnofollow"
		p.Links = rapid.SampledFrom([]string{"", "</a>; rel=next"}).Draw(t, "links")
		p.Headers = rapid.SampledFrom([]string{"", "GET / HTTP/1.1\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"}).Draw(t, "headers")
		p.Body = rapid.OneOf(rapid.SliceOfN(rapid.Byte(), 1, 300),
			rapid.Map(rapid.IntRange(1, 5000), func(n int) []byte { return bytes.Repeat([]byte("<p>"), n) })).Draw(t, "body")
	case DuplicateRecord:
		r.Of = 7
	case RedirectRecord:
		r.Of, r.Location = 8, rapid.String().Draw(t, "location")
	}
	return r
}

func mustOpen(t testing.TB, dir string, o Options) *Repository {
	t.Helper()
	r, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func mustAppend(t testing.TB, r *Repository, records ...Record) []vocab.Address {
	t.Helper()
	addresses, err := r.Append(records)
	if err != nil {
		t.Fatal(err)
	}
	return addresses
}

// The bytes of a tiny repository are part of the format. The zstd frame is left out: what the
// compressor makes of a block may change with its version.
func TestGolden(t *testing.T) {
	dir := t.TempDir()
	r := mustOpen(t, dir, Options{})
	duplicate := Record{Kind: DuplicateRecord, Page: vocab.Page{Doc: 2, URL: "http://a.test/b", Fetched: time.Unix(3, 0)}, Of: 1}
	mustAppend(t, r, duplicate)
	if got, want := hex.EncodeToString(r.packer.raw), "18000000"+"0202060f"+hex.EncodeToString([]byte("http://a.test/b"))+"01"; got != want {
		t.Errorf("raw block is %s, want %s", got, want)
	}
	data, err := os.ReadFile(filepath.Join(dir, "000001.repo"))
	if err != nil {
		t.Fatal(err)
	}
	want := hex.EncodeToString([]byte("anatrepo")) + "01000000" + "01000000" + "ab424c4b" + "0100" + "0100" + "18000000"
	if got := hex.EncodeToString(data[:28]); got != want {
		t.Errorf("file begins %s, want %s", got, want)
	}
	dec, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	if raw, err := dec.DecodeAll(data[16+28:], nil); err != nil || !bytes.Equal(raw, r.packer.raw) {
		t.Errorf("frame decodes to %x, %v", raw, err)
	}
}

// A file written by the first version is read as long as that version is.
func TestReadsFirstFile(t *testing.T) {
	dir := t.TempDir()
	copyFile(t, "testdata/v1.repo", filepath.Join(dir, "000001.repo"))
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []string
	err = r.Scan(0, func(p vocab.Address, rec *Record) error {
		got = append(got, fmt.Sprintf("%v %v %d %s %q %d %s", p, rec.Kind, rec.Page.Doc, rec.Page.URL, rec.Page.Body, rec.Of, rec.Location))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`1:16:0 page 1 http://a.test/1 "<p>one" 0 `,
		`1:16:1 duplicate 2 http://a.test/2 "" 1 `,
		`1:16:2 redirect 3 http://a.test/3 "" 1 http://a.test/1`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("records are\n%s", strings.Join(got, "\n"))
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Everything appended is read back by address and by scan, in this process and another's reader,
// whatever the sizes of blocks and files.
func TestReadsWhatWasAppended(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		if err != nil {
			t.Fatal(err)
		}
		o := Options{
			FileBytes:  rapid.Int64Range(1000, 20000).Draw(t, "file"),
			BlockBytes: rapid.IntRange(1, 20000).Draw(t, "block"),
			CacheBytes: rapid.IntRange(-1, 10000).Draw(t, "cache"),
			Level:      zstd.SpeedFastest,
		}
		var addresses []vocab.Address
		var records []Record
		for range rapid.IntRange(1, 3).Draw(t, "lives") {
			r, err := Open(dir, o)
			if err != nil {
				t.Fatal(err)
			}
			if rec := r.Recovered(); rec.Cut > 0 || len(rec.Damaged) > 0 {
				t.Fatalf("recovered %+v after a clean end", rec)
			}
			batch := rapid.SliceOfN(rapid.Custom(someRecord), 0, 10).Draw(t, "batch")
			start := r.End()
			got, err := r.Append(batch)
			if err != nil {
				t.Fatal(err)
			}
			records, addresses = append(records, batch...), append(addresses, got...)
			verify(t, r.Reader, addresses, records)
			seen := 0
			if err := r.Scan(start, func(vocab.Address, *Record) error { seen++; return nil }); err != nil || seen != len(batch) {
				t.Fatalf("a scan from the old end meets %d records, %v; %d were appended", seen, err, len(batch))
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		other, err := OpenReader(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		verify(t, other, addresses, records)
		totals, err := Check(dir, func(problem error) { t.Errorf("check: %v", problem) })
		if err != nil || totals.Pages+totals.Duplicates+totals.Redirects != len(records) {
			t.Fatalf("check: %+v, %v", totals, err)
		}
	})
}

func verify(t *rapid.T, r *Reader, addresses []vocab.Address, records []Record) {
	t.Helper()
	for i := range addresses {
		got, err := r.Read(addresses[i])
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, records[i])
		if i > 0 && addresses[i] <= addresses[i-1] {
			t.Fatalf("address %v after %v", addresses[i], addresses[i-1])
		}
	}
	n := 0
	err := r.Scan(0, func(p vocab.Address, rec *Record) error {
		if p != addresses[n] {
			t.Fatalf("scan meets %v, want %v", p, addresses[n])
		}
		same(t, *rec, records[n])
		n++
		return nil
	})
	if err != nil || n != len(addresses) {
		t.Fatalf("scan met %d of %d records: %v", n, len(addresses), err)
	}
}

func same(t *rapid.T, got, want Record) {
	t.Helper()
	if len(got.Page.Body) == 0 && len(want.Page.Body) == 0 {
		got.Page.Body, want.Page.Body = nil, nil
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("read %+v, wrote %+v", got, want)
	}
}

// A crash leaves a prefix of the file, perhaps with rubbish after it. Every whole block survives.
func TestAnyCutLosesOnlyWhatIsCut(t *testing.T) {
	whole := t.TempDir()
	r := mustOpen(t, whole, Options{BlockBytes: 1000})
	var addresses []vocab.Address
	var ends []int64
	for doc := vocab.DocID(1); doc <= 12; doc++ {
		addresses = append(addresses, mustAppend(t, r, page(doc, strings.Repeat(fmt.Sprint("word", doc), int(doc)*20)))...)
		ends = append(ends, r.End().Offset())
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(whole, "000001.repo"))
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		if err != nil {
			t.Fatal(err)
		}
		cut := rapid.IntRange(0, len(data)).Draw(t, "cut")
		rubbish := rapid.SliceOf(rapid.Byte()).Draw(t, "rubbish")
		if cut < fileHeader {
			rubbish = nil
		}
		left := append(bytes.Clone(data[:cut]), rubbish...)
		if err := os.WriteFile(filepath.Join(dir, "000001.repo"), left, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		end := int64(fileHeader)
		for i, p := range addresses {
			_, err := r.Read(p)
			if ends[i] <= int64(cut) {
				end = ends[i]
				if err != nil {
					t.Fatalf("document %d is lost by a cut at %d: %v", i+1, cut, err)
				}
			} else if err == nil && !bytes.HasPrefix(data[cut:], rubbish) {
				t.Fatalf("document %d is there after a cut at %d", i+1, cut)
			}
		}
		if got := r.End().Offset(); got < end || (len(rubbish) == 0 && got != end) {
			t.Fatalf("cut at %d: the end is %d, want %d", cut, got, end)
		}
		addresses, err := r.Append([]Record{page(99, "after")})
		if err != nil {
			t.Fatal(err)
		}
		if rec, err := r.Read(addresses[0]); err != nil || string(rec.Page.Body) != "after" {
			t.Fatalf("read after recovery: %v, %v", rec, err)
		}
		if _, err := Check(dir, func(problem error) { t.Errorf("check: %v", problem) }); err != nil {
			t.Fatal(err)
		}
	})
}

// TestUnbegun: a crash can leave a last file without a header, with a part of one, or with zeros in its place.
// Check does not report damage then, and the next writer continues the file. It reports zeros before more bytes.
func TestUnbegun(t *testing.T) {
	header := makeFileHeader(1)
	for _, left := range [][]byte{nil, header[:7], make([]byte, fileHeader), make([]byte, fileHeader+1)} {
		dir, isDamage := t.TempDir(), len(left) > fileHeader
		if err := os.WriteFile(filepath.Join(dir, "000001.repo"), left, 0o600); err != nil {
			t.Fatal(err)
		}
		var problem error
		if _, err := Check(dir, func(err error) { problem = err }); err != nil || errors.As(problem, new(*TailError)) == isDamage {
			t.Errorf("check of %x: %v, %v", left, problem, err)
		}
		r, err := Open(dir, Options{})
		if err != nil != isDamage {
			t.Errorf("open of %x: %v", left, err)
		}
		if err == nil {
			mustAppend(t, r, page(1, "one"))
			r.Close()
		}
	}
}

// Damage in the middle costs the block that it hits; file and offset are named.
func TestDamageCostsOneBlock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "000001.repo")
	r := mustOpen(t, dir, Options{BlockBytes: 1})
	addresses := mustAppend(t, r, page(1, "one"), page(2, "two"), page(3, "three"))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := addresses[1].Offset(); at < addresses[2].Offset(); at++ {
		bad := bytes.Clone(whole)
		bad[at] ^= 0x41
		if err := os.WriteFile(path, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		r := mustOpen(t, dir, Options{})
		if rec := r.Recovered(); rec.Cut != 0 || len(rec.Damaged) != 1 {
			t.Fatalf("byte %d: recovered %+v", at, rec)
		}
		var docs []vocab.DocID
		err := r.Scan(0, func(_ vocab.Address, rec *Record) error {
			docs = append(docs, rec.Page.Doc)
			return nil
		})
		var damage *DamageError
		if !errors.As(err, &damage) || damage.File != path || damage.Offset != addresses[1].Offset() || !reflect.DeepEqual(docs, []vocab.DocID{1, 3}) {
			t.Fatalf("byte %d: scan met %v: %v", at, docs, err)
		}
		if _, err := r.Read(addresses[1]); err == nil {
			t.Fatalf("byte %d: the damaged record is read", at)
		}
		problems := 0
		if _, err := Check(dir, func(error) { problems++ }); err != nil || problems != 1 {
			t.Fatalf("byte %d: check finds %d problems, %v", at, problems, err)
		}
		r.Close()
	}
}

// A block inside a page is not found when the block around it is damaged: it is not in its address.
func TestABlockInAPageIsNoBlock(t *testing.T) {
	dir := t.TempDir()
	r := mustOpen(t, dir, Options{})
	mustAppend(t, r, page(1, "bait"))
	inner, err := os.ReadFile(filepath.Join(dir, "000001.repo"))
	if err != nil {
		t.Fatal(err)
	}
	addresses := mustAppend(t, r, page(2, string(inner[fileHeader:])), page(3, "after"))
	want := mustAppend(t, r, page(4, "last"))[0].Offset()
	r.Close()
	data, err := os.ReadFile(filepath.Join(dir, "000001.repo"))
	if err != nil {
		t.Fatal(err)
	}
	at := addresses[0].Offset()
	if bytes.Count(data[at:], []byte(blockMagic)) < 3 {
		t.Fatal("the bait was compressed away")
	}
	data[at+5] ^= 1
	if got := nextBlock(bytes.NewReader(data), 1, at, int64(len(data))); got != want {
		t.Errorf("the next block is found at %d, want %d", got, want)
	}
}

func TestNoRecord(t *testing.T) {
	r := mustOpen(t, t.TempDir(), Options{})
	addresses := mustAppend(t, r, page(1, "one"))
	for _, bad := range []vocab.Address{0, addresses[0] + 1, vocab.MakeAddress(1, 20, 0), vocab.MakeAddress(2, 16, 0)} {
		if _, err := r.Read(bad); !errors.Is(err, ErrNoRecord) {
			t.Errorf("read %v: %v", bad, err)
		}
	}
	if _, err := r.Append([]Record{{}}); err == nil || !strings.Contains(err.Error(), "unknown kind") {
		t.Errorf("append of nothing: %v", err)
	}
	if _, err := r.Append([]Record{page(5, strings.Repeat("x", MaxRecord))}); err == nil || !strings.Contains(err.Error(), "document 5") {
		t.Errorf("append of too much: %v", err)
	}
	if _, err := OpenReader(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reader of nothing: %v", err)
	}
}

func TestOtherVersionsAndStrangersAreRefused(t *testing.T) {
	for want, change := range map[string]func(b []byte){
		"version 9":             func(b []byte) { b[8] = 9 },
		"not a repository file": func(b []byte) { b[0] = 'x' },
		"name of file 1":        func(b []byte) { b[12] = 5 },
	} {
		dir := t.TempDir()
		b := makeFileHeader(1)
		change(b)
		if err := os.WriteFile(filepath.Join(dir, "000001.repo"), b, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("open: %v, want %q", err, want)
		}
		r, err := OpenReader(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Scan(0, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("scan: %v, want %q", err, want)
		}
		r.Close()
	}
}

// What a failed Sync leaves unsure is taken back.
func TestFailedSync(t *testing.T) {
	dir := t.TempDir()
	var room int64 = 1 << 20
	var failSync bool
	r, err := open(fullDisk{durable.OS, &room, &failSync}, dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	kept := mustAppend(t, r, page(1, "kept"))
	if err := r.Sync(); err != nil {
		t.Fatal(err)
	}
	lost := mustAppend(t, r, page(2, "lost"))
	if _, err := r.Read(lost[0]); err != nil {
		t.Fatal(err)
	}
	failSync = true
	if err := r.Sync(); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("sync: %v", err)
	}
	failSync = false
	if _, err := r.Read(lost[0]); err == nil {
		t.Error("a record whose sync failed is still there")
	}
	again := mustAppend(t, r, page(3, "again"))
	if err := r.Sync(); err != nil {
		t.Fatal(err)
	}
	for i, p := range []vocab.Address{kept[0], again[0]} {
		if rec, err := r.Read(p); err != nil || int(rec.Page.Doc) != 2*i+1 {
			t.Errorf("read %v: %v, %v", p, rec, err)
		}
	}
}

// A file that is full is synced before the next one is begun. If that fails, the next Sync must
// not say that all is well.
func TestFailedSyncBetweenFiles(t *testing.T) {
	var room int64 = 1 << 20
	var failSync bool
	r, err := open(fullDisk{durable.OS, &room, &failSync}, t.TempDir(), Options{FileBytes: 300, BlockBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	mustAppend(t, r, page(1, "early"))
	failSync = true
	addresses, err := r.Append([]Record{page(2, "two"), page(3, "three"), page(4, "four"), page(5, "five")})
	if !errors.Is(err, syscall.ENOSPC) || len(addresses) > 0 {
		t.Fatalf("append: %v, %v", addresses, err)
	}
	failSync = false
	if err := r.Sync(); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("sync: %v", err)
	}
	addresses = mustAppend(t, r, page(6, "six"))
	if err := r.Sync(); err != nil {
		t.Fatal(err)
	}
	if rec, err := r.Read(addresses[0]); err != nil || rec.Page.Doc != 6 {
		t.Fatalf("read: %v, %v", rec, err)
	}
}

// A fullDisk has room for so many bytes.
type fullDisk struct {
	durable.FS
	room     *int64
	failSync *bool
}

func (d fullDisk) OpenFile(name string, flag int, perm fs.FileMode) (durable.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	return fullDiskFile{f, d, name}, err
}

type fullDiskFile struct {
	durable.File
	fullDisk
	name string
}

func (d fullDiskFile) Stat() (fs.FileInfo, error) { return d.File.Stat() }

func (d fullDiskFile) WriteAt(b []byte, at int64) (int, error) {
	info, err := d.Stat()
	if err != nil {
		return 0, err
	}
	grow := max(at+int64(len(b))-info.Size(), 0)
	if grow > *d.room {
		fits := max(int64(len(b))-grow+*d.room, 0)
		n, _ := d.File.WriteAt(b[:fits], at)
		return n, &fs.PathError{Op: "write", Path: d.name, Err: syscall.ENOSPC}
	}
	*d.room -= grow
	return d.File.WriteAt(b, at)
}

func (d fullDiskFile) Sync() error {
	if *d.failSync {
		return &fs.PathError{Op: "sync", Path: d.name, Err: syscall.ENOSPC}
	}
	return d.File.Sync()
}

func TestFullDisk(t *testing.T) {
	for _, fileBytes := range []int64{1 << 20, 200} { // the second needs a new file for every block
		dir := t.TempDir()
		var room int64 = 600
		var failSync bool
		r, err := open(fullDisk{durable.OS, &room, &failSync}, dir, Options{FileBytes: fileBytes, BlockBytes: 200})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var batch []Record
		for doc := range vocab.DocID(20) {
			batch = append(batch, page(doc+1, fmt.Sprintf("%x", hash(doc))))
		}
		written, err := r.Append(batch)
		if !errors.Is(err, syscall.ENOSPC) || len(written) == 0 || len(written) == len(batch) {
			t.Fatalf("append: %d addresses, %v", len(written), err)
		}
		for range 3 {
			if _, err := r.Append(batch[len(written):]); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("append again: %v", err)
			}
		}
		if _, err := Check(dir, func(problem error) { t.Errorf("check: %v", problem) }); err != nil {
			t.Fatal(err)
		}
		room = 1 << 20
		mustAppend(t, r, batch[len(written):]...)
		again := mustAppend(t, r, page(60, "again"))
		if err := r.Sync(); err != nil {
			t.Fatal(err)
		}
		if rec, err := r.Read(again[0]); err != nil || rec.Page.Doc != 60 {
			t.Fatalf("read: %v, %v", rec, err)
		}
		if _, err := Check(dir, func(problem error) { t.Errorf("check: %v", problem) }); err != nil {
			t.Fatal(err)
		}
	}
}

// synced has the documents of the records that a Sync acknowledged, by their addresses.
type synced map[vocab.Address]vocab.DocID

// write appends the pages of documents from from up to to, and syncs each.
func (s synced) write(d *durabletest.Disk, dir string, o Options, from, to vocab.DocID) error {
	r, err := open(d, dir, o)
	if err != nil {
		return err
	}
	defer r.Reader.Close()
	for doc := from; doc < to; doc++ {
		addresses, err := r.Append([]Record{page(doc, strings.Repeat("text ", int(doc)))})
		if err != nil {
			return err
		}
		if err := r.Sync(); err != nil {
			return err
		}
		s[addresses[0]] = doc
	}
	return r.Close()
}

// verify fails unless every record is read after a crash, and the repository takes more. It returns
// the folders where the records are.
func (s synced) verify(t *testing.T, after *durabletest.Disk, dir string, o Options, done bool) (folders []string) {
	t.Helper()
	r, err := open(after, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for address, doc := range s {
		if rec, err := r.Read(address); err != nil || rec.Page.Doc != doc {
			t.Fatalf("record %v of document %d, done %v: %v, %v", address, doc, done, rec.Page.Doc, err)
		}
		folders = append(folders, filepath.Dir(r.path(address.File())))
	}
	if _, err := r.Append([]Record{page(9, "after")}); err != nil {
		t.Fatal(err)
	}
	return folders
}

// After a crash at any call every record that a Sync acknowledged is read, and the repository takes
// more.
func TestSyncedRecordsSurviveCrash(t *testing.T) {
	o := Options{FileBytes: 300, BlockBytes: 1, Level: zstd.SpeedFastest, CacheBytes: -1}
	synced := synced{}
	durabletest.EachStop(t,
		func(d *durabletest.Disk) error {
			clear(synced)
			return synced.write(d, "/data/repository", o, 1, 2)
		},
		func(d *durabletest.Disk) error { return synced.write(d, "/data/repository", o, 2, 7) },
		func(after *durabletest.Disk, done bool) {
			synced.verify(t, after, "/data/repository", o, done)
		})
	if len(synced) != 6 {
		t.Errorf("%d records were synced in the end", len(synced))
	}
}

// TestKilledThenCrash: a process that is killed leaves blocks that are not synced, and perhaps a file
// whose name is not. The next process finds them, and so relies on them: after a crash of the machine
// they are there, with what that process synced, and nothing is damaged, also where it began another
// file.
func TestKilledThenCrash(t *testing.T) {
	o := Options{FileBytes: 400, BlockBytes: 1, Level: zstd.SpeedFastest, CacheBytes: -1}
	const folder, docs = "/data/repository", 6
	fill := func(d *durabletest.Disk) error {
		r, err := open(d, folder, o)
		for doc := vocab.DocID(1); doc <= docs && err == nil; doc++ {
			_, err = r.Append([]Record{page(doc, strings.Repeat("text ", int(doc)))})
		}
		return err
	}
	unsynced, done := 0, false
	for n := 1; !done; n++ {
		for _, roll := range []bool{false, true} {
			d := durabletest.NewDisk()
			if err := errors.Join(d.Mkdir("/data", 0o700), d.SyncFolder("/")); err != nil {
				t.Fatal(err)
			}
			d.StopAt(n)
			err := fill(d)
			if done = err == nil; !done && !errors.Is(err, durabletest.ErrStopped) {
				t.Fatal(err)
			}
			d.StopAt(math.MaxInt32) // the disk goes on; the process does not
			r, err := open(d, folder, o)
			if err != nil {
				t.Fatal(err)
			}
			want := scanned(t, r)
			unsynced += len(want)
			if roll {
				if err := r.Roll(); err != nil {
					t.Fatal(err)
				}
			}
			crashed(t, d, folder, want, n)
			if _, err := r.Append([]Record{page(docs+1, "after")}); err != nil {
				t.Fatal(err)
			}
			if err := r.Sync(); err != nil {
				t.Fatal(err)
			}
			crashed(t, d, folder, scanned(t, r), n)
		}
	}
	if unsynced < docs {
		t.Errorf("%d records were found", unsynced)
	}
}

// crashed fails unless a repository has just these records after a crash of its disk.
func crashed(t *testing.T, d *durabletest.Disk, folder string, want []vocab.DocID, n int) {
	t.Helper()
	r, err := open(d.Crash(nil), folder, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := scanned(t, r); !slices.Equal(got, want) || r.Recovered().Damaged != nil {
		t.Fatalf("killed at call %d: documents %v, want %v; damage %v", n, got, want, r.Recovered().Damaged)
	}
}

// scanned returns the documents of all records.
func scanned(t *testing.T, r *Repository) (docs []vocab.DocID) {
	t.Helper()
	err := r.Scan(0, func(_ vocab.Address, rec *Record) error {
		docs = append(docs, rec.Page.Doc)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func hash(doc vocab.DocID) []byte {
	b := make([]byte, 30)
	for i := range b {
		doc = doc*6364136223846793005 + 1442695040888963407
		b[i] = byte(doc >> 56)
	}
	return b
}

// A reader of another process sees whole blocks only, at every moment of an append.
func TestReaderBesideAWriter(t *testing.T) {
	dir := t.TempDir()
	r := mustOpen(t, dir, Options{})
	mustAppend(t, r, page(1, "one"))
	before := r.End().Offset()
	mustAppend(t, r, page(2, strings.Repeat("two", 100)))
	r.Close()
	data, err := os.ReadFile(filepath.Join(dir, "000001.repo"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "000001.repo")
	for cut := range len(data) + 1 {
		if err := os.WriteFile(path, data[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		want := 0
		if cut == len(data) {
			want = 2
		} else if cut >= int(before) {
			want = 1
		}
		other, err := OpenReader(dir)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		if err := other.Scan(0, func(vocab.Address, *Record) error { n++; return nil }); err != nil || n != want {
			t.Fatalf("%d bytes: scan meets %d records, %v; want %d", cut, n, err, want)
		}
		other.Close()
	}
}

func FuzzRecord(f *testing.F) {
	cut := page(2, "cut")
	cut.Page.Truncated = vocab.Disconnected
	for _, r := range []Record{page(1, "one"), cut, {Kind: DuplicateRecord, Of: 1}, {Kind: RedirectRecord, Location: "x"}} {
		f.Add(r.append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r, again Record
		if r.decode(b) != nil {
			return
		}
		if err := again.decode(r.append(nil)); err != nil || !reflect.DeepEqual(r, again) {
			t.Fatalf("%+v became %+v, %v", r, again, err)
		}
	})
}

func FuzzBlock(f *testing.F) {
	p, err := newPacker(zstd.SpeedFastest)
	if err != nil {
		f.Fatal(err)
	}
	b := p.pack([]Record{page(1, "one"), page(2, "two")}, 1, 0)
	f.Add(uint16(2), uint32(len(p.raw)), b[blockHeader:])
	f.Fuzz(func(t *testing.T, records uint16, raw uint32, stored []byte) {
		if records == 0 || int(records) > maxRecords || raw > 1<<20 || int(raw) < int(records)*(endSize+1) {
			return
		}
		h := header{records: int(records), raw: int(raw), stored: len(stored)}
		var u unpacker
		whole, err := u.unpack(h, stored, nil)
		if err != nil {
			return
		}
		part, err := u.unpackTo(h, stored, 0)
		if err != nil || !bytes.Equal(part.record(0), whole.record(0)) {
			t.Fatalf("the first record alone is %v, %v", part, err)
		}
	})
}

// TestScrub: whatever the portion, portion after portion reads every block once, or twice at a seam, and meets each damage.
func TestScrub(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(dir, Options{BlockBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range 50 {
		page := vocab.Page{Doc: vocab.DocID(i + 1), URL: fmt.Sprintf("http://a.test/%d", i), Body: bytes.Repeat([]byte{byte(i), byte(7 * i)}, 400)}
		if _, err := r.Append([]Record{{Kind: PageRecord, Page: page}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(r.Roll(), r.Sync()); err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []bool{false, true} {
		if damaged {
			b, err := os.ReadFile(filepath.Join(dir, fileName(1)))
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)/2] ^= 4
			if err := os.WriteFile(filepath.Join(dir, fileName(1)), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		all := int64(0)
		for _, most := range []int64{1 << 30, 1, 100, 5000} {
			problems, total, portions := map[string]bool{}, int64(0), 0
			for from, begun := vocab.Address(0), true; begun || from != 0; begun = false {
				next, read, err := r.Scrub(from, most, func(problem error) { problems[problem.Error()] = true })
				if err != nil || next != 0 && next <= from {
					t.Fatalf("from %v to %v: %v", from, next, err)
				}
				total, from = total+read, next
				portions++
			}
			if all == 0 {
				all = total
			}
			if total < all || total > 2*all || damaged != (len(problems) == 1) || most == 1 && portions < 40 {
				t.Errorf("portions of %d: %d of %d bytes in %d, problems %v", most, total, all, portions, problems)
			}
			if damaged {
				all = 0
			}
		}
	}
}

// A file of the repository is never begun over another.
func TestFilesAreNotReplaced(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := filepath.Join(dir, fileName(1))
	if err := os.WriteFile(path, []byte("of another"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Append([]Record{page(1, "text")}); !errors.Is(err, os.ErrExist) {
		t.Errorf("Append: %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "of another" {
		t.Errorf("the file is %q, %v", b, err)
	}
}

// After SkipTo no record gets an address up to the given one.
func TestSkipTo(t *testing.T) {
	r, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, past := range []vocab.Address{vocab.MakeAddress(1, 500, 3), vocab.MakeAddress(1, 16, 0), vocab.MakeAddress(7, 1000, 0)} {
		if err := r.SkipTo(past); err != nil {
			t.Fatal(err)
		}
		addresses, err := r.Append([]Record{page(1, "text")})
		if err != nil || addresses[0] <= past {
			t.Errorf("after %v a record is at %v, %v", past, addresses, err)
		}
	}
	if end := r.End(); end.File() != 8 {
		t.Errorf("the end is %v", end)
	}
}

// A copy that compaction makes of a page with Link fields keeps them, and can be read.
func TestCopyKeepsLinks(t *testing.T) {
	r := page(1, "text")
	r.Page.Links, r.Copy = `<http://a.test/>; rel="canonical"`, true
	var again Record
	if err := again.decode(r.append(nil)); err != nil || !reflect.DeepEqual(r, again) {
		t.Errorf("%+v became %+v, %v", r, again, err)
	}
}
