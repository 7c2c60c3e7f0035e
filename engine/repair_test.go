package engine_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
)

// TestRepair flips bits anywhere in repository, index, links and ranks. A repair corrects what a
// check finds, and the next crawl fetches only the lost pages. The folder then equals the original.
func TestRepair(t *testing.T) {
	seed := seedOf(t)
	r := rand.New(rand.NewPCG(seed, 6))
	w := newMovingWeb(t, seed, 60)
	o := supersede(t, w, 3)
	testweb.Crawl(t, testweb.Recrawling(o)) // confirms what is gone
	want, found := testweb.Fates(t, o.Dir), testweb.Searchable(t, o.Dir)
	damages := [][]string{{"repository", "index"}, {"repository", "repository", "repository"}, {"index", "links", "rank"}, {"links", "repository"}}
	if testing.Short() {
		damages = damages[:1]
	}
	for _, parts := range damages {
		for _, part := range parts {
			flipIn(t, r, filepath.Join(o.Dir, part))
		}
		w.Requests()
		problems := 0
		report, err := upkeep.Repair(t.Context(), o.Dir, upkeep.RepairOptions{}, upkeep.CheckReport{Checked: func(string, string) {}, Problem: func(error) { problems++ }})
		testweb.Must(t, err)
		if report.Problems == 0 || report.Problems != problems || report.Remain > 0 || len(w.Requests()) > 0 {
			t.Errorf("%v: %+v, %d problems", parts, report, problems)
		}
		testweb.Checked(t, o.Dir)
		testweb.Crawl(t, o)
		asked := 0
		for _, n := range w.Requests() {
			asked += n
		}
		if robots := 2; asked > 2*len(report.Lost)+robots || asked < len(report.Lost) {
			t.Errorf("%v: asked %d times, for %d pages that were lost", parts, asked, len(report.Lost))
		}
		testweb.Checked(t, o.Dir)
		testweb.SameMaps(t, "pages", testweb.Fates(t, o.Dir), want)
		testweb.SameLists(t, "index", testweb.Searchable(t, o.Dir), found)
		if t.Failed() {
			t.Fatalf("after damage to %v: %+v", parts, report)
		}
	}
	report, err := upkeep.Repair(t.Context(), o.Dir, upkeep.RepairOptions{}, upkeep.CheckReport{Checked: func(string, string) {}, Problem: func(err error) { t.Error(err) }})
	if testweb.Must(t, err); report.Problems > 0 || report.Files > 0 || report.Rebuilt {
		t.Errorf("whole: %+v", report)
	}
}

// flipIn flips a bit that a check sees, in one of the files of a folder.
func flipIn(t *testing.T, r *rand.Rand, folder string) {
	t.Helper()
	var paths []string
	testweb.Must(t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			paths = append(paths, path)
		}
		return err
	}))
	for range 1000 {
		path := paths[r.IntN(len(paths))]
		whole, err := os.ReadFile(path)
		testweb.Must(t, err)
		if len(whole) == 0 {
			continue
		}
		broken := bytes.Clone(whole)
		broken[r.IntN(len(whole))] ^= 1 << r.IntN(8)
		testweb.Must(t, os.WriteFile(path, broken, 0o644))
		n := 0
		err = upkeep.Check(t.Context(), filepath.Dir(folder), upkeep.CheckReport{Checked: func(string, string) {}, Problem: func(error) { n++ }})
		if n > 0 && err == nil {
			t.Logf("flipped a bit of %s, %d problems", path, n)
			return
		}
		testweb.Must(t, os.WriteFile(path, whole, 0o644)) // bytes that nothing reads
	}
	t.Fatal("no bit matters")
}

// TestRepairHeader: the header of a repository file is rewritten, and nothing is lost.
func TestRepairHeader(t *testing.T) {
	w := newMovingWeb(t, 3, 12)
	o := supersede(t, w, 2)
	want := testweb.Fates(t, o.Dir)
	files, err := filepath.Glob(filepath.Join(datadir.Repository(o.Dir), "*.repo"))
	testweb.Must(t, err)
	for _, path := range files {
		whole, err := os.ReadFile(path)
		testweb.Must(t, err)
		whole[3] ^= 4
		testweb.Must(t, os.WriteFile(path, whole, 0o644))
	}
	problems := 0
	report, err := upkeep.Repair(t.Context(), o.Dir, upkeep.RepairOptions{}, upkeep.CheckReport{Checked: func(string, string) {}, Problem: func(error) { problems++ }})
	testweb.Must(t, err)
	if problems != len(files) || report.Problems != problems || len(report.Lost) > 0 || report.Remain > 0 {
		t.Errorf("%d files: %d problems, %+v", len(files), problems, report)
	}
	testweb.SameMaps(t, "pages", testweb.Fates(t, o.Dir), want)
}

