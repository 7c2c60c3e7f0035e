package indexer

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

// compareOutline: ParseOutline finds the links of Parse, each in the order of its first mention.
func compareOutline(t interface{ Fatalf(string, ...any) }, page *vocab.Page) {
	type link struct {
		target   string
		noFollow bool
	}
	distinct := func(links []link) (once []link) {
		seen := map[link]bool{}
		for _, l := range links {
			if !seen[l] {
				once = append(once, l)
			}
			seen[l] = true
		}
		return once
	}
	var want, got []link
	var whole, half Buffer
	d, err := Parse(page, &whole)
	o, err2 := ParseOutline(page, &half)
	if (err == nil) != (err2 == nil) {
		t.Fatalf("%.2000q: %v, Parse says %v", page.Body, err2, err)
	}
	if err != nil {
		return
	}
	for _, l := range d.Links {
		want = append(want, link{l.Target, l.Flags&vocab.NoFollow != 0})
	}
	for _, l := range o.Links {
		got = append(got, link{l.URL.String(), l.NoFollow})
	}
	got, want = distinct(got), distinct(want)
	if !slices.Equal(got, want) || o.Redirect != d.Redirect || !slices.Equal(o.Related, d.Related) {
		t.Fatalf("%.2000q:\n got %v, redirect %q\nwant %v, redirect %q", page.Body, got, o.Redirect, want, d.Redirect)
	}
}

var outlinePieces = []string{"<a href=x>", "<a href='x#y'>", "<a href='x #y'>", "<a href='#y'>", "<a href=''>", "<a href='p.html'>", "<a href='p.html#z' rel=nofollow>", "<a href=x rel='a ugc'>", "<A HREF=/x?a=1&amp;b=2>",
	"<a href='  x  '>", "<a href='x\t#'>", "<a href='//other.test/x'>", "<a href='http://www.example.org/x#1'>", "<a href='http://'>", "<a href='mailto:x'>", "<base href='/b/'>", "<area href=x alt=y>", "<iframe src=x>", "</iframe>",
	"<meta http-equiv=refresh content='0;url=x'>", "<meta http-equiv=refresh content='3;url=#x'>", "<meta name=robots content=nofollow>", "<noscript>", "</noscript>", "<script>", "</script>", "<!--", "-->", "<div hidden>", "</div>",
	"<link rel=next href=n>", "<link rel=canonical href=c>", "<object data=o type=text/html>", "<embed src=e>",
	"<form action=f>", "</form>", "<input type=hidden name=a value=b>", "<button formaction=g>", "<input type=submit>", "<iframe srcdoc='<a href=x>'>", "<q cite=x>", "<img longdesc=l>", "<a xlink:href=x>",
	"<svg>", "</svg>", "<title>", "</title>", "<p hidden>", "<p>", "<li>", "<li style='display:none'>", "text", "</a>", "<textarea>", "</textarea>", "<template>", "</template>", "<select>", "</select>", "<svg/>", "<img alt=x>"}

func TestOutlineIsParse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		body := strings.Join(rapid.SliceOfN(rapid.SampledFrom(outlinePieces), 0, 20).Draw(rt, "page"), "")
		compareOutline(rt, &vocab.Page{URL: "http://www.example.org/dir/p.html", ContentType: rapid.SampledFrom([]string{"text/html", "", "application/xhtml+xml", "text/markdown", "text/plain", "application/atom+xml"}).Draw(rt, "type"), Body: []byte(body), Robots: rapid.SampledFrom([]string{"", "nofollow"}).Draw(rt, "robots")})
	})
}

// TestOutlineOfPages compares on the pages of the folder that ANATOMY_PAGES names.
func TestOutlineOfPages(t *testing.T) {
	if os.Getenv("ANATOMY_PAGES") == "" {
		t.Skip("ANATOMY_PAGES names no folder of pages")
	}
	all, _ := pages(t)
	for i := range all {
		compareOutline(t, &all[i])
	}
}

func TestOutlineOfMany(t *testing.T) {
	var buf Buffer
	page := &vocab.Page{URL: pageURL, ContentType: "text/html", Body: []byte(strings.Repeat("<a href=x>y ", maxLinks) + "<a href=z>")}
	for range 2 {
		if o, err := ParseOutline(page, &buf); err != nil || len(o.Links) != 1 {
			t.Errorf("%d links, %v", len(o.Links), err)
		}
	}
}

func FuzzOutline(f *testing.F) {
	f.Add([]byte(strings.Join(outlinePieces, "")), "text/html")
	f.Add([]byte(strings.Join(pieces, "")), "text/html; charset=utf-16")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		compareOutline(t, &vocab.Page{URL: pageURL, ContentType: contentType, Body: body})
	})
}

func BenchmarkParseOutline(b *testing.B) {
	all, bytes := pages(b)
	report(b, len(all), bytes)
	var buf Buffer
	for b.Loop() {
		for i := range all {
			if _, err := ParseOutline(&all[i], &buf); err != nil {
				b.Fatal(err)
			}
		}
	}
}
