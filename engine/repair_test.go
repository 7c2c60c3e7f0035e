package engine

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"anatomy/disk/datadir"
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
