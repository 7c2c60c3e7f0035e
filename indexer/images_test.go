package indexer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"pgregory.net/rapid"

	"anatomy/vocab"
)

func imagesOf(t testing.TB, body string) []vocab.Image {
	t.Helper()
	all, err := Images(&vocab.Page{URL: pageURL, ContentType: "text/html; charset=utf-8", Body: []byte(body)}, &Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestImagesOfMarkdown: images of Markdown, and HTML images within Markdown, are images.
func TestImagesOfMarkdown(t *testing.T) {
	body := "# Foxes\n\nA ![red \"fox\"](img/fox.png \"In Sweden\") and ![](https://x.org/b.png).\n\n<img src=c.png alt=den>\n\n`![no](code.png)`\n"
	got, err := Images(&vocab.Page{URL: pageURL, ContentType: "text/markdown; charset=utf-8", Body: []byte(body)}, &Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	const dir = "http://www.example.org/dir/" // of pageURL
	want := []vocab.Image{{URL: dir + "img/fox.png", Alt: `red "fox"`, Heading: "Foxes"}, {URL: "https://x.org/b.png", Heading: "Foxes", Decoration: true}, {URL: dir + "c.png", Alt: "den", Heading: "Foxes"}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestImages(t *testing.T) {
	const dir = "http://www.example.org/dir/" // of pageURL
	for body, want := range map[string][]vocab.Image{
		`<img src=fox.jpg alt=" A  red&#32;fox&amp;co " title="In Sweden" width=640 height=480px>`: {
			{URL: dir + "fox.jpg", Alt: "A red fox&co", Title: "In Sweden", Width: 640, Height: 480}},
		`<img src=a.png><img alt="" src=b.png><img src=c.png role=presentation><img src=d.png aria-hidden=true alt=d width=50% height=-3>`: {
			{URL: dir + "a.png"}, {URL: dir + "b.png", Decoration: true}, {URL: dir + "c.png", Decoration: true}, {URL: dir + "d.png", Alt: "d", Decoration: true}},
		`<h2>The <b>red</b> fox</h2><p><img src=a.png><h3>Dens<img src=b.png></h3><img src=c.png>`: {
			{URL: dir + "a.png", Heading: "The red fox"}, {URL: dir + "b.png"}, {URL: dir + "c.png", Heading: "Dens"}},
		`<figure><img src=a.png><img src=b.png><figcaption>A fox <i>and</i> a hare</figcaption></figure><img src=c.png>`: {
			{URL: dir + "a.png", Caption: "A fox and a hare"}, {URL: dir + "b.png", Caption: "A fox and a hare"}, {URL: dir + "c.png"}},
		`<div class="figure"><p class="title"><b>Figure 1.</b> Brush</p><div><div class="mediaobject"><img src=a.png></div></div></div><div class=title>No</div><img src=b.png>`: {
			{URL: dir + "a.png", Caption: "Figure 1. Brush"}, {URL: dir + "b.png"}},
		`<div class="wp-caption"><img src=a.png><p class=wp-caption-text>Den<div>more</div></div>`: {{URL: dir + "a.png", Caption: "Den"}},
		`<figure><figcaption>out</figcaption><figure><img src=a.png><figcaption>in</figcaption></figure><img src=b.png>`: {
			{URL: dir + "a.png", Caption: "in"}, {URL: dir + "b.png", Caption: "out"}},
		`<img src="data:image/gif;base64,R0lGODlh" data-src=/real.jpg alt=x><noscript><img src="/real.jpg" width=9 height=8></noscript>`: {
			{URL: "http://www.example.org/real.jpg", Alt: "x", Width: 9, Height: 8}},
		`<picture><source srcset="a.avif 1x"><img srcset="b.webp 480w, c.webp 800w"></picture>`:                                                                                                              {{URL: dir + "b.webp"}},
		`<img src="javascript:alert(1)"><img src="data:,x"><img src><img src="ftp://a/b"><img src="#a"><img alt=none><input type=image src=x.png>`:                                                           nil,
		`<img hidden src=a.png><div style="display:none"><img src=b.png></div><template><img src=c.png></template><svg><image href=d.png /></svg><!-- <img src=e.png> --><script>"<img src=f.png>"</script>`: nil,
		`<base href="//cdn.test/x/"><img src=a.png#part><img src="HTTP://CDN.test:80/x/a.png">`:                                                                                                              {{URL: "http://cdn.test/x/a.png"}},
		`<meta property="og:image" content="/lead.jpg"><meta property="og:image:alt" content="The lead"><meta property="og:image:width" content="1200"><meta property="og:image" content="/second.jpg"><img src=a.png>`: {
			{URL: dir + "a.png"}, {URL: "http://www.example.org/lead.jpg", Alt: "The lead", Width: 1200, Lead: true}},
		`<div data-nosnippet><img src=a.png alt=fox title=red></div><img src=b.png alt=den>`: {{URL: dir + "a.png"}, {URL: dir + "b.png", Alt: "den"}},
		`<meta property="og:image" content="a.png"><img src=a.png alt=fox>`:                  {{URL: dir + "a.png", Alt: "fox", Lead: true}},
	} {
		if got := imagesOf(t, body); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", body, got, want)
		}
	}
	for body, header := range map[string]string{
		`<meta name=robots content="follow, NoImageIndex"><img src=a.png>`:     "",
		`<img src=a.png><meta name=anatomy content="max-image-preview: none">`: "",
		`<img src=a.png>`: "noimageindex", `<img src=b.png>`: "anatomy: max-image-preview:none, all",
	} {
		if all, err := Images(&vocab.Page{URL: pageURL, Robots: header, Body: []byte(body)}, &Buffer{}); err != nil || all != nil {
			t.Errorf("%s, %q: %v, %v", body, header, all, err)
		}
	}
	if all, err := Images(&vocab.Page{URL: pageURL, Robots: "otherbot: noimageindex", Body: []byte(`<meta name=otherbot content=noimageindex><img src=a.png>`)}, &Buffer{}); err != nil || len(all) != 1 {
		t.Errorf("what is said to others: %v, %v", all, err)
	}
	for _, kind := range []string{"text/plain", "application/pdf"} {
		if all, err := Images(&vocab.Page{URL: pageURL, ContentType: kind, Body: []byte("<img src=a.png>")}, &Buffer{}); err != nil || all != nil {
			t.Errorf("%s: %v, %v", kind, all, err)
		}
	}
	if _, err := Images(&vocab.Page{URL: "not a URL", Body: []byte("<img src=a.png>")}, &Buffer{}); err == nil {
		t.Error("a page without a URL passed")
	}
}

// What a page may do to us with images has bounds.
func TestImagesBounds(t *testing.T) {
	var many strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&many, "<figure><img src=%d.png alt=%d>", i, i)
	}
	many.WriteString("<figcaption>" + strings.Repeat("caption ", 10_000))
	all := imagesOf(t, many.String())
	if len(all) != maxImages || all[0].URL != "http://www.example.org/dir/0.png" {
		t.Errorf("%d images", len(all))
	}
	long := strings.Repeat("é ", 100_000)
	for _, m := range imagesOf(t, "<h1>"+long+"</h1><figure><img src=a.png alt='"+long+"' title='"+long+"'><figcaption>"+long) {
		for _, text := range []string{m.Alt, m.Title, m.Caption, m.Heading} {
			if len(text) < maxImageText-4 || len(text) > maxImageText || !utf8.ValidString(text) {
				t.Errorf("a text of %d bytes", len(text))
			}
		}
	}
	if all := imagesOf(t, "<img src='"+strings.Repeat("a", 1<<20)+"' width=99999999999999999999999>"); len(all) > 0 {
		t.Errorf("an address of a megabyte: %d", len(all[0].URL))
	}
}

func TestImageID(t *testing.T) {
	a, b := vocab.Image{URL: "http://a.test/x.png", Alt: "one"}, vocab.Image{URL: "http://a.test/x.png"}
	if a.ID() != b.ID() || len(a.ID()) != 11 {
		t.Errorf("%q and %q", a.ID(), b.ID())
	}
	if b.URL += "?"; a.ID() == b.ID() {
		t.Error("two images have one ID")
	}
}

// treeImages is the oracle: addresses of the images that are shown, by way of the tree.
func treeImages(t testing.TB, body string) (all []string) {
	root, err := html.ParseWithOptions(strings.NewReader(body), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		k := kindOf(n.DataAtom)
		switch {
		case n.Type == html.ElementNode && (k&skipped != 0 || n.DataAtom != atom.Body && n.DataAtom != atom.Html && nodeHides(n)):
			return
		case n.DataAtom == atom.Img:
			all = append(all, "http://www.example.org/dir/"+nodeAttr(n, "src"))
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	return all
}

// TestImagesAgainstTree compares on pages whose elements are nested as they should be.
func TestImagesAgainstTree(t *testing.T) {
	tags := []string{"div", "figure", "div class=figure", "figcaption", "p class=caption", "h2", "section", "span", "a href=x", "noscript", "template", "div hidden", "span style=display:none", "ul", "select"}
	rapid.Check(t, func(rt *rapid.T) {
		var page strings.Builder
		images := 0
		var element func(depth int)
		element = func(depth int) {
			for range rapid.IntRange(0, 3).Draw(rt, "children") {
				kind := rapid.IntRange(0, 4).Draw(rt, "kind")
				if kind < 2 || depth == 0 {
					fmt.Fprintf(&page, "text<img%s src=%d.png>", rapid.SampledFrom([]string{"", " hidden", " alt=''"}).Draw(rt, "image"), images)
					images++
					continue
				}
				tag := rapid.SampledFrom(tags).Draw(rt, "tag")
				name, _, _ := strings.Cut(tag, " ")
				fmt.Fprintf(&page, "<%s>", tag)
				switch name {
				case "ul":
					page.WriteString("<li>")
					element(depth - 1)
					page.WriteString("<li>")
				case "select":
				case "p", "a", "h2", "noscript", "span": // hold no blocks, nor each other
					fmt.Fprintf(&page, "<img src=%d.png>", images)
					images++
				default:
					element(depth - 1)
				}
				fmt.Fprintf(&page, "</%s>", name)
			}
		}
		element(5)
		var got []string
		for _, m := range imagesOf(t, page.String()) {
			got = append(got, m.URL)
		}
		if want := treeImages(t, page.String()); !slices.Equal(got, want) {
			rt.Fatalf("%s:\n got %q\nwant %q", page.String(), got, want)
		}
	})
}

func FuzzImages(f *testing.F) {
	f.Add([]byte(strings.Join(pieces, "")), "text/html")
	f.Add([]byte("<figure><img src=a><figure><figcaption>b<img src=c><p class=caption></figure></div>"), "")
	var buf Buffer
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		page := &vocab.Page{URL: pageURL, ContentType: contentType, Body: bytes.Clone(body)}
		all, err := Images(page, &buf)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, m := range all {
			if !strings.HasPrefix(m.URL, "http") || seen[m.URL] {
				t.Fatalf("%q", m.URL)
			}
			seen[m.URL] = true
			for _, text := range []string{m.Alt, m.Title, m.Caption, m.Heading} {
				if len(text) > maxImageText || !utf8.ValidString(text) {
					t.Fatalf("%q", text)
				}
			}
		}
		if !bytes.Equal(page.Body, body) || len(all) > maxImages {
			t.Fatal("the page was written to, or has too many images")
		}
	})
}

func BenchmarkImages(b *testing.B) {
	all, bytes := pages(b)
	report(b, len(all), bytes)
	var buf Buffer
	for b.Loop() {
		for i := range all {
			if _, err := Images(&all[i], &buf); err != nil {
				b.Fatal(err)
			}
		}
	}
}
