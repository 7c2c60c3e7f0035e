package collection_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"anatomy/collection"
	"anatomy/internal/test/testweb"
	"anatomy/searcher"
)

// TestLightCopy checks that a machine with a light copy has the cached pages and images of one with
// the whole folder, and says that they are not found while that does not answer.
func TestLightCopy(t *testing.T) {
	web := testweb.New(t)
	web.Page("fox.test/", `<title>Foxes</title><h1>A fox</h1><a href=a>a</a><img src=/one.jpg alt="A red fox in the snow">`)
	web.Page("fox.test/a", `<title>Red</title><p>A red fox. <figure><img src=/two.jpg alt="A fox"></figure>`)
	dir := t.TempDir()
	testweb.Crawl(t, web.Options(dir, "http://fox.test/"))
	whole := testweb.OpenSite(t, dir)
	var remote func(context.Context, int, []byte) ([]byte, error)
	copied := testweb.OpenSiteWith(t, testweb.Light(t, dir), searcher.Options{
		Remote: func(ctx context.Context, shard int, call []byte) ([]byte, error) { return remote(ctx, shard, call) },
	})
	req := searcher.Request{Query: "fox", Limit: searcher.MaxLimit}
	resp, err := whole.Search(t.Context(), req)
	testweb.Must(t, err)
	away := errors.New("away")
	checked := 0
	for i := range resp.Results {
		r := &resp.Results[i]
		if !r.Crawled {
			continue
		}
		remote = func(context.Context, int, []byte) ([]byte, error) { return nil, away }
		if _, err := copied.Page(t.Context(), r.Doc); !errors.Is(err, collection.ErrNotFound) || !errors.Is(err, away) {
			t.Errorf("%s: %v", r.URL, err)
		}
		remote = func(context.Context, int, []byte) ([]byte, error) { return []byte("x"), nil }
		if p, err := copied.Page(t.Context(), r.Doc); err == nil {
			t.Errorf("%s: a damaged reply is the page %+v", r.URL, p)
		}
		remote = whole.AnswerShard
		got, err := copied.Page(t.Context(), r.Doc)
		testweb.Must(t, err)
		want, err := whole.Page(t.Context(), r.Doc)
		testweb.Must(t, err)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
		checked++
	}
	if checked == 0 {
		t.Error("no page")
	}
	if _, err := copied.AnswerShard(t.Context(), 0, []byte(`{"Page":{"Doc":1,"At":0}}`)); !errors.Is(err, searcher.ErrShard) {
		t.Errorf("a light copy answers: %v", err)
	}
	for call, want := range map[string]error{
		`{"Page":`:                       searcher.ErrCall,
		`{"Page":{"Doc":1,"At":12345}}`:  searcher.ErrState,
		`{"Page":{"Doc":1099511627777}}`: searcher.ErrShard,
	} {
		if _, err := whole.AnswerShard(t.Context(), 0, []byte(call)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", call, err, want)
		}
	}
	if got, want := found(t, copied, "fox"), found(t, whole, "fox"); !slices.Equal(got, want) || len(want) < 2 {
		t.Errorf("images %q, want %q", got, want)
	}
}
