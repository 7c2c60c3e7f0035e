package parallel

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anatomy/disk/translations"
	"anatomy/indexer/structure"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A web is pages by URL, for tests.
type web map[string]string

// find returns the groups of a web as lines of "URL language", versions joined by " | ", copies in
// parentheses.
func (w web) find(t testing.TB) (groups []string) {
	t.Helper()
	var pages []Page
	var urls []string
	for url := range w {
		urls = append(urls, url)
	}
	slices.Sort(urls)
	docs := map[string]vocab.DocID{}
	for i, url := range urls {
		docs[url] = vocab.DocID(i + 1)
	}
	for _, url := range urls {
		u, err := weburl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		p := structure.Parse([]byte(w[url]))
		pages = append(pages, Page{Doc: docs[url], URL: u, Lang: p.Lang, Page: p})
	}
	for _, g := range Find(t.Context(), pages) {
		var all []string
		for _, v := range g {
			s := strings.TrimPrefix(urls[v.Doc-1], "http://") + " " + v.Lang
			if v.Copy {
				s = "(" + s + ")"
			}
			all = append(all, s)
		}
		groups = append(groups, strings.Join(all, " | "))
	}
	return groups
}

func (w web) want(t *testing.T, groups ...string) {
	t.Helper()
	if got := w.find(t); !slices.Equal(got, groups) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(groups, "\n"))
	}
}

// body returns a page about a subject: its words depend on the language, its numbers and code do not.
func body(lang string, subject int) string {
	var b strings.Builder
	for i := range 4 {
		fmt.Fprintf(&b, "<h2>%s%d%d</h2><p>%s %s%d <code>name_%d_%d</code> %s 1%d%d</p>",
			lang, subject, i, words[lang], lang, i, subject, i, lang, subject, i)
	}
	return b.String()
}

var words = map[string]string{
	"en": "the words of this page are here and there", "de": "die Wörter dieser Seite sind hier und nicht auf der anderen",
	"fr": "les mots de cette page ne sont pas dans une autre", "it": "le parole di questa pagina non sono nella altra",
}

func TestKeys(t *testing.T) {
	for _, layout := range []string{
		"http://a.test/%s/p%d.html", "http://a.test/docs/%s/x/p%d", "http://%s.a.test/p%d.html", "http://a.test/p?l=%s&n=%d",
	} {
		w := web{}
		for i := range 4 {
			for _, lang := range []string{"de", "en"} {
				w[fmt.Sprintf(layout, lang, i)] = body(lang, i)
			}
		}
		if got := w.find(t); len(got) != 4 {
			t.Errorf("%s: %d groups: %v", layout, len(got), got)
		}
	}
	w := web{}
	for i := range 3 {
		w[fmt.Sprintf("http://a.test/p%d.html", i)] = "<html lang=en>" + body("en", i)
		w[fmt.Sprintf("http://a.test/p%d.de.html", i)] = body("de", i)
		w[fmt.Sprintf("http://a.test/p%d.zh-cn.html", i)] = body("fr", i)
	}
	w.want(t, "a.test/p0.de.html de | a.test/p0.html en | a.test/p0.zh-cn.html zh-cn",
		"a.test/p1.de.html de | a.test/p1.html en | a.test/p1.zh-cn.html zh-cn",
		"a.test/p2.de.html de | a.test/p2.html en | a.test/p2.zh-cn.html zh-cn")
}

// Pages of one name that have nothing else in common are no versions.
func TestUnlike(t *testing.T) {
	w := web{}
	for i := range 5 {
		w[fmt.Sprintf("http://a.test/en/p%d", i)] = body("en", i)
		w[fmt.Sprintf("http://a.test/fr/p%d", i)] = strings.Repeat(fmt.Sprintf("<li>mot%d chose%d<ul>", i, 9-i), i+3)
	}
	w.want(t)
}

