package upkeep_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anatomy/disk/datadir"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
)

// TestCheckBesideAMerge: where a merge publishes another manifest during a check, and deletes what
// the one before named, the check reads what is named now. Files that are gone without that are
// damage.
func TestCheckBesideAMerge(t *testing.T) {
	for _, published := range []bool{true, false} {
		dir, _ := backedUp(t)
		var checked, problems []string
		swap := func() {
			m, err := datadir.ReadManifest(dir)
			testweb.Must(t, err)
			was := m.Segments[0]
			m.Generation++
			m.Segments[0] = "000099"
			testweb.Must(t, os.Rename(datadir.Segment(dir, was), datadir.Segment(dir, "000099")))
			run := m.Links[0]
			m.Links[0] = "000098" + filepath.Ext(run)
			testweb.Must(t, os.Rename(datadir.Links(dir, run), datadir.Links(dir, m.Links[0])))
			if published {
				testweb.Must(t, datadir.WriteManifest(dir, m))
			}
		}
		testweb.Must(t, upkeep.Check(t.Context(), dir, upkeep.CheckReport{
			Checked: func(structure, found string) {
				checked = append(checked, structure)
				if structure == "addresses" {
					swap()
				}
			},
			Problem: func(err error) { problems = append(problems, err.Error()) },
		}))
		if want := map[bool]int{true: 0, false: 2}[published]; len(problems) != want {
			t.Errorf("published %v: problems %q, want %d", published, problems, want)
		}
		if all := strings.Join(checked, " "); all != "repository docindex addresses links index rank" {
			t.Errorf("published %v: checked %s", published, all)
		}
	}
}

// TestCheckBesideACompaction: where a compaction moves records during a check, the check finds them
// where they are now. Records that are gone without that are damage.
func TestCheckBesideACompaction(t *testing.T) {
	for _, during := range []string{"repository", "docindex", "addresses", "links"} {
		web := testweb.Generate(t, 1, 40, 0)
		dir := filepath.Join(t.TempDir(), "data")
		testweb.Crawl(t, web.Options(dir, web.Seed))
		testweb.Must(t, func() error {
			_, err := upkeep.Block(t.Context(), dir, []string{web.Seed})
			return err
		}())
		check := func(then func()) (problems []string) {
			testweb.Must(t, upkeep.Check(t.Context(), dir, upkeep.CheckReport{
				Checked: func(structure, _ string) {
					if structure == during {
						then()
					}
				},
				Problem: func(err error) { problems = append(problems, err.Error()) },
			}))
			return problems
		}
		rewritten := 0
		problems := check(func() {
			r, err := upkeep.Compact(t.Context(), dir, engine.CompactOptions{})
			testweb.Must(t, err)
			rewritten += r.Rewritten
		})
		if rewritten != 1 || len(problems) > 0 {
			t.Errorf("during %s: %d files rewritten, problems %q", during, rewritten, problems)
		}
		gone, err := filepath.Glob(filepath.Join(datadir.Repository(dir), "*.repo"))
		testweb.Must(t, err)
		problems = check(func() {
			for _, name := range gone {
				testweb.Must(t, os.RemoveAll(name))
			}
		})
		if is := len(problems) > 0; is != (during == "repository" || during == "docindex") {
			t.Errorf("files gone after %s: problems %q", during, problems)
		}
	}
}
