package indexer

import (
	"testing"

	"anatomy/vocab"
)

// Pages are alike in their words alone.
func TestSketch(t *testing.T) {
	var buf Buffer
	sketch := func(url, body string) uint64 {
		d, err := Parse(&vocab.Page{Doc: 1, URL: url, ContentType: "text/html", Body: []byte(body)}, &buf)
		if err != nil {
			t.Fatal(err)
		}
		return d.Sketch()
	}
	const page = `<title>May 2031</title><p>May 2031. 1 2 3 <a href="?m=6">next</a>`
	want := sketch("http://a.test/?m=5", page)
	for what, c := range map[string]struct {
		body string
		same bool
	}{
		"itself":        {page, true},
		"other numbers": {`<title>May 2032</title><p>May 2032. 1 2 3 4 5 <a href="?m=7">next</a>`, true},
		"another order": {`<title>may</title><!-- x --><a href="/x">Next</a> May, May`, true},
		"hidden":        {page + `<meta name=description content=x><script>y</script>`, true},
		"a word more":   {page + `<p>Meeting`, false},
		"a word less":   {`<title>May 2031</title><p>May 2031. 1 2 3 <a href="?m=6">6</a>`, false},
	} {
		if got := sketch("http://a.test/other/path", c.body) == want; got != c.same {
			t.Errorf("%s: same %v, want %v", what, got, c.same)
		}
	}
}

func BenchmarkSketch(b *testing.B) {
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
		d.Sketch()
	}
	b.ReportMetric(1500*float64(b.N)/b.Elapsed().Seconds(), "words/s")
}
