package engine_test

import (
	"testing"

	"anatomy/disk/datadir"
	"anatomy/disk/segment"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
)

// TestOneAverage: the segments of a folder have the average length of the manifest, after a crawl
// and after a rebuild, and so has the segment of a batch with one short page.
func TestOneAverage(t *testing.T) {
	dir, _ := testweb.CrawlDemo(t)
	first := wantAverage(t, dir)
	_, err := upkeep.Rebuild(t.Context(), dir, upkeep.RebuildOptions{})
	testweb.Must(t, err)
	if again := wantAverage(t, dir); again != first {
		t.Errorf("the average is %d, and %d after a rebuild", first, again)
	}
	w := testweb.New(t)
	w.Page("short.test/", "<title>Short</title>one two three")
	o := w.Options(dir, "http://short.test/")
	o.URLs.KeepScope = false
	published := 0
	o.Published = func(m datadir.Manifest) {
		published++
		for _, name := range m.Segments {
			if got := averageOf(t, dir, name); got != float64(first) {
				t.Errorf("segment %s has the average %g, want %d", name, got, first)
			}
		}
	}
	c, err := engine.Open(t.Context(), o)
	testweb.Must(t, err)
	testweb.Must(t, c.Run(t.Context()))
	testweb.Must(t, c.Close())
	if published == 0 {
		t.Error("nothing was published")
	}
	wantAverage(t, dir)
}

// wantAverage fails if a segment has another average length than the manifest, which it returns.
func wantAverage(t *testing.T, dir string) uint32 {
	t.Helper()
	m, err := datadir.ReadManifest(dir)
	testweb.Must(t, err)
	if m.Average == 0 || len(m.Segments) == 0 {
		t.Errorf("manifest %+v", m)
	}
	for _, name := range m.Segments {
		if got := averageOf(t, dir, name); got != float64(m.Average) {
			t.Errorf("segment %s has the average %g, the manifest %d", name, got, m.Average)
		}
	}
	return m.Average
}

func averageOf(t *testing.T, dir, name string) float64 {
	t.Helper()
	s, err := segment.Open(datadir.Segment(dir, name), nil)
	testweb.Must(t, err)
	defer s.Close()
	return s.AvgWords()
}
