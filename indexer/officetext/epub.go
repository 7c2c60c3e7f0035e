package officetext

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// readEPUB reads a book (EPUB 3.3): its package document names the chapters in their order.
func readEPUB(a *archive, p *page) error {
	main := ""
	err := a.walk("META-INF/container.xml", rules{"rootfile": {start: func(_ *walker, e element) {
		if main == "" {
			main = e.attr("full-path")
		}
	}}}, nil)
	if err != nil {
		return err
	}
	items, spine := map[string]string{}, []string(nil)
	modified := field(&p.modified)
	err = a.walk(main, rules{
		"title": field(&p.title), "language": field(&p.language), "description": field(&p.description),
		"subject": field(&p.keywords), "date": field(&p.created),
		"meta": {
			do: text,
			start: func(w *walker, e element) {
				if e.attr("property") == "dcterms:modified" {
					modified.start(w, e)
				}
			},
			end: func(w *walker) {
				if w.capture != nil {
					modified.end(w)
				}
			},
		},
		"item": {start: func(_ *walker, e element) {
			if strings.Contains(e.attr("media-type"), "html") && len(items) < maxFiles {
				items[e.attr("id")] = e.attr("href")
			}
		}},
		"itemref": {start: func(_ *walker, e element) {
			if to := items[e.attr("idref")]; to != "" && len(spine) < maxParts {
				spine = append(spine, to)
			}
		}},
	}, new(page))
	p.description = withoutTags(p.description)
	for i, ref := range spine {
		if p.full() {
			break
		}
		if name, err := url.PathUnescape(ref); err == nil {
			ref = name
		}
		p.part("chapter", i+1)
		err = worse(err, a.walk(path.Join(path.Dir(main), ref), chapter(p), p))
	}
	return err
}

// blocksOfChapter are the elements of XHTML that are blocks.
var blocksOfChapter = []string{
	"address", "article", "aside", "blockquote", "caption", "dd", "div", "dl", "dt", "figcaption", "figure", "footer",
	"header", "li", "main", "nav", "ol", "p", "pre", "section", "ul",
}

// voidOfChapter are the other elements of HTML without an end tag, which chapters have, too.
var voidOfChapter = []string{
	"area", "base", "col", "embed", "img", "input", "link", "meta", "param", "source", "track", "wbr",
}

// chapter returns the rules of XHTML. Links within the book lead nowhere on the web.
func chapter(p *page) rules {
	all := rules{
		"body": {do: block | text}, "head": {do: skip}, "script": {do: skip}, "style": {do: skip}, "svg": {do: skip},
		"rt": {do: skip}, "rp": {do: skip}, "br": {do: space | void}, "hr": {do: block | void},
		"table": {do: table}, "tr": {do: row}, "td": {do: cell}, "th": {do: cell},
		"a": {
			start: func(_ *walker, e element) {
				if to := e.attr("href"); strings.HasPrefix(to, "http") {
					p.link(to)
				}
			},
			end: func(*walker) { p.endLink() },
		},
	}
	for level := 1; level <= maxLevel; level++ {
		all[fmt.Sprint("h", level)] = rule{do: block, start: func(*walker, element) { p.head(level) }}
	}
	for _, name := range voidOfChapter {
		all[name] = rule{do: void}
	}
	for _, name := range blocksOfChapter {
		all[name] = rule{do: block}
	}
	return all
}

// withoutTags returns the text of a description that is HTML.
func withoutTags(s string) string {
	var b strings.Builder
	for s != "" {
		before, rest, ok := strings.Cut(s, "<")
		b.WriteString(before)
		if !ok {
			break
		}
		b.WriteByte(' ')
		_, s, _ = strings.Cut(rest, ">")
	}
	return fold([]byte(b.String()))
}
