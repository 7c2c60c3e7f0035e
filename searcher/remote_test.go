package searcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/disk/datadir"
	"anatomy/internal/test/oracle"
	"anatomy/internal/test/testweb"
	"anatomy/searcher"
	"anatomy/vocab"
)

// openLight opens a light copy of a data folder.
func openLight(t testing.TB, dir string, remote func(context.Context, int, []byte) ([]byte, error)) *searcher.Searcher {
	s, err := searcher.Open(testweb.Light(t, dir), searcher.Options{Remote: remote})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// TestLightShards checks that a machine with light copies of shards, of all or of some, answers as one
// with all shards whole.
func TestLightShards(t *testing.T) {
	type corpus struct {
		*oracle.Collection
		info func(*oracle.Document) vocab.DocInfo
		draw func(*rapid.T) string
	}
	some := collect(1, 3)
	some.Candidates = 100
	all := []corpus{{some, bare, drawQuery}}
	for seed, segments := range []int{3, 1} {
		c, info := manySites(uint64(seed), 1600, segments)
		all = append(all, corpus{c, info, drawSaying})
	}
	facets, err := searcher.ParseFacets("all")
	must(t, err)
	languages, _ := openLanguages(t, "de,ja")
	patterns := openLabels(t, "http://x.org/{version}/", "http://y.com/{product}/ version:1.0")
	var calls atomic.Int64
	for k, c := range all {
		for _, n := range []int{1, 4} {
			t.Run(fmt.Sprint("corpus ", k, " in ", n), func(t *testing.T) {
				parts := splitBySite(c.Collection, n)
				parts.pins = pinSayings(t, c.Collection)
				dirs := parts.write(t, c.info)
				whole := parts.openIn(t, dirs, searcher.Options{Languages: languages, Labels: patterns})
				copies := slices.Clone(dirs)
				for i := range copies {
					if i%3 != 2 {
						copies[i] = testweb.Light(t, dirs[i])
					}
				}
				light := parts.openIn(t, copies, searcher.Options{Languages: languages, Labels: patterns, Remote: func(ctx context.Context, shard int, call []byte) ([]byte, error) {
					calls.Add(1)
					return whole.AnswerShard(ctx, shard, call)
				}})
				check := func(t rapid.TB, req searcher.Request) {
					req.Facets = facets
					want := wholeAnswer(t, whole, req)
					if got := wholeAnswer(t, light, req); got != want {
						t.Fatalf("%+v:\n%s\nwant\n%s", req, got, want)
					}
				}
				for _, text := range []string{"engine", "earching", "京都 engines", "東京 egines 京都", "engine -search", "how the page"} {
					check(t, searcher.Request{Query: text, Limit: 30})
				}
				rapid.Check(t, func(rt *rapid.T) { check(rt, drawRequest(rt, c.draw(rt))) })
			})
		}
	}
	if calls.Load() == 0 {
		t.Error("no call was made")
	}
}

// TestLostShards checks that answers name the light shards about which no machine answers, and have
// the pages of the others.
func TestLostShards(t *testing.T) {
	c, info := manySites(7, 3000, 3)
	parts := splitBySite(c, 3)
	dirs := parts.write(t, info)
	whole := parts.openIn(t, dirs, searcher.Options{})
	copies := slices.Clone(dirs)
	copies[1] = testweb.Light(t, dirs[1])
	garbled := []byte(`{"Places":[[9,9]],"First":[7],"Scores":[1],"Pages":[{}],"N":5}`)
	for name, remote := range map[string]func(context.Context, int, []byte) ([]byte, error){
		"alone":   nil,
		"failing": func(context.Context, int, []byte) ([]byte, error) { return nil, errors.New("away") },
		"no JSON": func(context.Context, int, []byte) ([]byte, error) { return []byte("{"), nil },
		"garbled": func(context.Context, int, []byte) ([]byte, error) { return garbled, nil },
		"failing later": func(ctx context.Context, shard int, call []byte) ([]byte, error) {
			if !strings.Contains(string(call), `"Collect"`) {
				return nil, errors.New("away")
			}
			return whole.AnswerShard(ctx, shard, call)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := parts.openIn(t, copies, searcher.Options{Remote: remote})
			for _, text := range []string{"engine", "search page", `"search engine"`, "how the page", "engine -crawler"} {
				resp, err := s.Search(t.Context(), searcher.Request{Query: text, Limit: 30})
				must(t, err)
				if !slices.Equal(resp.Missing, []int{1}) || !resp.Partial || resp.Exact {
					t.Errorf("%s: shards %d are missing, partial %t", text, resp.Missing, resp.Partial)
				}
				for _, r := range resp.Results {
					if shard, _ := r.Doc.Shard(); shard == 1 {
						t.Errorf("%s: %s of the shard that is lost", text, r.URL)
					}
				}
			}
		})
	}
}

