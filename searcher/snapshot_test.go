package searcher_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/rankvector"
	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/vocab"
)

// textPage returns a page with some terms in its body.
func textPage(doc vocab.DocID, url string, words ...string) *oracle.Document {
	d := &oracle.Document{Doc: doc, URL: url, Words: map[string][]vocab.Hit{}, Crawled: true, Length: uint32(len(words))}
	for i, word := range words {
		d.Words[word] = append(d.Words[word], vocab.MakeHit(uint32(i), vocab.Plain, false, vocab.NormalSize))
	}
	return d
}

func pagesOf(docs ...*oracle.Document) oracle.Segment { return oracle.Segment{Documents: docs} }

// found returns the DocIDs of the first results.
func found(t testing.TB, s *searcher.Searcher, text string) (docs []vocab.DocID) {
	t.Helper()
	resp, err := s.Search(context.Background(), searcher.Request{Query: text})
	must(t, err)
	for _, r := range resp.Results {
		docs = append(docs, r.Doc)
	}
	return docs
}

func wantFound(t testing.TB, s *searcher.Searcher, text string, want ...vocab.DocID) {
	t.Helper()
	if got := found(t, s, text); !slices.Equal(got, want) {
		t.Errorf("%s: found %v, want %v", text, got, want)
	}
}

func refresh(t testing.TB, s *searcher.Searcher, want bool) {
	t.Helper()
	changed, err := s.Refresh()
	must(t, err)
	if changed != want {
		t.Errorf("Refresh says %v, want %v", changed, want)
	}
}

func TestEmptyFolder(t *testing.T) {
	for _, dir := range []string{filepath.Join(t.TempDir(), "absent"), newFolder(t).dir} {
		s, err := searcher.Open(dir, searcher.Options{})
		must(t, err)
		resp, err := s.Search(context.Background(), searcher.Request{Query: "a"})
		if err != nil || resp.Total != 0 || !resp.Exact || !resp.NoPages || !strings.Contains(resp.Why, "indexed") {
			t.Errorf("search in an empty folder: %+v, %v", resp, err)
		}
		must(t, s.Close())
	}
}

func TestRefresh(t *testing.T) {
	f := newFolder(t)
	s := f.open(searcher.Options{})
	refresh(t, s, false)

	f.add(pagesOf(textPage(1, "http://x.org/1", "a"), textPage(2, "http://x.org/2", "a", "a", "b")), bare)
	refresh(t, s, false) // not current yet
	f.publish()
	refresh(t, s, true)
	wantFound(t, s, "a", 2, 1)

	// A newer version of a page, and a tombstone for another.
	f.add(oracle.Segment{Documents: []*oracle.Document{textPage(1, "http://x.org/1", "c")}, Removed: []vocab.DocID{2}}, bare)
	f.publish()
	refresh(t, s, true)
	wantFound(t, s, "a")
	wantFound(t, s, "c", 1)
	if st := s.Stats(); st.Documents != 1 || st.Segments != 2 || st.Generation != 2 || st.Err != nil {
		t.Errorf("stats %+v", st)
	}
	refresh(t, s, false)
}

// TestRankSwap checks that another rank vector changes the order of results, and that no segment is
// opened again.
func TestRankSwap(t *testing.T) {
	f := newFolder(t)
	f.add(pagesOf(textPage(1, "http://x.org/1", "a"), textPage(2, "http://x.org/2", "a")), bare)
	f.publish()
	s := f.open(searcher.Options{})
	wantFound(t, s, "a", 1, 2)
	f.rank([]float32{0, 0.1, 0.9})
	refresh(t, s, true)
	wantFound(t, s, "a", 2, 1)
	f.rank([]float32{0, 0.75, 0.25, 0})
	refresh(t, s, true)
	wantFound(t, s, "a", 1, 2)
	if n := s.Segments(); n != 1 {
		t.Errorf("%d segments open", n)
	}
	must(t, datadir.PublishRank(f.dir, rankvector.Default, []byte("damaged")))
	if _, err := s.Refresh(); err == nil || s.Stats().Err == nil || !strings.Contains(err.Error(), "default.") {
		t.Errorf("a damaged rank vector: %v", err)
	}
	wantFound(t, s, "a", 1, 2)
}

