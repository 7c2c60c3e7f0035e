package web

import (
	"encoding/xml"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
)

// Results as feeds: Atom 1.0 and RSS 2.0, both with the response elements of OpenSearch
// 1.1. Results whose URL may not be linked stay out: readers make links of what they find.

const openSearchSpace = "http://a9.com/-/spec/opensearch/1.1/"

type atomFeed struct {
	XMLName    xml.Name        `xml:"http://www.w3.org/2005/Atom feed"`
	OpenSearch string          `xml:"xmlns:opensearch,attr"`
	ID         string          `xml:"id"`
	Title      string          `xml:"title"`
	Author     string          `xml:"author>name"`
	Updated    string          `xml:"updated"`
	Links      []atomLink      `xml:"link"`
	Total      int             `xml:"opensearch:totalResults"`
	Start      int             `xml:"opensearch:startIndex"`
	PerPage    int             `xml:"opensearch:itemsPerPage"`
	Query      openSearchQuery `xml:"opensearch:Query"`
	Entries    []atomEntry     `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID      string   `xml:"id"` // the page's URL
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"` // when it was fetched
	Link    atomLink `xml:"link"`
	Summary string   `xml:"summary"`
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
	Channel    rssChannel `xml:"channel"`
}

type rssChannel struct {
	Title       string          `xml:"title"`
	Link        string          `xml:"link"`
	Description string          `xml:"description"`
	Self        atomLink        `xml:"atom:link"`
	Total       int             `xml:"opensearch:totalResults"`
	Start       int             `xml:"opensearch:startIndex"`
	PerPage     int             `xml:"opensearch:itemsPerPage"`
	Query       openSearchQuery `xml:"opensearch:Query"`
	Items       []rssItem       `xml:"item"`
}

type rssItem struct {
	Title       string `xml:"title"`
	Link        string `xml:"link"`
	GUID        string `xml:"guid"`
	Type        string `xml:"type"` // SearXNG's
	Description string `xml:"description"`
	Published   string `xml:"pubDate,omitempty"` // when it was fetched
}

// atomFeed is a page of results as a feed, with the addresses of its neighbours.
func (s *Server) atomFeed(base string, r searcher.Request, a *searcher.Response) *atomFeed {
	href := func(offset int) string { return feedHref(base, "atom", r, offset) }
	feed := &atomFeed{
		OpenSearch: openSearchSpace,
		ID:         href(0),
		Title:      xmlText(r.Query) + " – " + s.o.Name,
		Author:     s.o.Name,
		Updated:    newest(a).Format(time.RFC3339),
		Links: []atomLink{
			{"self", "application/atom+xml", href(r.Offset)},
			{"alternate", "text/html", base + searchHref("/search", r, r.Offset)},
			{"search", "application/opensearchdescription+xml", base + "/opensearch.xml"},
			{"first", "application/atom+xml", href(0)},
		},
		Total: a.Total, Start: r.Offset, PerPage: r.Limit,
		Query: openSearchQuery{"request", xmlText(r.Query), r.Offset},
	}
	if r.Offset > 0 {
		feed.Links = append(feed.Links, atomLink{"previous", "application/atom+xml", href(max(0, r.Offset-r.Limit))})
	}
	if next, ok := nextOffset(r, a); ok {
		feed.Links = append(feed.Links, atomLink{"next", "application/atom+xml", href(next)})
	}
	for i := range a.Results {
		feed.add(&a.Results[i])
	}
	return feed
}

func (f *atomFeed) add(r *searcher.Result) {
	target := xmlText(linkable(r.URL))
	if target == "" {
		return
	}
	entry := atomEntry{ID: target, Title: feedTitle(r), Updated: f.Updated, Link: atomLink{Rel: "alternate", Href: target}, Summary: xmlText(plainSnippet(r))}
	if !r.Fetched.IsZero() {
		entry.Updated = r.Fetched.UTC().Format(time.RFC3339)
	}
	f.Entries = append(f.Entries, entry)
}

func (s *Server) rssFeed(base string, r searcher.Request, a *searcher.Response) *rssFeed {
	channel := rssChannel{
		Title:       xmlText(r.Query) + " – " + s.o.Name,
		Link:        base + searchHref("/search", r, r.Offset),
		Description: "Results for " + xmlText(r.Query),
		Self:        atomLink{"self", "application/rss+xml", feedHref(base, "rss", r, r.Offset)},
		Total:       a.Total, Start: r.Offset, PerPage: r.Limit,
		Query: openSearchQuery{"request", xmlText(r.Query), r.Offset},
	}
	for i := range a.Results {
		channel.add(&a.Results[i])
	}
	return &rssFeed{Version: "2.0", OpenSearch: openSearchSpace, Atom: "http://www.w3.org/2005/Atom", Channel: channel}
}

func (ch *rssChannel) add(r *searcher.Result) {
	target := xmlText(linkable(r.URL))
	if target == "" {
		return
	}
	item := rssItem{Title: feedTitle(r), Link: target, GUID: target, Type: "result", Description: xmlText(plainSnippet(r))}
	if !r.Fetched.IsZero() {
		item.Published = r.Fetched.UTC().Format(time.RFC1123Z)
	}
	ch.Items = append(ch.Items, item)
}

// feedTitle is the title of a result, its URL where it has none: readers show nothing else.
func feedTitle(r *searcher.Result) string {
	if title := strings.TrimSpace(xmlText(r.Title)); title != "" {
		return title
	}
	return xmlText(r.URL)
}

func feedHref(base, format string, r searcher.Request, offset int) string {
	return base + searchHref("/search", r, offset) + "&format=" + format
}

// newest is when the latest of the results was fetched; the epoch where none was, so that the
// same results give the same feed.
func newest(a *searcher.Response) time.Time {
	latest := time.Unix(0, 0)
	for i := range a.Results {
		if fetched := a.Results[i].Fetched; fetched.After(latest) {
			latest = fetched
		}
	}
	return latest.UTC()
}

// xmlText drops what no XML document may hold (XML 1.0 §2.2), the rest of bad UTF-8 included.
func xmlText(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r', r >= 0x20 && r <= 0xD7FF, r >= 0xE000 && r < 0xFFFD, r >= 0x10000:
			return r
		}
		return -1
	}, text)
}

// writeXML answers with a value as an XML document.
func writeXML(c *gin.Context, kind string, value any) error {
	body, err := xml.MarshalIndent(value, "", " ")
	if err != nil {
		return err
	}
	c.Data(http.StatusOK, kind+"; charset=utf-8", append([]byte(xml.Header), body...))
	return nil
}