// TestOtherStates checks that calls about a state that is not the current one are answered while its
// files exist, and that other calls fail.
func TestOtherStates(t *testing.T) {
	c, info := manySites(3, 200, 2)
	parts := splitBySite(c, 2)
	folders := parts.folders(t, info)
	dirs := []string{folders[0].dir, folders[1].dir}
	whole := parts.openIn(t, dirs, searcher.Options{})
	copies := []string{testweb.Light(t, dirs[0]), dirs[1]}
	var last []byte
	light := parts.openIn(t, copies, searcher.Options{Remote: func(ctx context.Context, shard int, call []byte) ([]byte, error) {
		last = slices.Clone(call)
		return whole.AnswerShard(ctx, shard, call)
	}})
	req := searcher.Request{Query: "search engine", Limit: 20}
	want := wholeAnswer(t, light, req)
	if len(last) == 0 {
		t.Fatal("no call")
	}
	state := string(last)
	for name, change := range map[string]struct {
		call string
		err  error
	}{
		"no JSON":        {"x", searcher.ErrCall},
		"nothing asked":  {"{}", searcher.ErrState},
		"another folder": {strings.Replace(state, `"Folder":"`, `"Folder":"0`, 1), searcher.ErrState},
		"a path":         {strings.Replace(state, `"Segments":["`, `"Segments":["../`, 1), searcher.ErrState},
		"other weights":  {strings.Replace(state, `"Weights":"`, `"Weights":"-w0`, 1), searcher.ErrState},
	} {
		if _, err := whole.AnswerShard(t.Context(), 0, []byte(change.call)); !errors.Is(err, change.err) {
			t.Errorf("%s: %v, want %v", name, err, change.err)
		}
	}
	if _, err := whole.AnswerShard(t.Context(), 2, last); !errors.Is(err, searcher.ErrShard) {
		t.Errorf("a shard that does not exist: %v", err)
	}
	if _, err := light.AnswerShard(t.Context(), 0, last); !errors.Is(err, searcher.ErrShard) {
		t.Errorf("a light shard: %v", err)
	}
	more := oracle.Segment{Documents: []*oracle.Document{{Doc: 900, URL: "http://h77.org/", Length: 3}}, Average: c.Segments[0].Average}
	folders[0].add(more, bare)
	folders[0].publish()
	changed, err := whole.Refresh()
	must(t, err)
	if !changed {
		t.Fatal("the whole shard has no newer state")
	}
	if got := wholeAnswer(t, light, req); got != want {
		t.Errorf("with a newer state on the other machine:\n%s\nwant\n%s", got, want)
	}
}