// TestVanishedRanks refreshes while vectors replace one another: each is read whole, or the next.
func TestVanishedRanks(t *testing.T) {
	f := newFolder(t)
	f.add(pagesOf(textPage(1, "http://x.org/1", "a"), textPage(2, "http://x.org/2", "a")), bare)
	f.publish()
	s := f.open(searcher.Options{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 100 {
			v := &rankvector.Vector{Ranks: []float32{0, float32((i+1)%2) / 2, 0.25}}
			if err := rankvector.Publish(f.dir, rankvector.Default, v); err != nil {
				t.Error(err)
			}
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if _, err := s.Refresh(); err != nil {
			t.Fatal(err)
		}
	}
	wantFound(t, s, "a", 2, 1)
	must(t, datadir.RemoveRank(f.dir, rankvector.Default))
	refresh(t, s, true)
	if used := s.Stats().Ranked; used != 0 {
		t.Errorf("%d documents have ranks", used)
	}
}

// TestReplacedSegments checks that replaced segments are closed when the last query that reads them
// has ended.
func TestReplacedSegments(t *testing.T) {
	f := newFolder(t)
	f.add(pagesOf(textPage(1, "http://x.org/1", "a")), bare)
	f.publish()
	s := f.open(searcher.Options{})
	unpin := s.Pin()
	f.manifest.Segments = nil
	f.add(pagesOf(textPage(1, "http://x.org/1", "b")), bare)
	f.publish()
	refresh(t, s, true)
	if n := s.Segments(); n != 2 {
		t.Errorf("%d segments open while the old one is in use", n)
	}
	unpin()
	if n := s.Segments(); n != 1 {
		t.Errorf("%d segments open afterwards", n)
	}
	wantFound(t, s, "b", 1)
}

// TestVanishedFiles removes the files of a segment, as a merge in another process does, before that
// of its hits was opened.
func TestVanishedFiles(t *testing.T) {
	f := newFolder(t)
	var docs []*oracle.Document
	for i := range 300 { // lists long enough to have their hits apart
		docs = append(docs, textPage(vocab.DocID(i+1), fmt.Sprintf("http://x.org/%d", i), "a", "b"))
	}
	f.add(pagesOf(docs...), bare)
	f.publish()
	s := f.open(searcher.Options{})
	f.manifest.Segments = nil
	f.add(pagesOf(docs[:7]...), bare)
	f.publish()
	_, err := f.writer.Sweep(f.manifest)
	must(t, err)
	resp, err := s.Search(context.Background(), searcher.Request{Query: `"a b"`})
	if err != nil || resp.Total != 7 || !resp.Exact || resp.Partial {
		t.Errorf("%d results, %v, %s", resp.Total, err, resp.Why)
	}
	if n := s.Segments(); n != 1 {
		t.Errorf("%d segments open", n)
	}
}

// TestNewLife checks that a data folder that was removed and created again may use the same names.
func TestNewLife(t *testing.T) {
	f := newFolder(t)
	for range 2 {
		f.publish()
	}
	f.add(pagesOf(textPage(1, "http://x.org/1", "a")), bare)
	f.publish()
	s := f.open(searcher.Options{})
	wantFound(t, s, "a", 1)
	must(t, os.RemoveAll(datadir.Segment(f.dir, "000001")))
	must(t, os.Remove(filepath.Join(f.dir, datadir.ManifestName)))
	f.manifest = datadir.Manifest{}
	f.add(pagesOf(textPage(1, "http://x.org/1", "b")), bare)
	f.publish()
	refresh(t, s, true)
	wantFound(t, s, "a")
	wantFound(t, s, "b", 1)
}

// TestFolderBeingReplaced refreshes while a copy of another folder takes the place of the present one:
// its VERSION is there, its MANIFEST not yet. The searcher waits for it.
func TestFolderBeingReplaced(t *testing.T) {
	f := newFolder(t)
	f.add(pagesOf(textPage(1, "http://x.org/1", "a")), bare)
	f.publish()
	s := f.open(searcher.Options{})
	path := filepath.Join(f.dir, datadir.VersionName)
	was, err := os.ReadFile(path)
	must(t, err)
	other, err := os.ReadFile(filepath.Join(newFolder(t).dir, datadir.VersionName))
	must(t, err)
	failed := make(chan error, 1)
	must(t, datadir.WithManifest(f.dir, func() error {
		must(t, os.WriteFile(path, other, 0o644))
		go func() {
			_, err := s.Refresh()
			failed <- err
		}()
		time.Sleep(50 * time.Millisecond) // what does not wait fails meanwhile
		return os.WriteFile(path, was, 0o644)
	}))
	must(t, <-failed)

	must(t, os.WriteFile(path, other, 0o644))
	if _, err := s.Refresh(); !errors.As(err, new(*datadir.MismatchError)) {
		t.Errorf("with the MANIFEST of another folder: %v", err)
	}
	wantFound(t, s, "a", 1)
}

func TestFollow(t *testing.T) {
	f := newFolder(t)
	s := f.open(searcher.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	ticks, done := make(chan time.Time), make(chan struct{})
	go func() { s.Follow(ctx, ticks); close(done) }()
	f.add(pagesOf(textPage(1, "http://x.org/1", "a")), bare)
	f.publish()
	ticks <- time.Time{}
	ticks <- time.Time{} // taken when the first has been seen to
	wantFound(t, s, "a", 1)
	cancel()
	<-done
	must(t, s.Run(ctx))
}

// TestAskedAgain checks that a query whose files vanish is retried while there is a newer snapshot,
// whichever query took it over.
func TestAskedAgain(t *testing.T) {
	f := newFolder(t)
	f.publish()
	s := f.open(searcher.Options{})
	for _, vanish := range []int{0, 1, 3} {
		for _, others := range []bool{false, true} {
			asked := 0
			err := s.Read(func() error {
				if asked++; asked > vanish {
					return nil
				}
				f.publish()
				if others {
					refresh(t, s, true)
				}
				return fs.ErrNotExist
			})
			if err != nil || asked != vanish+1 {
				t.Errorf("%d vanish: asked %d times, %v", vanish, asked, err)
			}
		}
	}
	asked := 0
	missing := func() error { asked++; return fs.ErrNotExist }
	if err := s.Read(missing); !errors.Is(err, fs.ErrNotExist) || asked != 1 {
		t.Errorf("nothing newer: asked %d times, %v", asked, err)
	}
	asked = 0
	err := s.Read(func() error { f.publish(); return missing() })
	if !errors.Is(err, fs.ErrNotExist) || asked < 2 || asked > 10 {
		t.Errorf("always newer: asked %d times, %v", asked, err)
	}
}

// TestQueriesWhileRefreshing checks that every query sees one generation, never a mixture.
func TestQueriesWhileRefreshing(t *testing.T) {
	f := newFolder(t)
	f.add(pagesOf(textPage(1, "http://x.org/1", "a", "b")), bare)
	f.publish()
	s := f.open(searcher.Options{})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				resp, err := s.Search(context.Background(), searcher.Request{Query: `"a b"`, Explain: true, Within: time.Minute})
				if err != nil || resp.Total != resp.Documents || resp.Partial {
					t.Errorf("%d of %d pages found, %v, %s", resp.Total, resp.Documents, err, resp.Why)
					return
				}
			}
		})
	}
	for n := 2; n < 8; n++ {
		var all []*oracle.Document
		for i := range n {
			all = append(all, textPage(vocab.DocID(i+1), "http://x.org/"+string(rune('1'+i)), "a", "b"))
		}
		f.manifest.Segments = nil
		f.add(pagesOf(all...), bare)
		f.publish()
		_, err := f.writer.Sweep(f.manifest)
		must(t, err)
		refresh(t, s, true)
	}
	close(stop)
	wg.Wait()
}
