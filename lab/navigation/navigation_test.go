package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anatomy/lab/rig/replay"
	"anatomy/vocab"
)

// TestRun makes a web of 20 products, each with a home page that others call by its name. The name is
// in the title of half of these pages. A second site uses other texts for all of them.
func TestRun(t *testing.T) {
	var crawl []replay.Answer
	add := func(url, title, body string) {
		html := fmt.Sprintf("<html><head><title>%s</title></head><body>%s</body></html>", title, body)
		crawl = append(crawl, replay.Answer{
			URL: url, At: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), Outcome: vocab.Fetched, Status: 200,
			Page: &vocab.Page{ContentType: "text/html; charset=utf-8", Body: []byte(html)},
		})
	}
	var links, more strings.Builder
	for i := range 20 {
		name, title := fmt.Sprintf("Product%c", 'a'+i), "home"
		if i%2 == 0 {
			title = name + " home"
		}
		add(fmt.Sprintf("http://p%d.test/", i), title, "<p>This is what we make.</p>")
		fmt.Fprintf(&links, `<p>See <a href="https://p%d.test/"><b>%s</b></a>.</p>`, i, name)
		fmt.Fprintf(&more, `<p><a href="http://p%d.test/#top">the site of %s, their maker and the rest</a></p>`, i, name)
	}
	add("http://links.test/", "links", links.String())
	add("http://more.test/", "more", more.String())
	data := filepath.Join(t.TempDir(), "data")
	if err := replay.Crawl(t.Context(), data, crawl); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out, data, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	var questions, lost, left int
	if _, err := fmt.Sscanf(lines[0], "%d names; %d links lost their text, %d", &questions, &lost, &left); err != nil {
		t.Fatal(err)
	}
	if questions < 5 || questions > 15 || lost != questions || left != 0 {
		t.Errorf("%s", lines[0])
	}
	if len(lines) != 3+2*len(settings)+1 || !strings.Contains(lines[3], "| default | 1.000 |") {
		t.Errorf("%s", out.String())
	}
}

// TestStripLinks moves the contents of links out of them, and keeps every other byte.
func TestStripLinks(t *testing.T) {
	matches := func(href, text string) bool { return href == "x&y" && text == "a b" }
	for from, want := range map[string]string{
		`1<A title=t class=c HREF="x&amp;y">a <b>b</b></A >2`:   `1a <b>b</b><a class="c" href="x&amp;y"></A >2`,
		`<a href=x>a b</a><!-- <a href="x&y">a b</a> -->`:       `<a href=x>a b</a><!-- <a href="x&y">a b</a> -->`,
		`<a href="x&y">a b<a href="x&y">c</a></p>`:              `a b<a href="x&amp;y"><a href="x&y">c</a></p>`,
		`<script>"<a href='x&y'>a b</a>"</script><p>é` + "\xff": `<script>"<a href='x&y'>a b</a>"</script><p>é` + "\xff",
		`<a name=n>a b</a><a href="x&y">a b`:                    `<a name=n>a b</a>a b<a href="x&amp;y">`,
	} {
		got, _ := stripLinks([]byte(from), matches)
		if string(got) != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
}