// TestCompletedShard checks that a light shard whose files have arrived is whole after a refresh.
func TestCompletedShard(t *testing.T) {
	c, info := manySites(5, 100, 2)
	parts := splitBySite(c, 1)
	dirs := parts.write(t, info)
	light := testweb.Light(t, dirs[0])
	s := parts.openIn(t, []string{light}, searcher.Options{})
	req := searcher.Request{Query: "search engine"}
	resp, err := s.Search(t.Context(), req)
	must(t, err)
	if !resp.Partial {
		t.Error("a light shard alone answers")
	}
	files, err := filepath.Glob(filepath.Join(dirs[0], "index", "*", "*"))
	must(t, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		must(t, err)
		to := strings.Replace(file, dirs[0], light, 1)
		if _, err := os.Stat(to); err != nil {
			must(t, os.WriteFile(to, content, 0o600))
		}
	}
	changed, err := s.Refresh()
	must(t, err)
	whole := parts.openIn(t, dirs, searcher.Options{})
	if got, want := wholeAnswer(t, s, req), wholeAnswer(t, whole, req); !changed || got != want {
		t.Errorf("changed %t: %s\nwant\n%s", changed, got, want)
	}
}

// TestLightenedShard checks that a whole shard whose files were deleted is light after a refresh, so that
// the deleted files are closed.
func TestLightenedShard(t *testing.T) {
	c, info := manySites(5, 100, 2)
	parts := splitBySite(c, 1)
	dirs := parts.write(t, info)
	whole := parts.openIn(t, dirs, searcher.Options{})
	copied := filepath.Join(t.TempDir(), "copy")
	must(t, os.CopyFS(copied, os.DirFS(dirs[0])))
	calls := 0
	s := parts.openIn(t, []string{copied}, searcher.Options{Remote: func(ctx context.Context, shard int, call []byte) ([]byte, error) {
		calls++
		return whole.AnswerShard(ctx, shard, call)
	}})
	light := testweb.Light(t, dirs[0])
	must(t, os.RemoveAll(copied))
	must(t, os.Rename(light, copied))
	changed, err := s.Refresh()
	must(t, err)
	req := searcher.Request{Query: "search engine"}
	if got, want := wholeAnswer(t, s, req), wholeAnswer(t, whole, req); !changed || calls == 0 || got != want {
		t.Errorf("changed %t, %d calls: %s\nwant\n%s", changed, calls, got, want)
	}
	if changed, err := s.Refresh(); changed || err != nil {
		t.Errorf("changed again: %t, %v", changed, err)
	}
}

// TestManyServed checks that a machine with many shards answers calls about their last states, whose files are
// deleted.
func TestManyServed(t *testing.T) {
	const n = 24
	used := 0
	c, info := manySites(3, 900, 1)
	parts := splitBySite(c, n)
	folders := parts.folders(t, info)
	var dirs, copies []string
	for _, f := range folders {
		copied := f.dir
		if len(f.manifest.Segments) > 0 {
			copied = testweb.Light(t, f.dir)
			used++
		}
		dirs, copies = append(dirs, f.dir), append(copies, copied)
	}
	if used < 20 {
		t.Fatalf("%d shards have pages", used)
	}
	whole := parts.openIn(t, dirs, searcher.Options{})
	light := parts.openIn(t, copies, searcher.Options{Remote: whole.AnswerShard})
	req := searcher.Request{Query: "search engine", Limit: 20}
	want := wholeAnswer(t, light, req)
	for i, f := range folders {
		old := f.manifest.Segments
		f.manifest.Segments = nil
		doc := &oracle.Document{Doc: vocab.DocID(900 + i), URL: fmt.Sprintf("http://h%d.org/", i), Length: 3}
		f.add(oracle.Segment{Documents: []*oracle.Document{doc}, Average: c.Segments[0].Average}, bare)
		f.publish()
		for _, name := range old {
			must(t, os.RemoveAll(datadir.Segment(f.dir, name)))
		}
	}
	for range 2 {
		_, err := whole.Refresh()
		must(t, err)
	}
	if got := wholeAnswer(t, light, req); got != want {
		t.Errorf("%.500s\nwant\n%.500s", got, want)
	}
}

