package main

import (
	"bytes"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"time"

	"anatomy/eval"
	"anatomy/lab/rig/replay"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A kind is a way to copy the pages of a site.
type kind struct {
	name string

	// body returns the body of a copy, given those of its page and of the next one, and the hosts.
	body func(page, next []byte, from, to string) []byte

	indexed bool // the host of the copies has a page that links to all of them
}

var kinds = []kind{
	{"mirror", same, false},
	{"mirror with index", same, true},
	{"scraper", framed, true},
	{"scraper of pairs", paired, true},
}

// A web is a crawl with copies of some of its pages on other hosts.
type web struct {
	answers []replay.Answer // in the order in which they are fetched
	copied  []replay.Answer // pages that have copies
	shown   map[string]page // by eval.Page
}

// A page is what a URL shows.
type page struct {
	content vocab.ContentID // of the original
	isCopy  bool
	copied  bool // it is a copy or has one
}

// leastPages is the least number of pages of a site that is copied.
const leastPages = 10

// newWeb copies every second host of a crawl, by name. Of the copies of hosts, those of even
// numbers, counted from first, are fetched before all other pages, the others after them. Their
// hosts have short names, so that their URLs are plainer than those of the originals. So many sites
// of one page each link to all of these hosts.
func newWeb(crawl []replay.Answer, k kind, linking, first int) (*web, error) {
	w := &web{shown: map[string]page{}}
	hosts := map[string][]replay.Answer{}
	begin, end := crawl[0].At, crawl[0].At
	for _, a := range crawl {
		if a.Page == nil {
			continue
		}
		u, err := weburl.Parse(a.URL)
		if err != nil {
			return nil, err
		}
		hosts[u.Host()] = append(hosts[u.Host()], a)
		w.shown[eval.Page(a.URL)] = page{content: a.Content}
		if a.At.Before(begin) {
			begin = a.At
		}
		if a.At.After(end) {
			end = a.At
		}
	}
	maps.DeleteFunc(hosts, func(_ string, pages []replay.Answer) bool { return len(pages) < leastPages })
	begin, end = begin.Add(-time.Hour), end.Add(time.Hour)
	var earlier, later []replay.Answer
	var homes []string
	for i, host := range slices.Sorted(maps.Keys(hosts)) {
		if i%2 != 0 {
			continue
		}
		at, to := begin, &earlier
		if (first+len(homes))%2 != 0 {
			at, to = end, &later
		}
		copies := w.copyHost(hosts[host], k, host, fmt.Sprintf("m%d.test", i), at)
		*to = append(*to, copies...)
		homes = append(homes, copies[0].URL)
	}
	if len(homes) < 2 {
		return nil, fmt.Errorf("the crawl needs three hosts of %d pages", leastPages)
	}
	w.answers = slices.Concat(earlier, crawl, later)
	for i := range linking {
		list := listOf(fmt.Sprintf("http://list%d.test/", i), homes, homes, end)
		w.answers = append(w.answers, list)
	}
	return w, nil
}

// copyHost returns the copies of the pages of a host. The first of them is the index, if there is
// one.
func (w *web) copyHost(
	pages []replay.Answer, k kind, from, to string, at time.Time,
) (copies []replay.Answer) {
	var urls, titles []string
	for i, a := range pages {
		u, _ := weburl.Parse(a.URL)
		c := a
		c.URL, c.At, c.Page = "http://"+to+u.PathAndQuery(), at, new(vocab.Page)
		*c.Page = *a.Page
		c.Page.Body = k.body(a.Page.Body, pages[(i+1)%len(pages)].Page.Body, from, to)
		copies = append(copies, c)
		urls, titles = append(urls, c.URL), append(titles, a.Title())
		p := page{content: a.Content, copied: true}
		w.shown[eval.Page(a.URL)] = p
		p.isCopy = true
		w.shown[eval.Page(c.URL)] = p
	}
	w.copied = append(w.copied, pages...)
	if k.indexed {
		copies = slices.Insert(copies, 0, listOf("http://"+to+"/all-pages", urls, titles, at))
	}
	return copies
}

// listOf returns a page with links.
func listOf(url string, links, texts []string, at time.Time) replay.Answer {
	var b bytes.Buffer
	b.WriteString("<!doctype html><title>All pages</title><ul>\n")
	for i, link := range links {
		link, text := html.EscapeString(link), html.EscapeString(texts[i])
		fmt.Fprintf(&b, "<li><a href=\"%s\">%s</a>\n", link, text)
	}
	return replay.Answer{
		URL: url, At: at, Outcome: vocab.Fetched, Status: 200,
		Page: &vocab.Page{ContentType: "text/html; charset=utf-8", Body: b.Bytes()},
	}
}

var (
	titleTags = regexp.MustCompile(`(?is)(<title[^>]*>)(.*?)(</title>)`)
	bodyTag   = regexp.MustCompile(`(?is)<body[^>]*>`)
	bodyEnd   = regexp.MustCompile(`(?i)</body>`)
)

// same returns a page byte for byte.
func same(page, _ []byte, _, _ string) []byte { return page }

// framed returns a page with the title, the menu and the foot of another site, whose links within
// the site lead to copies.
func framed(page, _ []byte, from, to string) []byte {
	const (
		title = "${1}${2} - Free Manuals Archive${3}"
		menu  = "${0}<div><a href=\"/all-pages\">All manuals</a> | Free Manuals Archive</div>\n"
		foot  = "<p>Read more free manuals, sorted by topic, in our archive.</p>\n${0}"
	)
	page = titleTags.ReplaceAll(page, []byte(title))
	page = bodyTag.ReplaceAll(page, []byte(menu))
	page = bodyEnd.ReplaceAll(page, []byte(foot))
	for _, scheme := range []string{"http://", "https://"} {
		page = bytes.ReplaceAll(page, []byte(scheme+from+"/"), []byte("http://"+to+"/"))
	}
	return page
}

// paired returns the same with the text of the next page below, so that it is a near-duplicate of
// neither.
func paired(page, next []byte, from, to string) []byte {
	at, end := bodyTag.FindIndex(next), bodyEnd.FindIndex(next)
	if at == nil || end == nil || end[0] < at[1] {
		return framed(page, nil, from, to)
	}
	below := slices.Concat(next[at[1]:end[0]], []byte("</body>"))
	return framed(bodyEnd.ReplaceAllLiteral(page, below), nil, from, to)
}
