package sitemap

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"anatomy/xmlcharset"
)

const urlset = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc> http://example.org/a?x=1&amp;y=2
</loc><lastmod>2026-01-01</lastmod><image:image><image:loc>http://example.org/no.png</image:loc></image:image></url>
<!-- <url><loc>http://example.org/no</loc></url> -->
<url><priority>1</priority><loc><![CDATA[http://example.org/b]]></loc></url>
<loc>http://example.org/no</loc>
</urlset>`

func TestRead(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = io.WriteString(w, urlset)
	_ = w.Close()
	utf16 := "\xff\xfe"
	for _, b := range []byte("<urlset><url><loc>http://example.org/a</loc></url></urlset>") {
		utf16 += string([]byte{b, 0})
	}
	cases := []struct {
		name, in        string
		pages, sitemaps string
		fails           bool
	}{
		{"urlset", urlset, "http://example.org/a?x=1&y=2 http://example.org/b", "", false},
		{"gzip", packed.String(), "http://example.org/a?x=1&y=2 http://example.org/b", "", false},
		{"gzip cut short", packed.String()[:packed.Len()-20], "http://example.org/a?x=1&y=2", "", true},
		{"index", "\xef\xbb\xbf <sitemapindex><sitemap><loc>http://example.org/s1.xml</loc></sitemap><sitemap>\nhttp://example.org/s2.xml\n</sitemap></sitemapindex>",
			"", "http://example.org/s1.xml http://example.org/s2.xml", false},
		{"text", "\xef\xbb\xbfhttp://example.org/a\r\n\njunk\nhttps://example.org/b", "http://example.org/a https://example.org/b", "", false},
		{"latin-1", "<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>http://example.org/\xe9</loc></url></urlset>", "http://example.org/é", "", false},
		{"utf-16", utf16, "http://example.org/a", "", false},
		{"bad namespace, never closed", "<x:urlset xmlns='what'><x:url><x:loc>http://example.org/a</x:loc></x:url><x:url>", "http://example.org/a", "", false},
		{"broken", "<urlset><url><loc>http://example.org/a</loc></url><url <<<", "http://example.org/a", "", true},
		{"too long", "<urlset><url><loc>http://example.org/" + strings.Repeat("a", 5000) + "</loc></url></urlset>", "", "", false},
		{"empty", "", "", "", false},
		{"web page", "<!doctype html><html><body>404 &nbsp; not found<br></body>", "", "", false},
	}
	for _, c := range cases {
		list, err := Read(strings.NewReader(c.in))
		if pages, sitemaps := strings.Join(urls(list), " "), strings.Join(list.Sitemaps, " "); sitemaps != c.sitemaps || (err != nil) != c.fails ||
			pages != c.pages && !(c.fails && strings.HasPrefix(c.pages, pages)) {
			t.Errorf("%s: %q %q %v", c.name, list.Pages, list.Sitemaps, err)
		}
	}
}

// endless repeats a text for ever.
type endless struct {
	text string
	at   int
	n    int64
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	e.n += int64(n)
	return n, nil
}

func TestBounds(t *testing.T) {
	for name, text := range map[string]string{
		"many URLs": "<url><loc>http://example.org/</loc></url>",
		"text":      "http://example.org/\n",
		"one line":  strings.Repeat("x", 4096),
		"open tags": "<a>",
		"one tag":   "<" + strings.Repeat("a", 4095),
	} {
		e := &endless{text: text}
		list, err := Read(e)
		if n := len(list.Pages); n > MaxURLs || e.n > MaxBytes+64<<10 || err == nil && !list.Cut {
			t.Errorf("%s: %d URLs, %d bytes, %v", name, n, e.n, err)
		}
	}
}

// TestLongTag: a tag that never ends is an error before it takes memory. A file of 50 KB with such a tag took
// 1.4 GB: attributes are small, and compress well.
func TestLongTag(t *testing.T) {
	e := &endless{text: " a=''"}
	list, err := Read(io.MultiReader(strings.NewReader("<urlset><url><loc>http://example.org/</loc></url><url"), e))
	if len(list.Pages) != 1 || err == nil || e.n > xmlcharset.MaxToken+64<<10 {
		t.Errorf("%d pages, %d bytes, %v", len(list.Pages), e.n, err)
	}
}

// TestSecondCharset: reading stops at a second declaration of an encoding. A reader for each would take
// memory without bound, and quadratic time.
func TestSecondCharset(t *testing.T) {
	const declared = `<?xml version="1.0" encoding="latin1"?>`
	const page = "<urlset><url><loc>http://example.org/</loc></url></urlset>"
	list, err := Read(strings.NewReader(declared + page + declared + page))
	if len(list.Pages) != 1 || err == nil {
		t.Errorf("%d pages, %v", len(list.Pages), err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(urlset))
	f.Add([]byte(versions))
	f.Add([]byte("http://a/\nhttp://b/"))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Add([]byte("<sitemapindex><sitemap>http://a/</sitemap>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, _ := Read(bytes.NewReader(data))
		all := append(urls(list), list.Sitemaps...)
		for _, p := range list.Pages {
			if len(p.Alternates) > maxAlternates {
				t.Fatalf("%d versions of one page", len(p.Alternates))
			}
			for _, a := range p.Alternates {
				if all = append(all, a.URL); !isLanguage(a.Lang) {
					t.Fatalf("%q", a.Lang)
				}
			}
		}
		for _, u := range all {
			if u == "" || len(u) > maxLoc {
				t.Fatalf("%q", u)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var file strings.Builder
	file.WriteString("<urlset>")
	for i := range 1000 {
		fmt.Fprintf(&file, "<url><loc>http://example.org/docs/page%d.html</loc><lastmod>2026-01-01</lastmod></url>\n", i)
	}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if list, err := Read(strings.NewReader(file.String())); err != nil || len(list.Pages) != 1000 {
			b.Fatal(err)
		}
	}
}

func urls(l List) (all []string) {
	for _, p := range l.Pages {
		all = append(all, p.URL)
	}
	return all
}

// TestModified reads lastmod in the forms that sites use, on either side of loc; what cannot be read is
// left out.
func TestModified(t *testing.T) {
	const file = `<urlset><url><loc>http://a.test/1</loc><lastmod>2026-01-02</lastmod></url>
<url><lastmod> 2026-01-02T03:04:05+01:00 </lastmod><loc>http://a.test/2</loc></url>
<url><loc>http://a.test/3</loc></url>
<url><loc>http://a.test/4</loc><lastmod>2026-01-02T03:04Z</lastmod></url>
<url><loc>http://a.test/5</loc><lastmod>yesterday</lastmod></url></urlset>`
	list, err := Read(strings.NewReader(file))
	want := []string{"2026-01-02T00:00:00Z", "2026-01-02T02:04:05Z", "0001-01-01T00:00:00Z", "2026-01-02T03:04:00Z", "0001-01-01T00:00:00Z"}
	if err != nil || len(list.Pages) != len(want) {
		t.Fatalf("%v, %v", list, err)
	}
	for i, p := range list.Pages {
		if got := p.Modified.Format(time.RFC3339); got != want[i] {
			t.Errorf("%s: %s, want %s", p.URL, got, want[i])
		}
	}
}

const versions = `<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml"><url>
<xhtml:link rel="alternate" hreflang="de" href=" http://a.test/de?a=1&amp;b=2 "/><loc>http://a.test/en</loc>
<xhtml:link rel="Alternate" hreflang="x-default" href="/"></xhtml:link>
<xhtml:link rel="alternate" href="http://a.test/no-language"/><xhtml:link rel="next" hreflang="fr" href="http://a.test/fr"/>
<xhtml:link rel="alternate" hreflang="not a tag" href="http://a.test/no"/><xhtml:link rel="alternate" hreflang="it"/>
<image:image><xhtml:link rel="alternate" hreflang="es" href="http://a.test/image"/></image:image></url>
<url><loc>http://a.test/alone</loc></url></urlset>`

// TestAlternates reads the versions of a page, before and after its loc, and leaves out what is not
// one: without a language or URL, with another relation, inside another element.
func TestAlternates(t *testing.T) {
	list, err := Read(strings.NewReader(versions))
	if err != nil || len(list.Pages) != 2 || len(list.Pages[1].Alternates) > 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	want := []Alternate{{"http://a.test/de?a=1&b=2", "de"}, {"/", "x-default"}}
	if got := list.Pages[0].Alternates; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAlternatesBounds: a page has at most maxAlternates versions, and a file maxAllAlternates.
func TestAlternatesBounds(t *testing.T) {
	one := "<url><loc>http://a.test/</loc>" + strings.Repeat(`<link rel="alternate" hreflang="de" href="/"/>`, 2*maxAlternates) + "</url>"
	list, _ := Read(&endless{text: one})
	total := 0
	for _, p := range list.Pages {
		if total += len(p.Alternates); len(p.Alternates) > maxAlternates {
			t.Fatalf("%d versions of a page", len(p.Alternates))
		}
	}
	if total != maxAllAlternates {
		t.Errorf("%d versions in %d pages", total, len(list.Pages))
	}
}
