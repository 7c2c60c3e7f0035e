package structure

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	page := func(words ...any) *Page {
		return Parse(fmt.Appendf(nil, `<html lang=DE><title>%s</title><script>var x1 = "no_text"</script>
			<h1 id=top>%s</h1><p>%s <img src="/a/pic.png"> 42 <pre>code_1 text</pre><p>%s`, words...))
	}
	a, b := page("eins", "zwei", "drei", "vier"), page("one", "two", "three", "four")
	if a.Lang != "DE" || !slices.Equal(a.Shape, b.Shape) || len(a.Blocks) != 4 || a.Shared(b) != 0 || a.Shared(a) != 1 {
		t.Errorf("%+v, %+v", a, b)
	}
	same := 0
	for _, name := range a.Names {
		if slices.Contains(b.Names, name) {
			same++
		}
	}
	if same != 5 { // top, pic.png, 42, code_1, text
		t.Errorf("%d names in common", same)
	}
	if !strings.Contains(a.Sample, "zwei") || strings.Contains(a.Sample, "no_text") || strings.Contains(a.Sample, "code_1") {
		t.Errorf("sample %q", a.Sample)
	}
	if half := page("one", "two", "drei", "vier").Shared(b); half < 0.3 || half > 0.7 {
		t.Errorf("a half translated page shares %v", half)
	}
}

func TestAlternates(t *testing.T) {
	p := Parse([]byte(`<link rel="alternate" hreflang="de" href="/de/"><link rel=alternate href=feed.xml>
		<link rel=next hreflang=en href=/en/><a hreflang=fr href=/fr/>x</a>`))
	p.AddLinks(`</it/>; rel="alternate"; hreflang=it, </x>; rel=alternate, <y>; hreflang="y"; rel="next", <`)
	if want := []Alternate{{"de", "/de/"}, {"it", "/it/"}}; !slices.Equal(p.Alternates, want) {
		t.Errorf("%v, want %v", p.Alternates, want)
	}
	many := Parse([]byte(strings.Repeat(`<link rel=alternate hreflang=de href=/x>`, 2*MaxAlternates)))
	many.AddLinks(strings.Repeat(`</it/>; rel="alternate"; hreflang=it, `, 9))
	if len(many.Alternates) != MaxAlternates {
		t.Errorf("%d alternates", len(many.Alternates))
	}
	long := Parse([]byte(`<link rel=alternate hreflang=de href="` + strings.Repeat("x", maxReference+1) + `">`))
	if len(long.Alternates) != 0 {
		t.Error("a URL without end")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`<html lang=x><link rel=alternate hreflang=de href=y><p>a<pre>b</pre></p>`), `<x>; rel="alternate"; hreflang=de`)
	f.Fuzz(func(t *testing.T, body []byte, fields string) {
		p := Parse(body)
		p.AddLinks(fields)
		if len(p.Alternates) > MaxAlternates || len(p.Names) > maxNames || len(p.Blocks) > maxBlocks ||
			len(p.Sample) > maxSample+2 || !slices.IsSorted(p.Names) || !slices.IsSorted(p.Shape) {
			t.Errorf("%d alternates, %d names, %d blocks, a sample of %d", len(p.Alternates), len(p.Names), len(p.Blocks), len(p.Sample))
		}
		if s := p.Shared(p); s != 1 && p.Size > 0 {
			t.Errorf("a page shares %v with itself", s)
		}
	})
}

func TestTexts(t *testing.T) {
	texts, err := Texts([]byte(`<meta charset=iso-8859-1><title>T&eacute;</title><style>p {}</style>
		<h1>A <em>b</em>c</h1><p>one<br>two <pre>code</pre>three<ul><li>x<li>y</ul>end<table><tr><td>caf`+"\xe9"+`</table>`), "text/html")
	var got []string
	for _, text := range texts {
		got = append(got, text.Tag.String()+":"+text.Text)
	}
	want := "title:Té|h1:A bc|p:one two three|li:x|li:y end|td:café"
	if s := strings.Join(got, "|"); err != nil || s != want {
		t.Errorf("%q, %v; want %q", s, err, want)
	}
}
