package indexer

import (
	"bytes"
	"testing"

	"anatomy/vocab"
)

// Pages are alike in their words alone.
func TestWordSum(t *testing.T) {
	var buf Buffer
	sum := func(url, body string) uint64 {
		d, err := Parse(&vocab.Page{Doc: 1, URL: url, ContentType: "text/html", Body: []byte(body)}, &buf)
		if err != nil {
			t.Fatal(err)
		}
		return d.WordSum()
	}
	const page = `<title>May 2031</title><p>May 2031. 1 2 3 <a href="?m=6">next</a>`
	want := sum("http://a.test/?m=5", page)
	for what, c := range map[string]struct {
		body  string
		same  bool
		rough bool // for RoughWordSum too
	}{
		"itself":        {page, true, true},
		"other numbers": {`<title>May 2032</title><p>May 2032. 1 2 3 4 5 <a href="?m=7">next</a>`, true, true},
		"another order": {`<title>may</title><!-- x --><a href="/x">Next</a> May, May`, true, true},
		"a number more": {page + `<p>3f7b11 2031-05-07`, true, true},
		"a name more":   {page + `<p>_mm256_add_epi16`, false, true},
		"hidden":        {page + `<meta name=description content=x><script>y</script>`, true, false},
		"a word more":   {page + `<p>Meeting`, false, true},
		"a word less":   {`<title>May 2031</title><p>May 2031. 1 2 3 <a href="?m=6">6</a>`, false, true},
	} {
		if a, ok := RoughWordSum([]byte(page)); c.rough {
			if b, _ := RoughWordSum([]byte(c.body)); !ok || (a == b) != c.same {
				t.Errorf("%s, roughly: same %v, want %v", what, a == b, c.same)
			}
		}
		if got := sum("http://a.test/other/path", c.body) == want; got != c.same {
			t.Errorf("%s: same %v, want %v", what, got, c.same)
		}
	}
}

// Names that differ in their digits are different names.
func TestWordSumOfNames(t *testing.T) {
	a, _ := RoughWordSum([]byte("<p>_mm256_add_epi16: adds packed 16-bit integers"))
	b, _ := RoughWordSum([]byte("<p>_mm256_add_epi32: adds packed 32-bit integers"))
	c, _ := RoughWordSum([]byte("<p>_mm256_add_epi32: adds packed 64-bit integers"))
	if a == b || b != c {
		t.Errorf("%x %x %x", a, b, c)
	}
}

func TestRoughWordSumIsBounded(t *testing.T) {
	for n, want := range map[int]bool{0: true, maxRough: true, maxRough + 1: false} {
		if _, ok := RoughWordSum(make([]byte, n)); ok != want {
			t.Errorf("%d bytes: %v", n, ok)
		}
	}
	for _, cut := range []string{"<", "a<", "a<b", ">", "a>b"} { // no tag need end
		if _, ok := RoughWordSum([]byte(cut)); !ok {
			t.Errorf("%q has no sum", cut)
		}
	}
}

func BenchmarkRoughWordSum(b *testing.B) {
	body := bytes.Repeat([]byte("<p class=text>Some words of <a href=/x/y/z.html>running text</a>, as they are.</p>\n"), 350)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		RoughWordSum(body)
	}
}

func BenchmarkWordSum(b *testing.B) {
	var body []byte
	for i := range 1500 {
		body = append(append(body, "word"...), byte('a'+i%26), byte('a'+i/26%26), ' ')
	}
	var buf Buffer
	d, err := Parse(&vocab.Page{Doc: 1, URL: "http://a.test/", ContentType: "text/html", Body: body}, &buf)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		d.WordSum()
	}
	b.ReportMetric(1500*float64(b.N)/b.Elapsed().Seconds(), "words/s")
}
