package collection_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anatomy/collection"
	"anatomy/disk/damage"
	"anatomy/internal/test/testweb"
	"anatomy/ranking"
	"anatomy/searcher"
)

// TestReadersReportDamage: each reader of a damaged structure reports it to the Log, whichever
// report needs it, and returns an error without paths of the server.
func TestReadersReportDamage(t *testing.T) {
	for _, c := range []struct {
		structure string
		files     string // that are damaged
		ask       func(*collection.Site) error
	}{
		{damage.Links, "links/*.links", func(s *collection.Site) error {
			_, err := s.Search(t.Context(), searcher.Request{Query: "link:one.test/a", Limit: 10})
			return err
		}},
		{damage.Links, "links/*.links", func(s *collection.Site) error {
			_, err := s.Report(t.Context(), "one.test", 10)
			return err
		}},
		{damage.Rank, "rank/*", func(s *collection.Site) error {
			_, err := s.Links(t.Context(), 1, 10, nil)
			return err
		}},
		{damage.Rank, "rank/*", func(s *collection.Site) error {
			_, err := s.Trace(t.Context(), "one.test/a")
			return err
		}},
		{damage.Documents, "docindex/*MANIFEST-*", func(s *collection.Site) error {
			_, err := s.Trace(t.Context(), "one.test/a")
			return err
		}},
		{damage.Documents, "docindex/*MANIFEST-*", func(s *collection.Site) error {
			_, err := s.Report(t.Context(), "one.test", 10)
			return err
		}},
		{damage.Index, "index/*/texts", func(s *collection.Site) error {
			_, err := s.Trace(t.Context(), "one.test/a")
			return err
		}},
	} {
		w := testweb.New(t)
		w.Page("one.test/", `<title>One</title><a href="/a">a</a> <a href="http://two.test/">two</a>`)
		w.Page("one.test/a", `<title>A</title><p>text of a page<a href="/">one</a>`)
		dir := t.TempDir()
		testweb.Crawl(t, w.Options(dir, "http://one.test/"))
		_, err := ranking.Compute(t.Context(), dir, ranking.Options{})
		testweb.Must(t, err)
		log := damage.NewLog(slog.New(slog.DiscardHandler))
		site := openReporting(t, dir, log)
		breakFiles(t, dir, c.files)
		for range 2 {
			if err := c.ask(site); err != nil && strings.Contains(err.Error(), dir) {
				t.Errorf("%s: the error names a path: %v", c.structure, err)
			}
		}
		if n := log.Counts()[c.structure]; n == 0 || len(log.Counts()) > 1 {
			t.Errorf("%s of %s: reported %v", c.structure, c.files, log.Counts())
		}
	}
}

// openReporting opens a data folder whose readers report to log.
func openReporting(t *testing.T, dir string, log *damage.Log) *collection.Site {
	t.Helper()
	links := collection.NewSharedLinks(dir)
	links.Damage = log
	s, err := searcher.Open(dir, searcher.Options{Links: links, Damage: log})
	testweb.Must(t, err)
	site, err := collection.OpenSite(dir, s, links)
	testweb.Must(t, err)
	site.Damage = log
	t.Cleanup(func() {
		testweb.Must(t, site.Close())
		testweb.Must(t, links.Close())
		testweb.Must(t, s.Close())
	})
	return site
}

// breakFiles changes bytes in the files that match a pattern in dir.
func breakFiles(t *testing.T, dir, pattern string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	testweb.Must(t, err)
	if len(files) == 0 {
		all, _ := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
		t.Fatalf("no file matches %s: %v", pattern, all)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		testweb.Must(t, err)
		for i := range b {
			b[i] ^= 0x55
		}
		testweb.Must(t, os.WriteFile(name, b, 0o600))
	}
}
