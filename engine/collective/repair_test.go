package collective_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/disk/parcel"
	"anatomy/disk/shards"
	"anatomy/engine/collective"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
)

// flip changes a byte in the middle of the first file that a pattern names.
func flip(pattern string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		path := firstOf(t, dir, pattern)
		b, err := os.ReadFile(path)
		testweb.Must(t, err)
		b[len(b)/2] ^= 1
		testweb.Must(t, os.WriteFile(path, b, 0o600))
	}
}

// remove removes the first file or folder that a pattern names.
func remove(pattern string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) { testweb.Must(t, os.RemoveAll(firstOf(t, dir, pattern))) }
}

func firstOf(t *testing.T, dir, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	testweb.Must(t, err)
	if len(paths) == 0 {
		t.Fatalf("%s has no %s", dir, pattern)
	}
	return paths[0]
}

// TestRepair damages one file after the other of shards: a check finds it, and a repair makes the
// shards what they were. What is lost is fetched again by the next crawl.
func TestRepair(t *testing.T) {
	web := testweb.Generate(t, 5, 60, 0)
	whole := filepath.Join(t.TempDir(), "whole")
	crawl(t, web.Options(whole, web.Seed), 3)
	want := describe(t, whole)
	for name, test := range map[string]struct {
		damage func(t *testing.T, dir string)
		loses  bool // pages or documents, until the next crawl
	}{
		"version":          {flip("shard-2/VERSION"), false},
		"manifest":         {flip("shard-2/MANIFEST"), false},
		"postings":         {flip("shard-0/index/*/postings"), false},
		"links":            {flip("shard-0/links/*.links"), false},
		"ranks":            {flip("shard-2/rank/*"), false},
		"mentions":         {flip("shard-2.foreign"), false},
		"no mentions":      {remove("shard-0.foreign"), false},
		"parcel":           {flip("parcels/*/0-*.parcel"), false},
		"no parcel":        {remove("parcels/*/2-*.parcel"), false},
		"no parcels":       {remove("parcels/2/*"), false},
		"repository":       {flip("shard-2/repository/*.repo"), true},
		"no repository":    {remove("shard-2/repository"), true},
		"no docindex":      {remove("shard-2/docindex"), true},
		"several of them":  {several(flip("shard-0/MANIFEST"), flip("shard-2/links/*.links"), flip("parcels/0/2-*.parcel")), false},
		"a repair cut off": {cutOffRepair, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "many")
			testweb.Must(t, os.CopyFS(dir, os.DirFS(whole)))
			test.damage(t, dir)
			if found := problems(t, dir); len(found) == 0 {
				t.Fatal("a check finds no damage")
			}
			report, err := upkeep.Repair(t.Context(), dir, upkeep.RepairOptions{}, upkeep.CheckReport{
				Checked: func(string, string) {}, Problem: func(error) {},
			})
			if err != nil || report.Problems == 0 || report.Remain > 0 {
				t.Fatalf("%+v, %v; left: %q", report, err, problems(t, dir))
			}
			testweb.Checked(t, dir)
			if !test.loses {
				repaired := describe(t, dir)
				repaired.same(t, want)
			}
			crawl(t, web.Options(dir, web.Seed), 0)
			testweb.Checked(t, dir)
			again := describe(t, dir)
			again.same(t, want)
		})
	}
}

func several(all ...func(*testing.T, string)) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		for _, damage := range all {
			damage(t, dir)
		}
	}
}

// cutOffRepair has a repair end after it has given up the index of a shard.
func cutOffRepair(t *testing.T, dir string) {
	flip("shard-2/MANIFEST")(t, dir)
	flip("parcels/*/0-*.parcel")(t, dir)
	ctx, stop := context.WithCancel(t.Context())
	_, err := upkeep.Repair(ctx, dir, upkeep.RepairOptions{}, upkeep.CheckReport{
		Checked: func(string, string) {},
		Problem: func(err error) {
			if strings.HasPrefix(err.Error(), "parcel") {
				stop()
			}
		},
	})
	if err == nil {
		t.Fatal("the repair was not cut off")
	}
	if _, err := collective.Open(t.Context(), testweb.New(t).Options(dir), 0); err == nil || !strings.Contains(err.Error(), "repair") {
		t.Errorf("a crawl goes on: %v", err)
	}
}

func problems(t *testing.T, dir string) (found []string) {
	t.Helper()
	testweb.Must(t, upkeep.Check(t.Context(), dir, upkeep.CheckReport{
		Checked: func(string, string) {}, Problem: func(err error) { found = append(found, err.Error()) },
	}))
	return found
}

// TestRebuild rebuilds the indexes of shards after a complete crawl, and after an interrupted one
// with pending parcels.
func TestRebuild(t *testing.T) {
	web := testweb.Generate(t, 9, 60, 2*time.Millisecond)
	whole := filepath.Join(t.TempDir(), "whole")
	crawl(t, web.Options(whole, web.Seed), 3)
	want := describe(t, whole)
	report, err := upkeep.Rebuild(t.Context(), whole, upkeep.RebuildOptions{})
	if err != nil || report.Pages == 0 || report.Links == 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	testweb.Checked(t, whole)
	rebuilt := describe(t, whole)
	rebuilt.same(t, want)

	dir := interrupted(t, web)
	waiting := parcels(t, dir)
	_, err = upkeep.Rebuild(t.Context(), dir, upkeep.RebuildOptions{})
	testweb.Must(t, err)
	testweb.Checked(t, dir)
	if left := parcels(t, dir); slices.Equal(left, waiting) {
		t.Errorf("%d parcels, as before", len(left))
	}
	crawl(t, web.Options(dir), 0)
	testweb.Checked(t, dir)
	found := describe(t, dir)
	found.same(t, want)
}

