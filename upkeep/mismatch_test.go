package upkeep_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/segment"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/ranking"
	"anatomy/searcher"
	"anatomy/upkeep"
)

// writers are the ways to write to a data folder that has pages.
func writers(o engine.Options) map[string]func(context.Context) error {
	dir := o.Dir
	return map[string]func(context.Context) error{
		"crawl": func(ctx context.Context) error {
			c, err := engine.Open(ctx, o)
			if err != nil {
				return err
			}
			return errors.Join(c.Run(ctx), c.Close())
		},
		"index": func(ctx context.Context) error {
			_, err := upkeep.Rebuild(ctx, dir, upkeep.RebuildOptions{})
			return err
		},
		"remove": func(ctx context.Context) error { _, err := upkeep.Block(ctx, dir, []string{"x.test"}); return err },
		"undo":   func(ctx context.Context) error { _, err := upkeep.Unblock(ctx, dir, []string{"x.test"}); return err },
		"backup": func(ctx context.Context) error { _, err := upkeep.Backup(ctx, io.Discard, dir, nil); return err },
		"compact": func(ctx context.Context) error {
			_, err := upkeep.Compact(ctx, dir, engine.CompactOptions{})
			return err
		},
		"text": func(ctx context.Context) error {
			_, err := upkeep.IndexText(ctx, dir, strings.NewReader("1\tone\tpath\tbody\n"), upkeep.TextOptions{})
			return err
		},
	}
}

// problems returns what a check finds.
func problems(t *testing.T, dir string) (found []string) {
	t.Helper()
	testweb.Must(t, upkeep.Check(t.Context(), dir, upkeep.CheckReport{
		Checked: func(string, string) {},
		Problem: func(err error) { found = append(found, err.Error()) },
	}))
	return found
}

// repair repairs a data folder.
func repair(t *testing.T, dir string) upkeep.RepairReport {
	t.Helper()
	report, err := upkeep.Repair(t.Context(), dir, upkeep.RepairOptions{}, upkeep.CheckReport{
		Checked: func(string, string) {}, Problem: func(error) {},
	})
	testweb.Must(t, err)
	if report.Remain > 0 {
		t.Errorf("%d problems remain: %v", report.Remain, problems(t, dir))
	}
	return report
}

// A folder one structure of which is missing, or comes from another folder or an earlier time, is
// refused by whatever would write to it, found damaged by check, and whole after a repair.
func TestMismatchIsRefused(t *testing.T) {
	web := testweb.Generate(t, 5, 30, 0)
	another := filepath.Join(t.TempDir(), "other")
	testweb.Crawl(t, web.Options(another, web.Seed))
	early := filepath.Join(t.TempDir(), "early")
	for name, c := range map[string]struct {
		damage func(dir string) error
		lost   bool // pages must be fetched again
	}{
		"no document index":           {damage: func(dir string) error { return os.RemoveAll(datadir.DocIndex(dir)) }},
		"document index moved away":   {damage: func(dir string) error { return os.Rename(datadir.DocIndex(dir), dir+"/docindex.damaged") }},
		"a new document index":        {damage: func(dir string) error { return newIndex(dir) }},
		"document index of another":   {damage: func(dir string) error { return replaceBy(another, dir, "docindex") }},
		"document index of yesterday": {damage: func(dir string) error { return replaceBy(early, dir, "docindex") }},
		"manifest of another":         {damage: func(dir string) error { return replaceBy(another, dir, "MANIFEST") }},
		"no manifest":                 {damage: func(dir string) error { return os.Remove(filepath.Join(dir, "MANIFEST")) }},
		"no repository":               {damage: func(dir string) error { return os.RemoveAll(datadir.Repository(dir)) }, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			o := web.Options(dir, web.Seed)
			if strings.HasSuffix(name, "yesterday") {
				first := o
				first.URLs.MaxPages = 3
				testweb.Crawl(t, first)
				testweb.Must(t, os.CopyFS(early, os.DirFS(dir)))
			}
			testweb.Crawl(t, o)
			want, found := testweb.Fates(t, dir), testweb.Searchable(t, dir)
			testweb.Must(t, c.damage(dir))
			before := listing(t, dir)
			for command, write := range writers(o) {
				if err := write(t.Context()); !errors.As(err, new(*datadir.MismatchError)) || !strings.Contains(err.Error(), "anatomy check --repair") {
					t.Errorf("%s: %v", command, err)
				}
			}
			testweb.SameLists(t, "files", listing(t, dir), before)
			if len(problems(t, dir)) == 0 {
				t.Error("check finds nothing")
			}
			if report := repair(t, dir); !c.lost && len(report.Lost) > 0 {
				t.Errorf("lost %q", report.Lost)
			}
			testweb.Crawl(t, o)
			sound(t, dir)
			testweb.SameMaps(t, "pages", testweb.Fates(t, dir), want)
			testweb.SameLists(t, "index", testweb.Searchable(t, dir), found)
		})
	}
}