// TestAlike: versions without evidence in their URLs are found by their content, only on sites with
// versions.
func TestAlike(t *testing.T) {
	w := web{}
	want := []string{}
	for i := range 8 {
		w[fmt.Sprintf("http://a.test/de/%x.html", 7919*(i+1))] = body("de", i)
		w[fmt.Sprintf("http://a.test/en/%x.html", 6101*(i+1))] = body("en", i)
		want = append(want, fmt.Sprintf("a.test/de/%x.html de | a.test/en/%x.html en", 7919*(i+1), 6101*(i+1)))
	}
	slices.Sort(want)
	w.want(t, want...)
	for i := range 40 { // two of its pages are alike by chance
		w[fmt.Sprintf("http://a.test/fr/%x.html", i)] = fmt.Sprintf("<html><h1>mot%d</h1><li>chose_%d<table><td>%d9", i, i, i)
		w[fmt.Sprintf("http://a.test/it/%x.html", i)] = fmt.Sprintf("<html><dl><dt>parola%d<dd>cosa_%d", i, i)
	}
	w["http://a.test/fr/x.html"], w["http://a.test/it/y.html"] = body("fr", 99), body("it", 99)
	w.want(t, want...)
}

// link returns a link element.
func link(lang, url string) string {
	return fmt.Sprintf(`<link rel="alternate" hreflang="%s" href="%s">`, lang, url)
}

func TestAlternates(t *testing.T) {
	web{
		"http://a.test/x": "<html lang=en>" + link("de", "/y") + body("en", 1),
		"http://a.test/y": "<html lang=de>" + link("en", "/x") + body("de", 1),
		"http://a.test/z": "<html lang=fr>" + link("en", "/x") + body("fr", 1), // one page alone says so
	}.want(t, "a.test/x en | a.test/y de | a.test/z fr")
	web{ // all name the home page, which is no version of any
		"http://a.test/x":    "<html lang=en>" + link("de", "/home") + body("en", 1),
		"http://a.test/y":    "<html lang=en>" + link("de", "/home") + body("en", 2),
		"http://a.test/home": "<html lang=de>" + body("de", 3),
	}.want(t)
	web{ // a page of another site, which does not answer
		"http://a.test/x":    "<html lang=en>" + body("en", 1),
		"http://a-de.test/y": "<html lang=de>" + link("en", "http://a.test/x") + body("de", 1),
	}.want(t)
	web{ // one that does
		"http://a.test/x":    "<html lang=en>" + link("de", "http://a-de.test/y") + body("en", 1),
		"http://a-de.test/y": "<html lang=de>" + link("en", "http://a.test/x") + body("de", 1),
	}.want(t, "a-de.test/y de | a.test/x en")
}

// A page that nobody translated is a copy of that in the language of its words.
func TestCopies(t *testing.T) {
	w := web{}
	for i := range 4 {
		w[fmt.Sprintf("http://a.test/de/p%d", i)] = body("de", i)
		w[fmt.Sprintf("http://a.test/en/p%d", i)] = body("en", i)
	}
	w["http://a.test/de/p0"] = w["http://a.test/en/p0"]
	w.want(t, "(a.test/de/p0 de) | a.test/en/p0 en", "a.test/de/p1 de | a.test/en/p1 en", "a.test/de/p2 de | a.test/en/p2 en",
		"a.test/de/p3 de | a.test/en/p3 en")
}