// TestPurge purges a page of which a parcel that waits has links. Neither the links nor the parcel's
// content are left. A repair beside a crawl begins nothing.
func TestPurge(t *testing.T) {
	web := testweb.Generate(t, 9, 60, 2*time.Millisecond)
	dir := interrupted(t, web)
	post := parcel.NewFolder(durable.OS, shards.Parcels(dir))
	var sources []string
	each := func(visit func(*parcel.Parcel)) {
		for to := range 3 {
			ids, err := post.List(to)
			testweb.Must(t, err)
			for _, id := range ids {
				b, err := post.Fetch(id)
				testweb.Must(t, err)
				p, err := parcel.Decode(b)
				testweb.Must(t, err)
				visit(p)
			}
		}
	}
	each(func(p *parcel.Parcel) {
		for _, source := range p.Sources {
			for _, name := range p.Names {
				if name.Doc == source.Doc && len(source.Links) > 0 {
					sources = append(sources, name.URL)
				}
			}
		}
	})
	if len(sources) == 0 {
		t.Fatal("no parcel has links")
	}
	report, err := upkeep.Purge(t.Context(), dir, sources, web.Options(dir))
	if err != nil || report.Proved == 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	each(func(p *parcel.Parcel) {
		if !p.Empty() {
			t.Errorf("parcel %s has content", p.ID)
		}
	})
	testweb.Checked(t, dir)

	c, err := collective.Open(t.Context(), web.Options(dir), 0)
	testweb.Must(t, err)
	testweb.Must(t, os.Remove(filepath.Join(shards.Folder(dir, 0), datadir.ManifestName)))
	if _, err := upkeep.Repair(t.Context(), dir, upkeep.RepairOptions{}, upkeep.CheckReport{Checked: func(string, string) {}, Problem: func(error) {}}); !datadir.IsBusy(err) || shards.IsUnderRepair(dir) {
		t.Errorf("a repair beside a crawl: %v", err)
	}
	testweb.Must(t, c.Close())
}

// interrupted returns a folder of three shards whose crawl was interrupted, with parcels that wait.
func interrupted(t *testing.T, web *testweb.Generated) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "many")
	seeds := []string{web.Seed}
	for pages := int64(5); pages < 60; pages += 5 {
		ctx, stop := context.WithCancel(t.Context())
		o := web.Options(dir, seeds...)
		o.BatchBytes = 1 // each flush sends parcels
		c, err := collective.Open(ctx, o, 3)
		testweb.Must(t, err)
		seeds = nil
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		for c.Stats().Pages < pages && len(done) == 0 {
			time.Sleep(time.Millisecond)
		}
		stop()
		testweb.Must(t, <-done)
		testweb.Must(t, c.Close())
		if waits(t, dir) {
			return dir
		}
	}
	t.Fatal("no interruption left a parcel")
	return ""
}

// waits reports whether a check of a folder names parcels that wait.
func waits(t *testing.T, dir string) (any bool) {
	t.Helper()
	testweb.Must(t, upkeep.Check(t.Context(), dir, upkeep.CheckReport{
		Checked: func(structure, found string) {
			any = any || structure == "parcels" && !strings.HasPrefix(found, "0 ")
		},
		Problem: func(err error) { t.Error(err) },
	}))
	return any
}

// TestBackup backs up shards for which parcels wait, and restores them: a crawl goes on from there. A
// backup is refused beside a crawl, and one that is cut off leaves no folder.
func TestBackup(t *testing.T) {
	web := testweb.Generate(t, 9, 60, 2*time.Millisecond)
	dir := interrupted(t, web)
	testweb.Must(t, os.WriteFile(datadir.ClusterKeys(dir), []byte("secret"), 0o600))
	var saved bytes.Buffer
	report, err := upkeep.Backup(t.Context(), &saved, dir, nil)
	testweb.Must(t, err)
	verified, err := upkeep.VerifyBackup(t.Context(), bytes.NewReader(saved.Bytes()), nil)
	if err != nil || report.Files < 30 || verified.Files != report.Files {
		t.Errorf("%+v saved, %+v verified, %v", report, verified, err)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	half := bytes.NewReader(saved.Bytes()[:saved.Len()/2])
	if _, err := upkeep.Restore(t.Context(), half, restored, nil); !errors.Is(err, upkeep.ErrNotWhole) {
		t.Errorf("half of it: %v", err)
	}
	_, err = upkeep.Restore(t.Context(), bytes.NewReader(saved.Bytes()), restored, nil)
	testweb.Must(t, err)
	testweb.Checked(t, restored)
	if !waits(t, restored) {
		t.Error("no parcel waits")
	}
	if _, err := os.Stat(datadir.ClusterKeys(restored)); err == nil {
		t.Error("the keys are in the backup")
	}
	o := web.Options(dir)
	c, err := collective.Open(t.Context(), o, 0)
	testweb.Must(t, err)
	if _, err := upkeep.Backup(t.Context(), &saved, dir, nil); !datadir.IsBusy(err) {
		t.Errorf("beside a crawl: %v", err)
	}
	_, err = run(t.Context(), c)
	testweb.Must(t, err)
	want := describe(t, dir)
	crawl(t, web.Options(restored), 0)
	testweb.Checked(t, restored)
	found := describe(t, restored)
	found.same(t, want)
}
