package indexer

import (
	"strings"
	"testing"

	"anatomy/vocab"
)

// TestRelations: canonical URLs and what is to be followed of link elements, Link fields and embedded
// objects.
func TestRelations(t *testing.T) {
	const self = pageURL
	for _, c := range []struct{ header, body, want string }{
		{"", "", ""},
		{"", "<link rel=canonical href=/one>", "= /one; /one"},
		{"", "<link rel='Canonical' href='/one'><link rel=canonical href=/one>", "= /one; /one /one"},
		{"", "<link rel=canonical href=/one><link rel=canonical href=/two>", "; /one /two"},
		{"", "<link rel=canonical href='" + self + "#top'>", ""},
		{"", "<link rel=canonical href=//other.test/x>", "; http://other.test/x"},
		{"", "<link rel=canonical href=//docs.example.org/x>", "= http://docs.example.org/x; http://docs.example.org/x"},
		{"", "<link rel=canonical href=//other.test/x><link rel=canonical href=/one>", "; http://other.test/x /one"},
		{"", "<link rel=canonical href=javascript:x>", ""},
		{"", "<base href=/deep/><link rel=canonical href=x>", "= /deep/x; /deep/x"},
		{"", "<link rel=next href=2><link rel='prev up' href=0><link rel=contents href=toc>", "; /dir/2 /dir/0"},
		{"", "<link rel=alternate hreflang=de href=/de/><link rel=alternate type='application/atom+xml' href=feed><link rel=alternate type=application/json href=j>", "; /de/ /dir/feed"},
		{"", "<link rel='alternate stylesheet' href=dark.css><link rel=preload href=x><link href=y><link rel=next>", ""},
		{"", "<meta name=robots content=nofollow><link rel=next href=2><link rel=canonical href=/one>", "= /one; "},
		{"</one>; rel=canonical", "", "= /one; /one"},
		{"</one>; rel=canonical", "<base href=/deep/><link rel=canonical href=/one>", "= /one; /one /one"},
		{`</a,b;c>; title="x, <y>; rel=none" ; REL = "start next" , <d>;rel=prev;type="text/html", <e>; rel=alternate; type="text/css"`, "", "; /a,b;c /dir/d"},
		{`</x>; rel=canonical; anchor="/other"`, "", ""},
		{`</x>;;; rel=next;;`, "", "; /x"},
		{`</x>; rel`, "", ""}, {`</x`, "", ""}, {`<>; rel=canonical`, "", ""}, {`</x>; rel="next`, "", "; /x"}, {"junk, </x>; rel=next junk", "", "; /x"},
	} {
		d := parsePage(t, &vocab.Page{URL: self, Links: c.header, Body: []byte(c.body)})
		got := ""
		if d.Canonical != "" {
			got = "= " + d.Canonical
		}
		if d.Canonical != "" || len(d.Related) > 0 {
			got += "; " + strings.Join(d.Related, " ")
		}
		if got = strings.ReplaceAll(got, "http://www.example.org/", "/"); got != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.header, c.body, got, c.want)
		}
	}
	many := parseHTML(t, strings.Repeat("<link rel=next href=x>", 10_000))
	if len(many.Related) != maxRelated {
		t.Errorf("%d relations", len(many.Related))
	}
}

func TestEmbeds(t *testing.T) {
	d := parseHTML(t, "<object data=a.html type=text/html></object><embed src=b.pdf type=application/pdf><object data=c.svg type=image/svg+xml></object><object data=d></object>")
	want := "/dir/a.html !embedded\n/dir/b.pdf !embedded\n/dir/d !embedded"
	if got := showLinks(d); got != want {
		t.Error(got)
	}
}

func FuzzLinkHeader(f *testing.F) {
	f.Add(`</a>; rel="next"; type=text/html, <b>;rel=canonical`)
	f.Add(`<`)
	f.Fuzz(func(t *testing.T, fields string) {
		d := parsePage(t, &vocab.Page{URL: pageURL, Links: fields})
		for _, to := range d.Related {
			if !strings.HasPrefix(to, "http") {
				t.Fatalf("%q", to)
			}
		}
	})
}
