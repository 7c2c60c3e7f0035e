package upkeep_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/disk/repository"
	"anatomy/disk/segment"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
	"anatomy/vocab"
)

// What is purged is in no file of the folder: no record, text, anchor text or older version, nor in
// what a killed backup or a repair left. What was not purged is there and can be found.
func TestPurge(t *testing.T) {
	w := testweb.New(t)
	const secret = "zyzzyvasecret"
	w.Page("one.test/", `<title>One</title><a href="http://two.test/">the second</a><p>heron`)
	w.Page("two.test/", `<title>Two `+secret+`</title><p>heron `+secret+` <a href="http://one.test/three">`+secret+` link</a>`)
	w.Page("one.test/three", `<title>Three</title><p>heron three`)
	o := w.Options(filepath.Join(t.TempDir(), "data[1]"), "http://one.test/", "http://two.test/") // no pattern
	testweb.Crawl(t, o)
	w.Page("two.test/", `<title>Two anew `+secret+`</title><p>heron another `+secret+` <a href="http://one.test/three">`+secret+` link</a>`)
	testweb.Crawl(t, testweb.Recrawling(o))
	if n := holding(t, o.Dir, secret); n < 3 {
		t.Fatalf("the secret is in %d places", n)
	}
	left := filepath.Join(o.Dir, "snapshot", "data")
	testweb.Must(t, os.CopyFS(left, os.DirFS(datadir.Repository(o.Dir)))) // a backup that was killed
	testweb.Must(t, os.CopyFS(datadir.DamagedDocIndex(o.Dir), os.DirFS(datadir.DocIndex(o.Dir))))

	report, err := upkeep.Purge(t.Context(), o.Dir, []string{"two.test"}, engine.Options{})
	testweb.Must(t, err)
	if report.Documents != 1 || report.Dropped < 2 || report.Proved < 4 || report.After >= report.Before {
		t.Errorf("%+v", report)
	}
	if n := holding(t, o.Dir, secret); n > 0 {
		t.Errorf("the secret is in %d places", n)
	}
	for _, path := range []string{left, datadir.DamagedDocIndex(o.Dir)} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
	sound(t, o.Dir)
	if found := testweb.URLs(testweb.Results(t, testweb.OpenSearcher(t, o.Dir), "heron")); len(found) != 2 {
		t.Errorf("found %v", found)
	}
	if again, err := upkeep.Purge(t.Context(), o.Dir, []string{"two.test"}, engine.Options{}); err != nil || again.Documents != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// holding counts the places of a data folder that hold a text: records, documents, anchor texts, and
// the bytes of all files.
func holding(t *testing.T, dir, text string) (n int) {
	t.Helper()
	count := func(b string) {
		if strings.Contains(strings.ToLower(b), text) {
			n++
		}
	}
	testweb.Must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		count(string(bytes.ToLower(b)))
		return err
	}))
	repo, err := repository.OpenReader(datadir.Repository(dir))
	testweb.Must(t, err)
	defer repo.Close()
	testweb.Must(t, repo.Scan(0, func(_ vocab.Address, r *repository.Record) error {
		count(string(r.Page.Body))
		return nil
	}))
	names, err := filepath.Glob(filepath.Join(dir, "index", "*"))
	testweb.Must(t, err)
	for _, name := range names {
		s, err := segment.Open(name, nil)
		testweb.Must(t, err)
		testweb.Must(t, s.EachDoc(func(_ vocab.Ordinal, info vocab.DocInfo) error {
			count(info.Title + info.Text)
			return nil
		}))
		df, err := s.DF(segment.Full, []byte(text))
		testweb.Must(t, err)
		n += df
		testweb.Must(t, s.Close())
	}
	runs, err := filepath.Glob(filepath.Join(dir, "links", "*"))
	testweb.Must(t, err)
	for _, name := range runs {
		run, err := linkdb.Open(name)
		testweb.Must(t, err)
		for anchors, err := range run.Anchors() {
			testweb.Must(t, err)
			for _, a := range anchors.Texts {
				count(a.Text)
			}
		}
		testweb.Must(t, run.Close())
	}
	return n
}

// What is unblocked comes back from the repository, as it was, without a request and whatever the
// scope of the next crawl.
func TestUndoNeedsNoFetch(t *testing.T) {
	w := testweb.New(t)
	w.Page("one.test/", `<title>One</title><a href="http://two.test/">the second</a> <a href="/copy">copy</a><p>heron`)
	w.Page("one.test/copy", `<title>copied</title><p>heron in two places`)
	w.Page("two.test/", `<title>Two</title><p>heron <a href="http://two.test/deep">deep</a> <a href="/moved">x</a> <a href="/copy">y</a>`)
	w.Page("two.test/deep", `<title>deep</title><p>heron deep`)
	w.Page("two.test/copy", `<title>copied</title><p>heron in two places`)
	w.Redirect("two.test/moved", "/deep")
	o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/", "http://two.test/")
	testweb.Crawl(t, o)
	want, found := testweb.Fates(t, o.Dir), testweb.Searchable(t, o.Dir)
	_, err := upkeep.Block(t.Context(), o.Dir, []string{"two.test"})
	testweb.Must(t, err)
	if n := len(testweb.Searchable(t, o.Dir)); n >= len(found) {
		t.Fatalf("%d of %d documents after blocking", n, len(found))
	}
	w.Requests()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	report, err := upkeep.Unblock(ctx, o.Dir, []string{"two.test"})
	testweb.Must(t, err)
	if report.Restored != 4 || len(w.Requests()) > 0 {
		t.Errorf("%+v; requests %v", report, w.Requests())
	}
	testweb.SameMaps(t, "pages", testweb.Fates(t, o.Dir), want)
	sound(t, o.Dir)
	narrow := w.Options(o.Dir, "http://one.test/")
	testweb.Crawl(t, narrow)
	if asked := w.Requests(); asked["two.test/"]+asked["two.test/deep"] > 0 {
		t.Errorf("asked for %v", asked)
	}
	testweb.SameMaps(t, "pages", testweb.Fates(t, o.Dir), want)
	testweb.SameLists(t, "index", testweb.Searchable(t, o.Dir), found)
}

// TestRestoredPagesAreRevisited: the next recrawl visits pages that were blocked and unblocked since the
// last one. The patterns of the folder are then those of the last recrawl.
func TestRestoredPagesAreRevisited(t *testing.T) {
	w := testweb.New(t)
	w.Page("one.test/", `<title>One</title><a href="/a">a</a> <a href="/b">b</a>`)
	w.Page("one.test/a", `<title>a</title><p>heron`)
	w.Page("one.test/b", `<title>b</title><p>stork`)
	o := testweb.Recrawling(w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/"))
	testweb.Crawl(t, o)
	for _, do := range []func(context.Context, string, []string) (control.BlockReport, error){upkeep.Block, upkeep.Unblock} {
		_, err := do(t.Context(), o.Dir, []string{"http://one.test/a"})
		testweb.Must(t, err)
	}
	w.Requests()
	testweb.Crawl(t, o)
	if asked := w.Requests(); asked["one.test/a"] != 1 || asked["one.test/b"] != 1 {
		t.Errorf("the recrawl asked for %v", asked)
	}
}
