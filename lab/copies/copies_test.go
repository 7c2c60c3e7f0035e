package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anatomy/disk/docindex"
	"anatomy/lab/rig/replay"
	"anatomy/vocab"
)

// crawl returns pages of random words on three hosts of which a fourth links to each first page.
func crawl() (all []replay.Answer) {
	random := rand.New(rand.NewPCG(1, 1))
	add := func(url, title, text string) {
		body := fmt.Sprintf("<html><head><title>%s</title></head><body><p>%s</p></body></html>", title, text)
		all = append(all, replay.Answer{
			URL: url, At: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), Outcome: vocab.Fetched, Status: 200,
			Page:    &vocab.Page{ContentType: "text/html; charset=utf-8", Body: []byte(body)},
			Content: vocab.ContentOf([]byte(body)),
		})
	}
	var links strings.Builder
	for host := range 3 {
		fmt.Fprintf(&links, `<a href="http://original%d.test/0">%d</a> `, host, host)
		for i := range leastPages {
			var text strings.Builder
			for range 400 {
				fmt.Fprintf(&text, "w%dx ", random.IntN(5000))
			}
			if i == 0 {
				for next := range leastPages {
					fmt.Fprintf(&text, `<a href="/%d">next</a> `, next)
				}
			}
			add(fmt.Sprintf("http://original%d.test/%d", host, i), fmt.Sprintf("title %c%c", 'a'+host, 'a'+i), text.String())
		}
	}
	add("http://start.test/", "start", links.String())
	return all
}

// TestRun finds all originals of mirrors that nobody links to.
func TestRun(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if err := replay.Crawl(t.Context(), data, crawl()); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out, options{data: data, work: t.TempDir(), sentences: 5}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2+2*len(kinds) {
		t.Fatalf("%s", out.String())
	}
	for _, line := range lines[2:6] {
		if !strings.HasPrefix(line, "| mirror") || strings.Count(line, "| 100.0, 0.0 |")+strings.Count(line, " 100.0, 0.0 |") < len(settings) {
			t.Errorf("%s", line)
		}
	}
}

// TestOrder fetches mirrors before their originals or after them: the same are canonical.
func TestOrder(t *testing.T) {
	for first := range 2 {
		w, err := newWeb(crawl(), kinds[0], 0, first)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "data")
		if err := replay.Crawl(t.Context(), dir, w.answers); err != nil {
			t.Fatal(err)
		}
		originals := 0
		if err := docindex.Use(dir, func(db *docindex.DB) error {
			return db.Each(1, func(d docindex.Record) error {
				if d.IsPage() && strings.HasPrefix(d.URL, "http://m") {
					t.Errorf("order %d: %s is canonical", first, d.URL)
				} else if d.IsPage() {
					originals++
				}
				return nil
			})
		}); err != nil {
			t.Fatal(err)
		}
		if originals != 3*leastPages+1 {
			t.Errorf("%d canonical documents", originals)
		}
	}
}