// newIndex puts a new document index in the place of the one of a folder, as earlier versions did
// when there was none.
func newIndex(dir string) error {
	if err := os.RemoveAll(datadir.DocIndex(dir)); err != nil {
		return err
	}
	db, err := docindex.Open(datadir.DocIndex(dir), docindex.Options{})
	if err != nil {
		return err
	}
	return db.Close()
}

// replaceBy replaces a structure of a folder by that of another.
func replaceBy(other, dir, name string) error {
	from, to := filepath.Join(other, name), filepath.Join(dir, name)
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if b, err := os.ReadFile(from); err == nil {
		return os.WriteFile(to, b, 0o644)
	}
	return os.CopyFS(to, os.DirFS(from))
}

// listing returns the files and folders of a data folder that hold its structures.
func listing(t *testing.T, dir string) (names []string) {
	t.Helper()
	for _, pattern := range []string{"docindex*", "repository/*", "MANIFEST*", "index/*", "links/*", "rank/*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		testweb.Must(t, err)
		names = append(names, found...)
	}
	return names
}

// A repair that was cut off between two renames, or that could not open the document index, deletes
// no copy that may be the last whole one.
func TestRepairKeepsTheLastCopy(t *testing.T) {
	web := testweb.Generate(t, 6, 20, 0)
	dir := filepath.Join(t.TempDir(), "data[1]") // no pattern
	o := web.Options(dir, web.Seed)
	testweb.Crawl(t, o)
	want := testweb.Fates(t, dir)
	path, aside, fresh := datadir.DocIndex(dir), datadir.DamagedDocIndex(dir), datadir.FreshDocIndex(dir)
	for name, damage := range map[string]func() error{
		"aside and created again": func() error { return errors.Join(os.Rename(path, aside), os.Mkdir(fresh, 0o755)) },
		"only aside":              func() error { return os.Rename(path, aside) },
		"only the new one":        func() error { return os.Rename(path, fresh) },
		"a broken one and aside": func() error {
			return errors.Join(os.Rename(path, aside), os.Mkdir(path, 0o755), os.WriteFile(path+"/CURRENT", []byte("x"), 0o644))
		},
	} {
		testweb.Must(t, errors.Join(os.RemoveAll(aside), os.RemoveAll(fresh), damage()))
		report := repair(t, dir)
		if report.Salvaged != nil && report.Salvaged.Kept != len(want) {
			t.Errorf("%s: of %d documents %d were kept: %+v", name, len(want), report.Salvaged.Kept, report.Salvaged)
		}
		sound(t, dir)
		testweb.SameMaps(t, name, testweb.Fates(t, dir), want)
	}
	if kept, err := datadir.Glob(dir, datadir.DocIndexName+".kept-*"); err != nil || len(kept) == 0 {
		t.Errorf("no copy was kept: %v, %v", kept, err)
	}
}