// TestSalvage: whatever is left of the document index, and without a manifest, a repair makes one that agrees with repository
// and index, and a crawl from the same start has the same pages in the end.
func TestSalvage(t *testing.T) {
	seed := seedOf(t)
	r := rand.New(rand.NewPCG(seed, 7))
	w := newMovingWeb(t, seed, 60)
	o := supersede(t, w, 3)
	testweb.Crawl(t, testweb.Recrawling(o))
	_, err := upkeep.Block(t.Context(), o.Dir, []string{"banned.test"})
	testweb.Must(t, err)
	want, found := testweb.Fates(t, o.Dir), testweb.Searchable(t, o.Dir)
	path := filepath.Join(o.Dir, "docindex")
	each := func(pattern string, do func(string) error) func() {
		return func() {
			files, err := filepath.Glob(filepath.Join(path, pattern))
			testweb.Must(t, err)
			if len(files) == 0 {
				t.Fatalf("no %s", pattern)
			}
			for _, f := range files {
				testweb.Must(t, do(f))
			}
		}
	}
	for _, c := range []struct {
		name   string
		damage func()
		kept   bool // something of the old one surely is
	}{
		{"totals that do not agree", func() {
			testweb.Must(t, docindex.Use(o.Dir, func(db *docindex.DB) error {
				counts, err := db.Counts()
				testweb.Must(t, err)
				counts.Pages++
				b := db.NewBatch()
				b.PutCounts(&counts)
				return b.Commit()
			}))
		}, true},
		{"a bit", each("*.sst", func(f string) error {
			b, err := os.ReadFile(f)
			testweb.Must(t, err)
			b[r.IntN(len(b)/2)] ^= 1 << r.IntN(8)
			return os.WriteFile(f, b, 0o644)
		}), false},
		{"no index of the store's files", each("MANIFEST*", os.Remove), false},
		{"tables cut short", each("*.sst", func(f string) error { return os.Truncate(f, 100) }), false},
		{"gone", func() { testweb.Must(t, os.RemoveAll(path)) }, false},
		{"gone, with the manifest", func() {
			testweb.Must(t, os.RemoveAll(path))
			testweb.Must(t, os.WriteFile(filepath.Join(o.Dir, "MANIFEST"), []byte("{"), 0o644))
		}, false},
	} {
		c.damage()
		said := upkeep.CheckReport{Checked: func(string, string) {}, Problem: func(error) {}}
		report, err := upkeep.Repair(t.Context(), o.Dir, upkeep.RepairOptions{}, said)
		testweb.Must(t, err)
		s := report.Salvaged
		if s == nil || report.Remain > 0 || report.Problems == 0 || s.Lost > 0 || c.kept && s.Kept == 0 || s.Kept+s.Pages == 0 {
			t.Errorf("%s: %+v, %+v", c.name, report, s)
		}
		testweb.Checked(t, o.Dir)
		if s != nil && s.NoBlocks {
			_, err := upkeep.Block(t.Context(), o.Dir, []string{"banned.test"})
			testweb.Must(t, err)
		}
		w.Requests()
		testweb.Crawl(t, o)
		if s != nil && s.Stale {
			testweb.Crawl(t, testweb.Recrawling(o))
			testweb.Crawl(t, testweb.Recrawling(o)) // confirms what is gone
		} else if asked := w.Requests(); len(asked) > s.Named+s.Lost {
			t.Errorf("%s: asked for %d URLs, of which %d were to be fetched: %+v", c.name, len(asked), s.Named, s)
		}
		testweb.Checked(t, o.Dir)
		testweb.SameMaps(t, "pages", testweb.Fates(t, o.Dir), want)
		testweb.SameLists(t, "index", testweb.Searchable(t, o.Dir), found)
		if t.Failed() {
			t.Fatalf("after %s: %+v %+v", c.name, report, s)
		}
	}
}
