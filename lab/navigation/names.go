package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"

	"anatomy/analysis"
	"anatomy/disk/linkdb"
	"anatomy/eval"
	"anatomy/lab/rig/replay"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Names are texts of links from other sites that lead to one page alone, by their terms.
type names map[string]name

type name struct {
	text    string // of a link
	links   int    // with this text, from other sites
	doc     vocab.DocID
	several bool // links with this text lead to several pages
}

// maxTerms is the number of terms of the longest names.
const maxTerms = 5

// termsOf returns the terms of a text, with spaces between them.
func termsOf(text string) string {
	var terms []string
	var t analysis.Tokenizer
	t.EachTerm([]byte(text), func(term []byte, _, _ int) { terms = append(terms, string(term)) })
	return strings.Join(terms, " ")
}

// readNames reads the names that links give to pages. It keeps half of them, those whose SHA-256
// begins with a zero bit; the other half is for verification.
func readNames(links *linkdb.Set) (names, error) {
	all := names{}
	for a, err := range links.Anchors() {
		if err != nil {
			return nil, err
		}
		for _, t := range a.Texts {
			terms := termsOf(t.Text)
			n, known := all[terms]
			n.several = n.several || known && n.doc != a.Doc
			n.doc = a.Doc
			if t.OffSite && len(t.Sources) > n.links {
				n.text, n.links = t.Text, len(t.Sources)
			}
			all[terms] = n
		}
	}
	maps.DeleteFunc(all, func(terms string, n name) bool {
		sum := sha256.Sum256([]byte(terms))
		return n.links == 0 || n.several || sum[0] >= 128 || strings.Count(terms, " ") >= maxTerms ||
			!strings.ContainsFunc(terms, unicode.IsLetter)
	})
	if len(all) == 0 {
		return nil, errors.New("no text of a link from another site is the name of one page")
	}
	return all, nil
}

// A web is the answers of a crawl with the documents that its URLs lead to.
type web struct {
	answers []replay.Answer
	docs    map[string]vocab.DocID // by URL with https, as http and https are one page
	links   *linkdb.Set
}

func readWeb(dir string) (*web, error) {
	answers, err := replay.Read(dir)
	if err != nil {
		return nil, err
	}
	w := &web{answers: answers, docs: map[string]vocab.DocID{}}
	if w.links, err = linkdb.OpenFolder(dir); err != nil {
		return nil, err
	}
	for name, err := range w.links.Names() {
		if err != nil {
			return nil, err
		}
		u, err := weburl.Parse(name.URL)
		if err != nil {
			return nil, err
		}
		u = u.HTTPS()
		w.docs[u.String()] = name.Doc
	}
	return w, nil
}

// canonical returns the canonical document that a URL leads to, 0 if there is none.
func (w *web) canonical(u weburl.URL) vocab.DocID {
	u = u.HTTPS()
	doc, _ := w.links.Canonical(w.docs[u.String()])
	return doc
}

// A question is a name to search for.
type question struct {
	eval.Judged
	titled bool // the title of the page has all terms of the name
}

// questions returns the names of pages that were fetched, in the order of their terms.
func (w *web) questions(all names) (qs []question) {
	urls, titles := map[vocab.DocID]map[string]int{}, map[vocab.DocID]string{}
	for i := range w.answers {
		a := &w.answers[i]
		u, err := weburl.Parse(a.URL)
		if err != nil {
			continue
		}
		if doc := w.canonical(u); a.Page != nil && doc != 0 {
			if urls[doc] == nil {
				urls[doc] = map[string]int{}
			}
			urls[doc][eval.Page(a.URL)] = 1
			titles[doc] = termsOf(a.Title())
		}
	}
	for _, terms := range slices.Sorted(maps.Keys(all)) {
		n := all[terms]
		if urls[n.doc] == nil {
			continue
		}
		inTitle := strings.Fields(titles[n.doc])
		titled := !slices.ContainsFunc(strings.Fields(terms), func(t string) bool {
			return !slices.Contains(inTitle, t)
		})
		judged := eval.Judged{Query: n.text, Grades: urls[n.doc], Any: true}
		qs = append(qs, question{judged, titled})
	}
	return qs
}

// without returns the answers with pages whose links have no text if that is a name of their
// target. The text stays, in front of the link, and the link does, too. It returns the number of
// these links.
func (w *web) without(all names) (answers []replay.Answer, links int, err error) {
	for _, a := range w.answers {
		if a.Page != nil {
			base, err := weburl.Parse(a.URL)
			if err != nil {
				return nil, 0, err
			}
			page := *a.Page
			n := 0
			page.Body, n = stripLinks(a.Page.Body, func(href, text string) bool {
				n, known := all[termsOf(text)]
				if !known {
					return false
				}
				u, err := base.Join(href)
				return err == nil && w.canonical(u) == n.doc
			})
			a.Page, links = &page, links+n
		}
		answers = append(answers, a)
	}
	return answers, links, nil
}

// stripLinks moves the contents of links in HTML in front of them if their target and text match,
// and drops their title attribute. It returns the number of these links.
func stripLinks(body []byte, matches func(href, text string) bool) (changed []byte, n int) {
	z := html.NewTokenizer(bytes.NewReader(body))
	var tag, untitled, inner, text []byte // of an open link
	href := ""
	flush := func(end []byte) {
		if matches(href, string(text)) {
			n++
			changed = append(append(changed, inner...), untitled...)
		} else {
			changed = append(append(changed, tag...), inner...)
		}
		changed = append(changed, end...)
		tag, inner, text = nil, nil, nil
	}
	for {
		kind := z.Next()
		raw := slices.Clone(z.Raw())
		if kind == html.ErrorToken {
			break
		}
		token := z.Token()
		isLink := token.Data == "a" && kind != html.TextToken && kind != html.CommentToken
		switch {
		case isLink && tag != nil && kind == html.EndTagToken:
			flush(raw)
		case isLink && kind == html.StartTagToken:
			if tag != nil {
				flush(nil)
			}
			tag, href = raw, ""
			for _, a := range token.Attr {
				if a.Key == "href" {
					href = a.Val
				}
			}
			token.Attr = slices.DeleteFunc(token.Attr, func(a html.Attribute) bool {
				return a.Key == "title"
			})
			untitled = []byte(token.String())
		case tag != nil:
			inner = append(inner, raw...)
			if kind == html.TextToken {
				text = append(text, token.Data...)
			}
		default:
			changed = append(changed, raw...)
		}
	}
	if tag != nil {
		flush(nil)
	}
	return changed, n
}
