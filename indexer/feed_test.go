package indexer

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"anatomy/vocab"
)

const rss = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="x"><channel>
<title>News &amp; more</title><link>http://www.example.org/news/</link><description>All the &lt;b&gt;news&lt;/b&gt;</description>
<atom:link rel="self" href="http://www.example.org/feed"/><atom:link rel="next" href="/feed?page=2"/>
<image><url>http://www.example.org/x.png</url><title>no</title><link>http://no.test/</link></image>
<item><title><![CDATA[First <i>item</i>]]></title><link>
  /first?a=1&amp;b=2 </link><guid isPermaLink="false">17</guid><pubDate>Sat, 21 Nov 2026 10:00:00 +0100</pubDate><description>text &lt;p&gt;</description></item>
<item><title>Second</title><guid>http://other.test/second</guid><dc:date xmlns:dc="x">2026-11-20</dc:date></item>
<item><title>Third has no link</title><guid isPermaLink="false">http://www.example.org/no</guid></item>
<item><title>From the future</title><link>/fourth</link><pubDate>Sat, 21 Nov 2099 10:00:00 GMT</pubDate></item>
</channel></rss>`

const atomFeed = `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://www.example.org/blog/"><title type="html">Blog &amp;amp; co</title><subtitle>About</subtitle>
<link rel="self" href="feed.atom"/><link href="./"/><author><name>Ada</name></author>
<entry><title>One</title><link rel="edit" href="edit/1"/><link href="1.html"/><published>2026-11-01T00:00:00Z</published><updated>2026-11-02T03:04:05.5+00:00</updated>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><title>no</title><a href="no">no</a></div></content></entry>
</feed>`

const rdf = `<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE rdf:RDF [<!ENTITY x "y">]><!-- remark -->
<rdf:RDF xmlns="http://purl.org/rss/1.0/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="x"><channel rdf:about="x"><title>Caf` + "\xe9" + `</title></channel>
<item rdf:about="x"><title>One &eacute;</title><link>http://www.example.org/1</link><dc:date>2026-11-02T03:04Z</dc:date></item></rdf:RDF>`

// TestFeeds: feeds of three kinds, however they are sent.
func TestFeeds(t *testing.T) {
	for _, c := range []struct{ kind, body, title, description, links, related, text string }{
		{"application/rss+xml", rss, "News & more", "All the news",
			"/first?a=1&b=2 First item 2026-11-21T09:00:00Z, http://other.test/second Second 2026-11-20T00:00:00Z, /fourth From the future ",
			"/news/ /feed?page=2", "First item|Second|Third has no link|From the future"},
		{"text/html", rss[:strings.Index(rss, "<item><title>Second")], "News & more", "All the news", "/first?a=1&b=2 First item 2026-11-21T09:00:00Z",
			"/news/ /feed?page=2", "First item"},
		{"application/atom+xml; charset=utf-8", atomFeed, "Blog & co", "About", "/blog/1.html One 2026-11-02T03:04:05Z", "/blog/", "One"},
		{"application/xml", rdf, "Café", "", "/1 One é 2026-11-02T03:04:00Z", "", "One é"},
		{"text/xml", "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><title>T</title><a href='/x'>x</a></html>", "T", "", "/x x ", "", "x"},
		{"text/html", "<?xml version='1.0'?><html><title>T</title><item><link>/x</link></item></html>", "T", "", "", "", "/x"},
		{"application/rss+xml", "<rss></channel></item><item><item><title>a</title></item></rss></rss>", "", "", "", "", "a"},
		{"application/rss+xml", "<rss><item><title>kept</title><link>/x</link></item><item><<<", "", "", "/x kept ", "", "kept"},
	} {
		page := &vocab.Page{URL: pageURL, ContentType: c.kind, Body: []byte(c.body), Fetched: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
		d := parsePage(t, page)
		var links []string
		for _, l := range d.Links {
			changed := ""
			if l.Changed != 0 {
				changed = time.Unix(int64(l.Changed), 0).UTC().Format(time.RFC3339)
			}
			links = append(links, fmt.Sprintf("%s %s %s", l.Target, l.Text, changed))
		}
		short := func(s []string, sep string) string {
			return strings.ReplaceAll(strings.Join(s, sep), "http://www.example.org/", "/")
		}
		got := []string{d.Info.Title, d.Info.Description, short(links, ", "), short(d.Related, " "), strings.ReplaceAll(d.Info.Text, "\n", "|")}
		if want := []string{c.title, c.description, c.links, c.related, c.text}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s %.40s:\n got %q\nwant %q", c.kind, c.body, got, want)
		}
	}
}

