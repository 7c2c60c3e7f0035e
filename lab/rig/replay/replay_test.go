package replay

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"anatomy/vocab"
)

// TestCrawl crawls a page, its duplicate, a redirect and a URL that does not exist, and reads them.
func TestCrawl(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	body := &vocab.Page{ContentType: "text/html", Body: []byte(`<title>t</title><a href="/gone">x</a>`)}
	want := []Answer{
		{URL: "http://a.test/", At: at, Outcome: vocab.Fetched, Status: 200, Page: body},
		{URL: "http://b.test/long", At: at, Outcome: vocab.Fetched, Status: 200, Page: body},
		{URL: "http://a.test/to", At: at, Outcome: vocab.Redirected, Status: 301, Location: "http://a.test/"},
		{URL: "http://a.test/gone", At: at, Outcome: vocab.NotFound, Status: 404},
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := Crawl(t.Context(), dir, want); err != nil {
		t.Fatal(err)
	}
	got, err := Read(dir)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d answers, want %d; %v", len(got), len(want), err)
	}
	byURL := map[string]Answer{}
	for _, a := range got {
		byURL[a.URL] = a
	}
	for _, w := range want {
		g := byURL[w.URL]
		if w.Page != nil && (g.Page == nil || string(g.Page.Body) != string(w.Page.Body) || g.Content == vocab.ContentID{}) {
			t.Errorf("%s: page %+v", w.URL, g.Page)
		}
		g.Page, g.Content, w.Page = nil, vocab.ContentID{}, nil
		if !reflect.DeepEqual(g, w) {
			t.Errorf("got %+v, want %+v", g, w)
		}
	}
}
