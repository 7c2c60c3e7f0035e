package api

import (
	"encoding/xml"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/web/internal/address"
	"anatomy/web/internal/text"
)

// Results as feeds: Atom 1.0 and RSS 2.0 with the response elements of OpenSearch 1.1. Results with
// a URL that must not become a link are left out.

const openSearchSpace = "http://a9.com/-/spec/opensearch/1.1/"

type atomFeed struct {
	XMLName    xml.Name        `xml:"http://www.w3.org/2005/Atom feed"`
	OpenSearch string          `xml:"xmlns:opensearch,attr"`
	ID         string          `xml:"id"`
	Title      string          `xml:"title"`
	Author     string          `xml:"author>name"`
	Updated    string          `xml:"updated"`
	Links      []AtomLink      `xml:"link"`
	Total      int             `xml:"opensearch:totalResults"`
	Start      int             `xml:"opensearch:startIndex"`
	PerPage    int             `xml:"opensearch:itemsPerPage"`
	Query      openSearchQuery `xml:"opensearch:Query"`
	Entries    []atomEntry     `xml:"entry"`
}

type AtomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	Lang      string   `xml:"xml:lang,attr,omitempty"`
	ID        string   `xml:"id"` // the page's URL
	Title     string   `xml:"title"`
	Updated   string   `xml:"updated"` // date of the page, or time of the fetch: Atom requires one
	Published string   `xml:"published,omitempty"`
	Link      AtomLink `xml:"link"`
	Summary   string   `xml:"summary"`
}

type openSearchQuery struct {
	Role  string `xml:"role,attr"`
	Terms string `xml:"searchTerms,attr"`
	Start int    `xml:"startIndex,attr"`
}

type rssFeed struct {
	XMLName    xml.Name   `xml:"rss"`
	Version    string     `xml:"version,attr"`
	OpenSearch string     `xml:"xmlns:opensearch,attr"`
	Atom       string     `xml:"xmlns:atom,attr"`
	Dublin     string     `xml:"xmlns:dc,attr"`
	Channel    rssChannel `xml:"channel"`
}

type rssChannel struct {
	Title       string          `xml:"title"`
	Link        string          `xml:"link"`
	Description string          `xml:"description"`
	Self        AtomLink        `xml:"atom:link"`
	Total       int             `xml:"opensearch:totalResults"`
	Start       int             `xml:"opensearch:startIndex"`
	PerPage     int             `xml:"opensearch:itemsPerPage"`
	Query       openSearchQuery `xml:"opensearch:Query"`
	Items       []RssItem       `xml:"item"`
}

type RssItem struct {
	Title       string `xml:"title"`
	Link        string `xml:"link"`
	GUID        string `xml:"guid"`
	Description string `xml:"description"`
	Published   string `xml:"pubDate,omitempty"` // date of the page
	Lang        string `xml:"dc:language,omitempty"`
}

// feedLinks make the links of a feed.
type feedLinks struct {
	base string // address of the site
	lens string // what links add for the lens of the search
}

// feed returns the address of a page of the feed, and results that of the page of results.
func (l feedLinks) feed(format string, r searcher.Request, offset int) string {
	return address.FeedHref(l.base, format, r, offset) + l.lens
}

func (l feedLinks) results(r searcher.Request) string {
	return l.base + address.SearchHref("/search", r, r.Offset) + l.lens
}

// atomFeedOf returns a page of results as a feed with links to its neighbours.
func atomFeedOf(name string, links feedLinks, r searcher.Request, a *searcher.Response) *atomFeed {
	href := func(offset int) string { return links.feed("atom", r, offset) }
	feed := &atomFeed{
		OpenSearch: openSearchSpace,
		ID:         href(0),
		Title:      xmlText(r.Query) + " – " + name,
		Author:     name,
		Updated:    newest(a).Format(time.RFC3339),
		Links: []AtomLink{
			{"self", "application/atom+xml", href(r.Offset)},
			{"alternate", "text/html", links.results(r)},
			{"search", "application/opensearchdescription+xml", links.base + "/opensearch.xml"},
			{"first", "application/atom+xml", href(0)},
		},
		Total: a.Listed(), Start: r.Offset, PerPage: r.Limit,
		Query: openSearchQuery{"request", xmlText(r.Query), r.Offset},
	}
	if r.Offset > 0 {
		feed.Links = append(feed.Links, AtomLink{"previous", "application/atom+xml", href(max(0, r.Offset-r.Limit))})
	}
	if next, ok := address.NextOffset(r, a); ok {
		feed.Links = append(feed.Links, AtomLink{"next", "application/atom+xml", href(next)})
	}
	for i := range a.Results {
		feed.add(&a.Results[i])
	}
	return feed
}

