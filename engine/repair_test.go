package engine

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
)

// TestRepair: bits flipped anywhere in repository, index, links and ranks: what a check finds, a repair mends, and the
// next crawl fetches what was lost, and no more; then all is as it was.
func TestRepair(t *testing.T) {
	seed := seedOf(t)
	r := rand.New(rand.NewPCG(seed, 6))
	w := newMovingWeb(t, seed, 60)
	o := supersede(t, w, 3)
	crawl(t, recrawling(o)) // confirms what is gone
	want, found := fates(t, o.Dir), searchable(t, o.Dir)
	damages := [][]string{{"repository", "index"}, {"repository", "repository", "repository"}, {"index", "links", "rank"}, {"links", "repository"}}
	if testing.Short() {
		damages = damages[:1]
	}
	for _, parts := range damages {
		for _, part := range parts {
			flipIn(t, r, filepath.Join(o.Dir, part))
		}
		w.requests()
		problems := 0
		report, err := Repair(t.Context(), o.Dir, RepairOptions{}, CheckReport{Checked: func(string, string) {}, Problem: func(error) { problems++ }})
		must(t, err)
		if report.Problems == 0 || report.Problems != problems || report.Remain > 0 || len(w.requests()) > 0 {
			t.Errorf("%v: %+v, %d problems", parts, report, problems)
		}
		checked(t, o.Dir)
		crawl(t, o)
		asked := 0
		for _, n := range w.requests() {
			asked += n
		}
		if robots := 2; asked > 2*len(report.Lost)+robots || asked < len(report.Lost) {
			t.Errorf("%v: asked %d times, for %d pages that were lost", parts, asked, len(report.Lost))
		}
		checked(t, o.Dir)
		sameMaps(t, "pages", fates(t, o.Dir), want)
		sameLists(t, "index", searchable(t, o.Dir), found)
		if t.Failed() {
			t.Fatalf("after damage to %v: %+v", parts, report)
		}
	}
	report, err := Repair(t.Context(), o.Dir, RepairOptions{}, CheckReport{Checked: func(string, string) {}, Problem: func(err error) { t.Error(err) }})
	if must(t, err); report.Problems > 0 || report.Files > 0 || report.Rebuilt {
		t.Errorf("whole: %+v", report)
	}
}

// flipIn flips a bit that a check sees, in one of the files of a folder.
func flipIn(t *testing.T, r *rand.Rand, folder string) {
	t.Helper()
	var paths []string
	must(t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			paths = append(paths, path)
		}
		return err
	}))
	for range 1000 {
		path := paths[r.IntN(len(paths))]
		whole, err := os.ReadFile(path)
		must(t, err)
		if len(whole) == 0 {
			continue
		}
		broken := bytes.Clone(whole)
		broken[r.IntN(len(whole))] ^= 1 << r.IntN(8)
		must(t, os.WriteFile(path, broken, 0o644))
		n := 0
		err = Check(t.Context(), filepath.Dir(folder), CheckReport{Checked: func(string, string) {}, Problem: func(error) { n++ }})
		if n > 0 && err == nil {
			t.Logf("flipped a bit of %s, %d problems", path, n)
			return
		}
		must(t, os.WriteFile(path, whole, 0o644)) // bytes that nothing reads
	}
	t.Fatal("no bit matters")
}

// TestRepairHeader: the header of a file of the repository is written anew, and nothing is lost.
func TestRepairHeader(t *testing.T) {
	w := newMovingWeb(t, 3, 12)
	o := supersede(t, w, 2)
	want := fates(t, o.Dir)
	files, err := filepath.Glob(filepath.Join(datadir.Repository(o.Dir), "*.repo"))
	must(t, err)
	for _, path := range files {
		whole, err := os.ReadFile(path)
		must(t, err)
		whole[3] ^= 4
		must(t, os.WriteFile(path, whole, 0o644))
	}
	problems := 0
	report, err := Repair(t.Context(), o.Dir, RepairOptions{}, CheckReport{Checked: func(string, string) {}, Problem: func(error) { problems++ }})
	must(t, err)
	if problems != len(files) || report.Problems != problems || len(report.Lost) > 0 || report.Remain > 0 {
		t.Errorf("%d files: %d problems, %+v", len(files), problems, report)
	}
	sameMaps(t, "pages", fates(t, o.Dir), want)
}