// TestServedEnd checks that snapshots for calls of other machines do not accumulate after the last call,
// while the index changes.
func TestServedEnd(t *testing.T) {
	c, info := manySites(3, 200, 1)
	f := newFolder(t)
	f.add(c.Segments[0], info)
	f.publish()
	whole := f.open(searcher.Options{})
	light := openLight(t, f.dir, whole.AnswerShard)
	_, err := light.Search(t.Context(), searcher.Request{Query: "search engine"})
	must(t, err)
	const changes = 60
	for i := range changes {
		f.manifest.Segments = nil
		doc := &oracle.Document{Doc: vocab.DocID(900 + i), URL: fmt.Sprintf("http://h%d.org/", i), Length: 3}
		f.add(oracle.Segment{Documents: []*oracle.Document{doc}, Average: c.Segments[0].Average}, bare)
		f.publish()
		_, err := whole.Refresh()
		must(t, err)
	}
	if n := whole.Segments(); n > changes/2 {
		t.Errorf("%d segments are open after %d changes", n, changes)
	}
}

// FuzzAnswerShard checks that no call makes a machine panic or hang, and that what it answers is JSON.
func FuzzAnswerShard(f *testing.F) {
	c, info := manySites(3, 900, 2)
	parts := splitBySite(c, 1)
	folder := newFolder(f)
	for _, s := range parts.shards[0].Segments {
		folder.add(s, info)
	}
	folder.rank(parts.shards[0].Ranks)
	folder.publish()
	whole := folder.open(searcher.Options{})
	light := openLight(f, folder.dir, func(ctx context.Context, shard int, call []byte) ([]byte, error) {
		f.Add(slices.Clone(call))
		return whole.AnswerShard(ctx, shard, call)
	})
	facets, _ := searcher.ParseFacets("all")
	for _, text := range []string{"search engine", `"search engine"`, "engine -search", "how the page", "search NEAR engine", "sort:date search"} {
		_, err := light.Search(f.Context(), searcher.Request{Query: text, Explain: true, Facets: facets, Preferences: &searcher.Preferences{Raise: []string{"h1.org"}, Block: []string{"h2.org"}, Lang: "el"}})
		must(f, err)
	}
	f.Fuzz(func(t *testing.T, call []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		reply, err := whole.AnswerShard(ctx, 0, call)
		if err == nil && !json.Valid(reply) {
			t.Errorf("%q", reply)
		}
	})
}

// BenchmarkLight measures queries over two shards that are whole, and that are light, whose calls are
// answered in the same process; calls a query.
func BenchmarkLight(b *testing.B) {
	c, info := manySites(2, 4000, 1)
	folder := newFolder(b)
	for _, s := range c.Segments {
		folder.add(s, info)
	}
	folder.rank(c.Ranks)
	folder.publish()
	whole := folder.open(searcher.Options{})
	calls, bytes := 0, 0
	light := openLight(b, folder.dir, func(ctx context.Context, shard int, call []byte) ([]byte, error) {
		reply, err := whole.AnswerShard(ctx, shard, call)
		calls, bytes = calls+1, bytes+len(call)+len(reply)
		return reply, err
	})
	for name, s := range map[string]*searcher.Searcher{"whole": whole, "light": light} {
		b.Run(name, func(b *testing.B) {
			calls, bytes = 0, 0
			b.ReportAllocs()
			for i := range b.N {
				req := searcher.Request{Query: sayings[i%len(sayings)] + " " + sayings[(i*7+3)%len(sayings)]}
				if _, err := s.Search(b.Context(), req); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(calls)/float64(b.N), "calls/op")
			b.ReportMetric(float64(bytes)/float64(b.N), "wire-B/op")
		})
	}
}

