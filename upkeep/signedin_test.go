package upkeep_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anatomy/crawler/signin"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/repository"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
	"anatomy/vocab"
	"anatomy/warc"
)

// marksOf returns of each URL whose page is current whether it is marked as fetched with
// credentials: in the document index, and in the repository. It fails if these differ.
func marksOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	marks := map[string]bool{}
	repo, err := repository.OpenReader(datadir.Repository(dir))
	testweb.Must(t, err)
	defer repo.Close()
	testweb.Must(t, docindex.Read(dir, func(db *docindex.DB) error {
		return db.Each(1, func(d docindex.Record) error {
			if d.Fetch == nil || d.Fetch.Outcome != vocab.Fetched && d.Fetch.Outcome != vocab.Redirected {
				return nil
			}
			marks[d.URL] = d.Fetch.SignedIn
			if d.Fetch.Address == 0 {
				return nil
			}
			r, err := repo.Read(d.Fetch.Address)
			if err == nil && r.Page.SignedIn != d.Fetch.SignedIn {
				err = fmt.Errorf("%s: the repository has mark %v, the document index %v", d.URL, r.Page.SignedIn, d.Fetch.SignedIn)
			}
			return err
		})
	}))
	return marks
}

// TestMarkSurvives: that a page was fetched with credentials is known after everything that moves
// pages: compaction, backup and restore, the loss of the document index, a rebuilt index, export and
// import. So is the mark of the folder.
func TestMarkSurvives(t *testing.T) {
	w := testweb.New(t)
	for _, host := range []string{"open", "closed"} {
		w.Page(host+".test/", `<title>Home</title><p>`+host+` home <a href="/a">a</a> <a href="/moved">m</a> <a href="/same">t</a> <a href="/gone">g</a>`)
		w.Page(host+".test/a", `<title>A</title><p>some text of `+host)
		w.Page(host+".test/same", `<title>A</title><p>some text of `+host)
		w.Page(host+".test/gone", `<title>Gone</title><p>text of `+host+` that is blocked later`)
		w.Redirect(host+".test/moved", "/a")
	}
	dir := filepath.Join(t.TempDir(), "data")
	o := w.Options(dir, "http://open.test/", "http://closed.test/")
	var err error
	o.Crawler.Credentials, err = signin.Parse(strings.NewReader("http://closed.test basic ada:horse\n"))
	testweb.Must(t, err)
	testweb.Crawl(t, o)
	want := marksOf(t, dir)
	private := 0
	for url, marked := range want {
		if marked != strings.HasPrefix(url, "http://closed.test/") {
			t.Errorf("%s: marked %v", url, marked)
		}
		if marked {
			private++
		}
	}
	if len(want) != 10 || private != 5 || !datadir.IsPrivate(dir) {
		t.Fatalf("%v, of the folder: %v", want, datadir.IsPrivate(dir))
	}
	same := func(what, dir string) {
		t.Helper()
		if got := marksOf(t, dir); !maps.Equal(got, want) || !datadir.IsPrivate(dir) {
			t.Errorf("after %s: %v, of the folder %v, want %v", what, got, datadir.IsPrivate(dir), want)
		}
	}

	var archive bytes.Buffer
	to, err := warc.NewWriter(&archive, warc.Plain)
	testweb.Must(t, err)
	_, err = upkeep.Export(t.Context(), to, dir, upkeep.ExportOptions{})
	testweb.Must(t, err)
	imported := filepath.Join(t.TempDir(), "data")
	_, err = upkeep.Import(t.Context(), upkeep.ImportOptions{
		Dir: imported, Files: []string{"archive"},
		Open: func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil },
	})
	testweb.Must(t, err)
	same("export and import", imported)

	_, err = upkeep.Block(t.Context(), dir, []string{"http://open.test/gone", "http://closed.test/gone"})
	testweb.Must(t, err)
	delete(want, "http://open.test/gone")
	delete(want, "http://closed.test/gone")
	same("blocking", dir)
	report, err := upkeep.Compact(t.Context(), dir, engine.CompactOptions{})
	testweb.Must(t, err)
	if report.Rewritten == 0 || report.Kept == 0 {
		t.Errorf("nothing was compacted: %+v", report)
	}
	same("compaction", dir)

	var b bytes.Buffer
	_, err = upkeep.Backup(t.Context(), &b, dir, nil)
	testweb.Must(t, err)
	restored := filepath.Join(t.TempDir(), "data")
	_, err = upkeep.Restore(t.Context(), &b, restored, nil)
	testweb.Must(t, err)
	same("restore", restored)

	_, err = upkeep.Rebuild(t.Context(), restored, upkeep.RebuildOptions{})
	testweb.Must(t, err)
	same("a rebuilt index", restored)

	manifests, err := filepath.Glob(filepath.Join(datadir.DocIndex(restored), "MANIFEST-*"))
	testweb.Must(t, err)
	for _, name := range manifests {
		testweb.Must(t, os.WriteFile(name, []byte("not a manifest"), 0o600))
	}
	problems := 0
	r, err := upkeep.Repair(t.Context(), restored, upkeep.RepairOptions{}, upkeep.CheckReport{
		Checked: func(string, string) {}, Problem: func(error) { problems++ },
	})
	testweb.Must(t, err)
	if len(manifests) == 0 || problems == 0 || r.Salvaged == nil {
		t.Fatalf("the document index was not rebuilt: %d manifests, %+v", len(manifests), r)
	}
	// What was blocked is lost with the document index, see doc/operations.md.
	got := marksOf(t, restored)
	for url, marked := range want {
		if is, known := got[url]; is != marked || !known && !strings.HasSuffix(url, "/moved") {
			t.Errorf("after a repair: %s has mark %v, known: %v", url, is, known)
		}
	}
	if !datadir.IsPrivate(restored) {
		t.Error("after a repair the folder is not marked")
	}
}

// TestPublicFails has no space for the public pages. The error is that, and not that the export ended.
func TestPublicFails(t *testing.T) {
	web := testweb.Generate(t, 3, 20, 0)
	dir := filepath.Join(t.TempDir(), "data")
	testweb.Crawl(t, web.Options(dir, web.Seed))
	_, err := upkeep.Public(t.Context(), dir, upkeep.ImportOptions{
		Dir: filepath.Join(t.TempDir(), "public"), MinFree: 1 << 60, Log: slog.New(slog.DiscardHandler),
	})
	if err == nil || errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v, want only the reason", err)
	}
}