// TestGroups checks, for any web, that a page is in one group, that a group has one page of a language,
// and that the order of pages does not matter.
func TestGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 24).Draw(t, "pages")
		var pages []Page
		for doc := 1; doc <= n; doc++ {
			lang := rapid.SampledFrom([]string{"en", "de", "fr", "it"}).Draw(t, "language")
			subject := rapid.IntRange(0, 4).Draw(t, "subject")
			raw := fmt.Sprintf(rapid.SampledFrom([]string{"http://a.test/%s/p%d?%d", "http://%s.a.test/p%d", "http://a-%s.test/p%d", "http://a.test/x%s/p%d/%d"}).Draw(t, "layout"), lang, subject, doc)
			raw, _, _ = strings.Cut(raw, "%!")
			u, err := weburl.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			p := structure.Parse([]byte(body(lang, subject)))
			for range rapid.IntRange(0, 3).Draw(t, "alternates") {
				of := rapid.SampledFrom(append([]Page{{URL: u}}, pages...)).Draw(t, "alternate")
				p.Alternates = append(p.Alternates, structure.Alternate{Lang: "en", URL: of.URL.String()})
			}
			links := []vocab.DocID{vocab.DocID(rapid.IntRange(1, n).Draw(t, "link"))}
			pages = append(pages, Page{Doc: vocab.DocID(doc), URL: u, Lang: rapid.SampledFrom([]string{"", lang}).Draw(t, "declared"), Links: links, Page: p})
		}
		groups := Find(t.Context(), slices.Clone(pages))
		seen := map[vocab.DocID]bool{}
		for _, g := range groups {
			languages := map[string]bool{}
			originals := 0
			for i, v := range g {
				if seen[v.Doc] || languages[v.Lang] || v.Lang == "" || v.Confidence > 99 || i > 0 && v.Doc <= g[i-1].Doc {
					t.Fatalf("group %v", g)
				}
				seen[v.Doc], languages[v.Lang] = true, true
				if !v.Copy {
					originals++
				}
			}
			if len(g) < 2 || originals == 0 {
				t.Fatalf("group %v", g)
			}
		}
		slices.Reverse(pages)
		if again := Find(t.Context(), pages); !slices.EqualFunc(groups, again, func(a, b translations.Group) bool { return slices.Equal(a, b) }) {
			t.Fatalf("found %v, and in another order %v", groups, again)
		}
	})
}

func TestLanguageOf(t *testing.T) {
	for s, want := range map[string]string{
		"de": "de", "pt_BR": "pt-br", "zh-Hans": "zh-hans", "deutsch": "de", "cn": "zh", "": "", "x": "", "docs": "", "de-": "", "de-x": "",
		"no-such-thing": "", "en-1": "", "EN": "en",
	} {
		if got := languageOf(s); got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}

// FuzzVariants: versions in two languages have a common key, wherever the URL names the language.
func FuzzVariants(f *testing.F) {
	f.Add("http://en.a.test/en/a/page.en.html?hl=en&x=1")
	f.Add("http://a-de.test/de_at/")
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := weburl.Parse(raw)
		if err != nil {
			return
		}
		if all := variantsOf(&u); len(all) > maxVariants {
			t.Errorf("%d readings of %q", len(all), raw)
		}
		skeleton(u.Hostname())
	})
}

// TestStrangers: pages of a site whose name is that of another with a language are versions of the other's
// only if the two sites link to each other.
func TestStrangers(t *testing.T) {
	for _, links := range []struct{ there, back bool }{{}, {true, false}, {false, true}, {true, true}} {
		var pages []Page
		for i := range 8 {
			lang, host := []string{"en", "de"}[i/4], []string{"a.test", "a-de.test"}[i/4]
			u, err := weburl.Parse(fmt.Sprintf("http://%s/p%d", host, i%4))
			if err != nil {
				t.Fatal(err)
			}
			pages = append(pages, Page{Doc: vocab.DocID(i + 1), URL: u, Lang: lang, Page: structure.Parse([]byte(body(lang, i%4)))})
		}
		if links.there {
			pages[0].Links = []vocab.DocID{8}
		}
		if links.back {
			pages[7].Links = []vocab.DocID{1}
		}
		want := 0
		if links.there && links.back {
			want = 4
		}
		if groups := Find(t.Context(), pages); len(groups) != want {
			t.Errorf("%+v: %d groups, want %d", links, len(groups), want)
		}
	}
}

// TestManyLanguages: a site that breeds languages costs no more than a bound, and one that stops is left
// as far as it was found.
func TestManyLanguages(t *testing.T) {
	w := web{}
	for i := range 300 {
		for k := range 3 {
			w[fmt.Sprintf("http://a.test/de-%c%c/p%d", 'a'+i/26, 'a'+i%26, k)] = body("de", k)
		}
	}
	w.find(t) // 300 languages: 44,850 pairs without the bound
	f := &finder{ctx: t.Context(), work: 10}
	if !f.spend(10) || f.spend(1) {
		t.Error("work is not bounded")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	f = &finder{ctx: ctx, work: maxWork}
	if f.spend(1) {
		t.Error("a stopped search goes on")
	}
}