// TestCutReplies checks that forms from a reply that another machine cut short are not kept, and that an
// answer without all matches says so.
func TestCutReplies(t *testing.T) {
	c, info := manySites(7, 3000, 3)
	parts := splitBySite(c, 2)
	dirs := parts.write(t, info)
	whole := parts.openIn(t, dirs, searcher.Options{})
	isCut, calls := "", 0
	light := parts.openIn(t, []string{testweb.Light(t, dirs[0]), dirs[1]}, searcher.Options{Remote: func(ctx context.Context, shard int, call []byte) ([]byte, error) {
		if isCut != "" && strings.Contains(string(call), isCut) {
			calls++
			return []byte(`{"Over":true,"Forms":[{},{},{}]}`), nil
		}
		return whole.AnswerShard(ctx, shard, call)
	}})
	for _, isCut = range []string{`"Forms":{`, `"Collect":`} {
		resp, err := light.Search(t.Context(), searcher.Request{Query: "indexes"})
		must(t, err)
		if calls == 0 || !resp.Partial || resp.Exact {
			t.Errorf("%s: %d calls, partial %t", isCut, calls, resp.Partial)
		}
		calls = 0
	}
	isCut = ""
	req := searcher.Request{Query: "indexes"}
	if got, want := wholeAnswer(t, light, req), wholeAnswer(t, whole, req); got != want {
		t.Errorf("later:\n%s\nwant\n%s", got, want)
	}
}

// TestFormsOfNewSegment checks that the forms in a new segment of a light shard are asked for.
func TestFormsOfNewSegment(t *testing.T) {
	c, info := manySites(7, 3000, 3)
	segments := splitBySite(c, 1).shards[0].Segments
	f := newFolder(t)
	f.add(segments[0], info)
	f.publish()
	whole := f.open(searcher.Options{})
	dir := testweb.Light(t, f.dir)
	light, err := searcher.Open(dir, searcher.Options{Remote: whole.AnswerShard})
	must(t, err)
	t.Cleanup(func() { must(t, light.Close()) })
	req := searcher.Request{Query: "indexes"}
	for _, segment := range segments[1:] {
		if got, want := wholeAnswer(t, light, req), wholeAnswer(t, whole, req); got != want {
			t.Fatalf("%s\nwant\n%s", got, want)
		}
		f.add(segment, info)
		f.publish()
		must(t, os.RemoveAll(dir))
		must(t, os.Rename(testweb.Light(t, f.dir), dir))
		for _, s := range []*searcher.Searcher{whole, light} {
			_, err := s.Refresh()
			must(t, err)
		}
	}
	if got, want := wholeAnswer(t, light, req), wholeAnswer(t, whole, req); got != want {
		t.Fatalf("%s\nwant\n%s", got, want)
	}
}

// TestHostileCalls checks calls that no query makes: words that are not among the terms, and terms that
// take long to read.
func TestHostileCalls(t *testing.T) {
	c, info := manySites(3, 900, 2)
	dirs := splitBySite(c, 1).write(t, info)
	whole, err := searcher.Open(dirs[0], searcher.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, whole.Close()) })
	collect := ""
	light := openLight(t, dirs[0], func(ctx context.Context, shard int, call []byte) ([]byte, error) {
		if strings.Contains(string(call), `"Collect":`) {
			collect = string(call)
		}
		return whole.AnswerShard(ctx, shard, call)
	})
	_, err = light.Search(t.Context(), searcher.Request{Query: "search"})
	must(t, err)
	const word = `"Words":["search"]`
	at := strings.LastIndex(collect, word)
	if at < strings.Index(collect, `"Collect":`) {
		t.Fatalf("no word to replace: %s", collect)
	}
	if _, err := whole.AnswerShard(t.Context(), 0, []byte(collect[:at]+`"Words":["zzz"]`+collect[at+len(word):])); err != nil {
		t.Error(err)
	}
	many := `"Words":["search"` + strings.Repeat(`,"x"`, 1<<17) + `]`
	if _, err := whole.AnswerShard(t.Context(), 0, []byte(strings.Replace(collect, word, many, 1))); !errors.Is(err, searcher.ErrCall) {
		t.Errorf("many words: %v", err)
	}
}