// A folder of an older version can be read, and the first process that writes to it upgrades it. It
// keeps its rank vectors.
func TestOldVersions(t *testing.T) {
	upgrades := map[string]func(context.Context, engine.Options) error{
		"pagerank": func(ctx context.Context, o engine.Options) error {
			_, err := ranking.Compute(ctx, o.Dir, ranking.Options{Name: "new"})
			return err
		},
	}
	for command := range writers(engine.Options{}) {
		if command == "text" { // refuses folders with pages
			continue
		}
		upgrades[command] = func(ctx context.Context, o engine.Options) error { return writers(o)[command](ctx) }
	}
	for version, vectors := range map[string][]string{"v1": {"default"}, "v2": {"default", "half"}} {
		for command, upgrade := range upgrades {
			dir := filepath.Join(t.TempDir(), "data")
			testweb.Must(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", version))))
			before, err := os.ReadFile(filepath.Join(dir, "VERSION"))
			testweb.Must(t, err)
			wantWhole(t, dir, vectors)
			if after, err := os.ReadFile(filepath.Join(dir, "VERSION")); err != nil || string(after) != string(before) {
				t.Errorf("reading changed VERSION to %q, %v", after, err)
			}
			testweb.Must(t, upgrade(t.Context(), testweb.New(t).Options(dir)))
			id, err := datadir.ReadID(dir)
			m, failed := datadir.ReadManifest(dir)
			if old, _ := datadir.IsOld(dir); old || err != nil || failed != nil || id == "" || m.Folder != id {
				t.Errorf("%s %s: ID %q, %v, of the manifest %q, %v", version, command, id, err, m.Folder, failed)
			}
			want := vectors
			if command == "pagerank" {
				want = append(slices.Clone(vectors), "new")
			}
			wantWhole(t, dir, want)
			if old := oldTerms(t, dir); old == (command == "index") {
				t.Errorf("%s %s: terms of an earlier version: %v", version, command, old)
			}
		}
	}
}

// oldTerms reports whether a segment of a folder has terms of an earlier version, which only a
// rebuild replaces.
func oldTerms(t *testing.T, dir string) (old bool) {
	t.Helper()
	m, err := datadir.ReadManifest(dir)
	testweb.Must(t, err)
	for _, name := range m.Segments {
		s, err := segment.Open(datadir.Segment(dir, name), nil)
		testweb.Must(t, err)
		old = old || s.OldTerms()
		testweb.Must(t, s.Close())
	}
	return old
}

// wantWhole fails if a folder of the old versions is damaged or lacks one of its rank vectors.
func wantWhole(t *testing.T, dir string, vectors []string) {
	t.Helper()
	sound(t, dir)
	for _, name := range vectors {
		s := testweb.OpenSearcher(t, dir)
		r, err := s.Search(t.Context(), searcher.Request{Query: "text", Rank: name})
		if err != nil || r.Total != 1 || r.Rank.Name != name {
			t.Errorf("by vector %s: %d results, %+v, %v", name, r.Total, r.Rank, err)
		}
	}
}

// A damaged VERSION is noticed by check, refused by writers, and repaired under the same ID.
func TestDamagedVersion(t *testing.T) {
	dir, _ := backedUp(t)
	path := filepath.Join(dir, "VERSION")
	whole, err := os.ReadFile(path)
	testweb.Must(t, err)
	for name, damage := range map[string]func() error{
		"a bit":   func() error { return os.WriteFile(path, append([]byte("b"), whole[1:]...), 0o644) },
		"empty":   func() error { return os.WriteFile(path, nil, 0o644) },
		"missing": func() error { return os.Remove(path) },
		"and no manifest": func() error {
			return errors.Join(os.Remove(path), os.Remove(filepath.Join(dir, "MANIFEST")))
		},
	} {
		testweb.Must(t, damage())
		if name != "missing" && name != "and no manifest" {
			if found := problems(t, dir); len(found) != 1 {
				t.Errorf("%s: check finds %q", name, found)
			}
		}
		if _, err := upkeep.Compact(t.Context(), dir, engine.CompactOptions{}); err == nil {
			t.Errorf("%s: compact did not notice", name)
		}
		if report := repair(t, dir); report.Problems == 0 {
			t.Errorf("%s: %+v", name, report)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != string(whole) {
			t.Errorf("%s: VERSION is %q, %v; was %q", name, b, err, whole)
		}
		sound(t, dir)
	}
}