func TestOtherXML(t *testing.T) {
	var buf Buffer
	for _, body := range []string{"<urlset/>", "<svg><title>x</title></svg>", "no XML", "", "<?xml version='1.0'?>", "<!--"} {
		if d, err := Parse(&vocab.Page{URL: pageURL, ContentType: "application/xml", Body: []byte(body)}, &buf); !errors.Is(err, errXML) {
			t.Errorf("%q: %v %v", body, d, err)
		}
	}
}

func TestFeedTime(t *testing.T) {
	for in, want := range map[string]int64{
		"Sat, 21 Nov 2026 11:57:15 GMT": 1795262235, "21 Nov 2026 11:57:15 +0000": 1795262235, "2026-11-21T12:57:15+01:00": 1795262235,
		"Sat, 21 Nov 26 11:57:15 +0000": 1795262235, "2026-11-21": 1795219200, "yesterday": 0, "": 0, "1890-01-01": 0,
	} {
		if got := parseTime(in); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	d := parsePage(t, &vocab.Page{URL: pageURL, ContentType: "text/markdown; charset=utf-8",
		Body: []byte("Intro\n\n# The *Title* #\n\nSee [the page](other.md) and `code`.\n\n| a | b |\n|---|---|\n| c | d |\n\n<p hidden>not <a href=/x>x</a></p>\n")})
	if d.Info.Title != "The Title" || len(d.Links) != 2 || d.Links[0].Target != "http://www.example.org/dir/other.md" || d.Links[0].Text != "the page" {
		t.Errorf("%q %+v", d.Info.Title, d.Links)
	}
	const want = "intro | the/h1 title/h1 | see the page and code/code | a b c d"
	if got := bodyWords(d); got != want {
		t.Errorf("%s", got)
	}
	for body, want := range map[string]string{
		"Name\nof it\n====\ntext\n---\n":                    "name/h1 of/h1 it/h1 | text/h2",
		"- one\n- two *three*\n  four\n\n1. five":           "one | two three four | five",
		"> quoted\n> - item\n***\nafter":                    "quoted | item | after",
		"```go\n<b>x\n# y\n```\nz":                          "b/code x/code y/code | z",
		"~~~\nopen":                                         "open/code",
		"![a \"pic\"](x.png) [![badge](b.svg)](c) [![x](y)": "a/alt pic/alt badge x/alt",
		"[a]: http://x.test 'title'\nsee [a]":               "a | see a",
		"snake_case \\*star [open](never [x] `tick":         "snake_case star open never x tick",
		"| a | b |\n|---|---|\n|c|d|":                       "a b c d",
		"####### seven\n#hash":                              "seven hash",
	} {
		if got := bodyWords(parsePage(t, &vocab.Page{URL: pageURL, ContentType: "text/x-markdown", Body: []byte(body)})); got != want {
			t.Errorf("%q:\n got %s\nwant %s", body, got, want)
		}
	}
}

// TestOffice: an office document, whatever it is sent as, is the page that is made of it, with its title,
// date, language, links and sections, or an error.
func TestOffice(t *testing.T) {
	body, err := os.ReadFile("officetext/testdata/text.odt")
	if err != nil {
		t.Fatal(err)
	}
	fetched := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for _, kind := range []string{"application/vnd.oasis.opendocument.text", "application/octet-stream", "text/html", ""} {
		page := &vocab.Page{URL: pageURL, ContentType: kind, Body: body, Fetched: fetched}
		d, err := Parse(page, new(Buffer))
		if err != nil {
			t.Fatal(err)
		}
		if i := d.Info; i.Title != "Tidal power" || i.Medium != vocab.ODT || i.Lang != "en-gb" ||
			i.Date != vocab.DayOf(time.Date(2024, 6, 7, 0, 0, 0, 0, time.UTC)) || !strings.Contains(string(i.Text), "estuary of the Rance") {
			t.Errorf("%+v", i)
		}
		if len(d.Links) != 1 || d.Links[0].Target != "http://a.test/rance" || d.Links[0].Text != "its operator" {
			t.Errorf("links %+v", d.Links)
		}
		if !strings.Contains(string(d.Info.Text), "section-1") {
			t.Errorf("no section in %q", d.Info.Text)
		}
		outline, err := ParseOutline(page, new(Buffer))
		if err != nil || len(outline.Links) != 1 {
			t.Errorf("%+v %v", outline, err)
		}
		if images, err := Images(page, new(Buffer)); err != nil || len(images) > 0 {
			t.Error(images, err)
		}
	}
	for _, broken := range [][]byte{body[:len(body)/2], []byte("no zip file")} {
		page := &vocab.Page{URL: pageURL, ContentType: "application/vnd.oasis.opendocument.text", Body: broken}
		if d, err := Parse(page, new(Buffer)); err == nil {
			t.Errorf("%+v", d.Info)
		}
	}
}

// TestData: CSV, by its type or its name, and JSON are the pages that are made of them, in whatever
// encoding; those without a letter are an error.
func TestData(t *testing.T) {
	for _, c := range []struct {
		path, kind, body string
		medium           vocab.Medium
		title, words     string
	}{
		{"a", "text/csv", "City,Country\nBern,Switzerland\n", vocab.CSV, "City, Country", "city country bern switzerland"},
		{"a", "text/csv; charset=utf-16le", "C\x00a\x00,\x00b\x00\n\x00\xe9\x00t\x00,\x00x\x00", vocab.CSV, "Ca, b", "ca b et x"},
		{"a", "text/tab-separated-values", "City\tCountry\nBern\tSwitzerland\n", vocab.CSV, "City, Country", "city country bern switzerland"},
		{"a.csv?x=1", "application/octet-stream", "City;Country\nBern;<b>", vocab.CSV, "City, Country", "city country bern b"},
		{"a.TSV", "text/plain", "City\tCountry\nBern\tb", vocab.CSV, "City, Country", "city country bern b"},
		{"a.csv", "text/html", "<title>t</title>City,Country", vocab.HTML, "t", "city country"},
		{"a", "application/json", `{"name": "Bern", "in": ["Switzerland"]}`, vocab.JSON, "Bern", "name bern in switzerland"},
		{"a", "text/csv", "1,2\n", vocab.OtherMedium, "", ""},
		{"a", "application/json", `{"a": [1, 2]}`, vocab.OtherMedium, "", ""},
		{"a", "application/yaml", "name: Bern", vocab.OtherMedium, "", ""},
	} {
		page := &vocab.Page{URL: "http://a.test/" + c.path, ContentType: c.kind, Body: []byte(c.body)}
		html, isData := DataPage(page)
		if want := c.medium != vocab.OtherMedium && c.medium != vocab.HTML; isData != want || want && !strings.Contains(string(html), "<title>"+c.title) {
			t.Errorf("%s %q: page %v %s", c.kind, c.body, isData, html)
		}
		d, err := Parse(page, new(Buffer))
		if c.medium == vocab.OtherMedium {
			if err == nil {
				t.Errorf("%s %q: %+v", c.kind, c.body, d.Info)
			}
			continue
		}
		if err != nil {
			t.Fatal(c.kind, err)
		}
		if d.Info.Medium != c.medium || d.Info.Title != c.title || strings.ReplaceAll(bodyWords(d), " | ", " ") != c.words {
			t.Errorf("%s %q: %s %q %q", c.kind, c.body, d.Info.Medium, d.Info.Title, bodyWords(d))
		}
	}
}

// TestPDF: a PDF, whatever it is sent as, is the page that is made of it, or an error.
func TestPDF(t *testing.T) {
	broken := errors.New("broken")
	buf := Buffer{PDF: func(body []byte) ([]byte, error) {
		if string(body) != "%PDF-1.7 whole" {
			return nil, broken
		}
		return []byte("<title>Paper</title><h1>One \xc3\xa9</h1><a href=/x></a>"), nil
	}}
	for _, kind := range []string{"application/pdf", "text/html", "text/plain", ""} {
		page := &vocab.Page{URL: pageURL, ContentType: kind, Body: []byte("%PDF-1.7 whole"), Robots: "nofollow"}
		d, err := Parse(page, &buf)
		if err != nil || d.Info.Title != "Paper" || bodyWords(d) != "one/h1 e/h1" || len(d.Links) != 1 || !d.NoFollow {
			t.Errorf("%s: %+v %v", kind, d, err)
		}
		page.Body = page.Body[:9]
		if _, err := Parse(page, &buf); !errors.Is(err, broken) {
			t.Errorf("%s: %v", kind, err)
		}
		if _, err := Parse(page, &Buffer{}); !errors.Is(err, ErrPDF) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestMarkdownTime: marks that a renderer of all of CommonMark takes the square of the time for.
func TestMarkdownTime(t *testing.T) {
	for _, mark := range []string{"[", "![", "[a](", "*a_ ", "> ", "- ", "`", "<", "_a*", "\n* a", "**a", "[a]: b\n", "|a", "\\"} {
		body := strings.Repeat(mark, 400_000/len(mark))
		var buf Buffer
		if _, err := Parse(&vocab.Page{URL: pageURL, ContentType: "text/markdown", Body: []byte(body)}, &buf); err != nil {
			t.Errorf("%q: %v", mark, err)
		}
	}
}

func FuzzFeed(f *testing.F) {
	f.Add([]byte(rss))
	f.Add([]byte(atomFeed))
	f.Add([]byte(rdf))
	f.Add([]byte("<rss><item><link href='x'/></guid></item>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, kind := range []string{"text/xml", "text/html", "text/markdown"} {
			var buf Buffer
			d, err := Parse(&vocab.Page{URL: pageURL, ContentType: kind, Body: body}, &buf)
			if err == nil && len(d.Links) > maxLinks {
				t.Fatal(len(d.Links))
			}
		}
	})
}