// TestSalvage: whatever is left of the document index, and without a manifest, a repair makes one that agrees with repository
// and index, and a crawl from the same start has the same pages in the end.
func TestSalvage(t *testing.T) {
	seed := seedOf(t)
	r := rand.New(rand.NewPCG(seed, 7))
	w := newMovingWeb(t, seed, 60)
	o := supersede(t, w, 3)
	crawl(t, recrawling(o))
	_, err := Ban(t.Context(), o.Dir, []string{"banned.test"})
	must(t, err)
	want, found := fates(t, o.Dir), searchable(t, o.Dir)
	path := filepath.Join(o.Dir, "docindex")
	each := func(pattern string, do func(string) error) func() {
		return func() {
			files, err := filepath.Glob(filepath.Join(path, pattern))
			must(t, err)
			if len(files) == 0 {
				t.Fatalf("no %s", pattern)
			}
			for _, f := range files {
				must(t, do(f))
			}
		}
	}
	for _, c := range []struct {
		name   string
		damage func()
		kept   bool // something of the old one surely is
	}{
		{"totals that do not agree", func() {
			must(t, withDocuments(o.Dir, func(db *docindex.DB) error {
				counts, err := db.Counts()
				must(t, err)
				counts.Pages++
				b := db.NewBatch()
				b.PutCounts(&counts)
				return b.Commit()
			}))
		}, true},
		{"a bit", each("*.sst", func(f string) error {
			b, err := os.ReadFile(f)
			must(t, err)
			b[r.IntN(len(b)/2)] ^= 1 << r.IntN(8)
			return os.WriteFile(f, b, 0o644)
		}), false},
		{"no index of the store's files", each("MANIFEST*", os.Remove), false},
		{"tables cut short", each("*.sst", func(f string) error { return os.Truncate(f, 100) }), false},
		{"gone", func() { must(t, os.RemoveAll(path)) }, false},
		{"gone, with the manifest", func() {
			must(t, os.RemoveAll(path))
			must(t, os.WriteFile(filepath.Join(o.Dir, "MANIFEST"), []byte("{"), 0o644))
		}, false},
	} {
		c.damage()
		said := CheckReport{Checked: func(string, string) {}, Problem: func(error) {}}
		report, err := Repair(t.Context(), o.Dir, RepairOptions{}, said)
		must(t, err)
		s := report.Salvaged
		if s == nil || report.Remain > 0 || report.Problems == 0 || s.Lost > 0 || c.kept && s.Kept == 0 || s.Kept+s.Pages == 0 {
			t.Errorf("%s: %+v, %+v", c.name, report, s)
		}
		checked(t, o.Dir)
		if s != nil && s.NoBans {
			_, err := Ban(t.Context(), o.Dir, []string{"banned.test"})
			must(t, err)
		}
		w.requests()
		crawl(t, o)
		if s != nil && s.Stale {
			crawl(t, recrawling(o))
			crawl(t, recrawling(o)) // confirms what is gone
		} else if asked := w.requests(); len(asked) > s.Named+s.Lost {
			t.Errorf("%s: asked for %d URLs, of which %d were to be fetched: %+v", c.name, len(asked), s.Named, s)
		}
		checked(t, o.Dir)
		sameMaps(t, "pages", fates(t, o.Dir), want)
		sameLists(t, "index", searchable(t, o.Dir), found)
		if t.Failed() {
			t.Fatalf("after %s: %+v %+v", c.name, report, s)
		}
	}
}
