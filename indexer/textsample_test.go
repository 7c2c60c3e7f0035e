package indexer

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

func sampleOf(t *testing.T, url, body string) vocab.TextSample {
	t.Helper()
	var buf Buffer
	page := &vocab.Page{Doc: 1, URL: url, ContentType: "text/html", Body: []byte(body)}
	d, err := Parse(page, &buf)
	if err != nil {
		t.Fatal(err)
	}
	o, err := ParseOutline(page, &buf)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(d.Sample, o.Sample) {
		t.Errorf("%s: sample %v of the page, %v of its outline", body, d.Sample, o.Sample)
	}
	return d.Sample
}

// Pages are alike in their lines, without what their URLs say.
func TestTextSample(t *testing.T) {
	const page = `<title>Shop</title><ul><li><a href=/a>Home page</a><li><a href=/b>Basket</a></ul><p>Shoes &amp; socks<p>2 of 3 left`
	want := sampleOf(t, "http://a.test/", page)
	if len(want.Lines) != 2 || len(want.Linked) != 2 || len(want.Figures) != 1 {
		t.Fatalf("%+v", want)
	}
	for what, c := range map[string]struct {
		url, body              string
		lines, linked, figures bool // equal
	}{
		"another order":      {"/", `<h1>Shop</h1><p>Shoes socks<p>2 of 3 left<p><a href=/b>Basket</a><p><a href=/c>HOME page</a>`, true, true, true},
		"not shown":          {"/", page + `<script>new Date()</script><p hidden>more`, true, true, true},
		"words of the URL":   {"/boots?size=9", page + `<p>Boots 9 boots`, true, true, true},
		"another number":     {"/", `<title>Shop</title><ul><li><a href=/a>Home page</a><li><a href=/b>Basket</a></ul><p>Shoes &amp; socks<p>1 of 3 left`, true, true, false},
		"another link":       {"/", page + `<p><a href=/d>Help</a>`, true, false, true},
		"link with numbers":  {"/", page + `<p><a href=/d>12</a> <a href=/e>13</a>`, true, true, true},
		"another line":       {"/", page + `<p>Hats`, false, true, true},
		"a sentence on it":   {"/", page + `<p>We have 3 pairs of hats in stock`, false, true, false},
		"a row of a table":   {"/", page + `<table><tr><td>Hats<td>3`, true, true, false},
		"cells are one line": {"/", page + `<table><tr><td>2<td>of 3<td>left`, true, true, true},
	} {
		got := sampleOf(t, "http://a.test"+c.url, c.body)
		same := func(a, b []uint32) bool { return reflect.DeepEqual(a, b) }
		if same(got.Lines, want.Lines) != c.lines || same(got.Linked, want.Linked) != c.linked || same(got.Figures, want.Figures) != c.figures {
			t.Errorf("%s: %+v, page %+v", what, got, want)
		}
	}
}

// A sample is bounded, whatever the page, and the own lines of a page under a long menu are in it.
func TestTextSampleIsBounded(t *testing.T) {
	menu := bytes.Repeat([]byte("<li><a href=/x>An entry of the menu</a>"), 5000)
	under := func(text string) vocab.TextSample {
		return sampleOf(t, "http://a.test/", "<ul>"+string(menu)+"</ul><p>"+text)
	}
	if a, b := under("one"), under("two"); reflect.DeepEqual(a, b) || len(a.Lines) != 1 {
		t.Errorf("%+v, %+v", a, b)
	}
	var long []byte
	for i := range 3000 {
		long = append(long, "<p>"...)
		long = append(long, byte('a'+i%26), byte('a'+i/26%26), byte('a'+i/676), ' ', '7')
	}
	s := sampleOf(t, "http://a.test/", string(long))
	if len(s.Figures) != sampledFigures || len(s.Lines) != 0 {
		t.Errorf("%d figures, %d lines", len(s.Figures), len(s.Lines))
	}
}

// shortWord does not see what is behind the text.
func TestShortWord(t *testing.T) {
	short := 0
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte("azAZ09_`{@[/:"))), 1, 20).Draw(t, "text")
		s := b[:rapid.IntRange(1, len(b)).Draw(t, "length")]
		h, figure, n := nextWord(slices.Clip(s))
		if h == 0 {
			return
		}
		if n <= 8 {
			short++
		}
		if h2, figure2, n2 := shortWord(s); h2 != h || figure2 != figure || n2 != n {
			t.Fatalf("%q: %x %v %d, nextWord says %x %v %d", s, h2, figure2, n2, h, figure, n)
		}
	})
	if short == 0 {
		t.Error("no short word")
	}
}

// classes finds the bytes that weights has, in every position.
func TestClasses(t *testing.T) {
	for c := range uint64(256) {
		for at := 0; at < 64; at += 8 {
			for _, others := range []uint64{0, 'a' * eachByte, '0' * eachByte, 0xFF * eachByte, 0x7F * eachByte} {
				ofWords, digits := classes(others&^(0xFF<<at) | c<<at)
				if got := ofWords>>at&0x80 != 0; got != (weights[c] != 0) {
					t.Errorf("%q: in words %v", rune(c), got)
				}
				if got := digits>>at&0x80 != 0; got != (weights[c] < 0) {
					t.Errorf("%q: digit %v", rune(c), got)
				}
			}
		}
	}
}

func TestTextSampleOfOtherMedia(t *testing.T) {
	for contentType, body := range map[string]string{
		"text/plain":          "One line\nanother line\n",
		"text/markdown":       "One line\n\nanother line\n",
		"application/rss+xml": "<?xml version='1.0'?><rss><channel><title>One line</title><description>another line</description></channel></rss>",
	} {
		var buf Buffer
		d, err := Parse(&vocab.Page{Doc: 1, URL: "http://a.test/", ContentType: contentType, Body: []byte(body)}, &buf)
		if err != nil || len(d.Sample.Lines) < 2 {
			t.Errorf("%s: %+v, %v", contentType, d, err)
		}
	}
}

func BenchmarkTextSample(b *testing.B) {
	text := bytes.Repeat([]byte("Some words of running text, as they are.\n"), 200)
	b.SetBytes(int64(len(text)))
	var s sampler
	for b.Loop() {
		s.reset("http://a.test/x/y.html")
		s.addRaw(text)
		s.sample()
	}
}