func (f *atomFeed) add(r *searcher.Result) {
	target := xmlText(text.Linkable(r.URL))
	if target == "" {
		return
	}
	entry := atomEntry{
		Lang: text.LangTag(r.Lang), ID: target, Title: feedTitle(r), Updated: dateOf(r).Format(time.RFC3339),
		Link: AtomLink{Rel: "alternate", Href: target}, Summary: xmlText(text.Snippet(r)),
	}
	if r.Date != 0 {
		entry.Published = entry.Updated
	}
	f.Entries = append(f.Entries, entry)
}

func rssFeedOf(name string, links feedLinks, r searcher.Request, a *searcher.Response) *rssFeed {
	channel := rssChannel{
		Title:       xmlText(r.Query) + " – " + name,
		Link:        links.results(r),
		Description: "Results for " + xmlText(r.Query),
		Self:        AtomLink{"self", "application/rss+xml", links.feed("rss", r, r.Offset)},
		Total:       a.Listed(), Start: r.Offset, PerPage: r.Limit,
		Query: openSearchQuery{"request", xmlText(r.Query), r.Offset},
	}
	for i := range a.Results {
		channel.add(&a.Results[i])
	}
	return &rssFeed{
		Version: "2.0", OpenSearch: openSearchSpace, Atom: "http://www.w3.org/2005/Atom",
		Dublin: "http://purl.org/dc/elements/1.1/", Channel: channel,
	}
}

func (ch *rssChannel) add(r *searcher.Result) {
	target := xmlText(text.Linkable(r.URL))
	if target == "" {
		return
	}
	item := RssItem{
		Title: feedTitle(r), Link: target, GUID: target, Description: xmlText(text.Snippet(r)),
		Lang: text.LangTag(r.Lang),
	}
	if r.Date != 0 {
		item.Published = r.Date.Time().Format(time.RFC1123Z)
	}
	ch.Items = append(ch.Items, item)
}

// feedTitle returns the title of a result, or its URL: readers show nothing else.
func feedTitle(r *searcher.Result) string {
	if title := strings.TrimSpace(xmlText(r.Title)); title != "" {
		return title
	}
	return xmlText(r.URL)
}

// dateOf returns the date of a page, or the time of its fetch, or the epoch, so that equal results
// give equal feeds.
func dateOf(r *searcher.Result) time.Time {
	switch {
	case r.Date != 0:
		return r.Date.Time().UTC()
	case !r.Fetched.IsZero():
		return r.Fetched.UTC()
	}
	return time.Unix(0, 0).UTC()
}

// newest returns the date of the newest result.
func newest(a *searcher.Response) time.Time {
	latest := time.Unix(0, 0).UTC()
	for i := range a.Results {
		if date := dateOf(&a.Results[i]); date.After(latest) {
			latest = date
		}
	}
	return latest
}

// xmlText removes characters that XML does not allow (XML 1.0 §2.2), and invalid UTF-8.
func xmlText(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r', r >= 0x20 && r <= 0xD7FF, r >= 0xE000 && r < 0xFFFD, r >= 0x10000:
			return r
		}
		return -1
	}, text)
}

// writeXML writes a value as an XML document.
func writeXML(c *gin.Context, kind string, value any) error {
	body, err := xml.MarshalIndent(value, "", " ")
	if err != nil {
		return err
	}
	c.Data(http.StatusOK, kind+"; charset=utf-8", append([]byte(xml.Header), body...))
	return nil
}
