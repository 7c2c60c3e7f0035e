package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/collection"
	"anatomy/internal/plural"
	"anatomy/web/internal/address"
	"anatomy/web/internal/params"
	"anatomy/web/internal/text"
)

// A traceView is the page information.
type traceView struct {
	*collection.Trace // nil for the empty form
	Asked             string
	Link              string // "" if it must not become a link
	Crumbs            []string
	Head              string // the answer in one to five words
	Mood              string // "yes", "half" or "no"
	Why               string // the answer in a sentence
	Steps             []stepView
	Near              []nearView
	Rank              string

	Cached, Links, Site, JSON string // addresses, or ""
}

type stepView struct {
	Crumbs []string
	Facts  []factView
}

type factView struct{ Name, Text string }

type nearView struct{ Href, URL string }

// tracePage shows why a page is, or is not, in the index. Without a URL it shows a form.
func (s *documentPages) tracePage(c *gin.Context) error {
	v := s.View(c, "Page information", "")
	if p := params.Read(c); p.Err == nil && p.Text("url", params.MaxURL) == "" && p.Err == nil {
		v.Body = &traceView{}
		return s.Render(c, http.StatusOK, "trace", v)
	}
	asked, t, err := s.reader.TraceAsked(c.Request.Context(), params.Read(c))
	if err != nil {
		return err
	}
	v.Body = newTraceView(asked, t)
	status := http.StatusOK
	if !t.Known && t.Unread == "" {
		status = http.StatusNotFound
	}
	return s.Render(c, status, "trace", v)
}

func newTraceView(asked string, t *collection.Trace) *traceView {
	v := &traceView{Trace: t, Asked: asked, Link: text.Linkable(t.URL), Crumbs: text.Breadcrumb(t.URL), JSON: "/api/v1/trace?" + url.Values{"url": {t.URL}}.Encode()}
	v.judge()
	for i := range t.Records {
		v.Steps = append(v.Steps, stepView{text.Breadcrumb(t.Records[i].URL), recordFacts(&t.Records[i])})
	}
	for _, known := range t.Similar {
		v.Near = append(v.Near, nearView{address.TraceHref(known), known})
	}
	if t.PageRank > 0 {
		v.Rank = fmt.Sprintf("%.3g of all rank, %.2f times the average", t.PageRank, t.Average)
	}
	if t.Indexed && t.Crawled {
		v.Cached = address.CachedHref(uint64(t.Doc), "", false)
	}
	if t.Doc != 0 {
		v.Links = fmt.Sprintf("/links?doc=%d", t.Doc)
	}
	if host := text.HostOf(t.URL); host != "" {
		v.Site = address.SiteHref(host)
	}
	return v
}

// judge sets Head, Mood and Why.
func (v *traceView) judge() {
	t := v.Trace
	switch {
	case t.Scripted:
		v.Head, v.Mood = "In the index, without text", "half"
		v.Why = "The page has no text without JavaScript. Searches find it by its title and address, and the text of links to it."
	case t.Indexed && t.Crawled:
		v.Head, v.Mood = "In the index", "yes"
		v.Why = fmt.Sprintf("Searches find it by the %s words of its text, its title and address, and the text of links to it.", plural.Commas(int(t.Words)))
	case t.Indexed:
		v.Head, v.Mood = "In the index only by links", "half"
		v.Why = "Searches find it by the text of links to it. It was never fetched."
	case t.Known:
		v.Head, v.Mood, v.Why = "Not in the index", "no", text.Sentence(t.Absent)
	case t.Unread != "":
		v.Head, v.Mood, v.Why = "Not in the index", "no", "The records of the crawl cannot be read: "+t.Unread+"."
	default:
		v.Head, v.Mood = "Never seen", "no"
		v.Why = "No seed, link or sitemap has this URL."
	}
	if n := len(t.Records); n > 1 && t.Indexed {
		v.Why = "The last of the pages below is the one in the index. " + v.Why
	}
}

// recordFacts returns a record in words, in the order of events.
func recordFacts(r *collection.TraceRecord) (all []factView) {
	add := func(name, text string) {
		if text != "" {
			all = append(all, factView{name, text})
		}
	}
	add("Found", strings.TrimSpace(text.Ago(r.FirstSeen)+", "+r.Origin()))
	add("State", stateText(r))
	add("Waits", r.Waits)
	add("Refused", r.Refused)
	if f := r.Fetch; f != nil {
		add("Last fetch", fetchText(f))
		add("Stored", strings.TrimSuffix(f.Place+", content "+f.Content, ", content "))
	}
	if r.Visits > 0 {
		add("Visits", visitsText(r))
		add("Next visit", nextText(r))
	}
	add("Document", fmt.Sprint(r.Doc))
	return all
}

func stateText(r *collection.TraceRecord) string {
	said := r.State
	if !r.Retry.IsZero() {
		said += ", next attempt " + text.Ago(r.Retry)
	}
	if r.Tries > 0 {
		said += fmt.Sprintf(", failed %s", text.Times(r.Tries))
	}
	return said
}

func visitsText(r *collection.TraceRecord) string {
	said := text.Times(r.Visits) + ", the last " + text.Ago(r.Visited)
	if r.Visits > 1 {
		said += fmt.Sprintf("; new content %s, the last time %s", text.Times(r.Changes), text.Ago(r.Changed))
	}
	if r.Misses > 0 {
		said += "; not found the last time"
		if r.Misses > 1 {
			said += fmt.Sprintf(", and not the %d before", r.Misses-1)
		}
	}
	if !r.DownSince.IsZero() {
		said += "; its host is down since " + text.Ago(r.DownSince) + ", and the page is kept as it was"
	}
	return said
}

func nextText(r *collection.TraceRecord) string {
	switch {
	case r.Next.IsZero():
		return r.NextWhy
	case r.Planned:
		return text.Ago(r.Next) + ": " + r.NextWhy
	}
	return text.Ago(r.Next) + ", only with anatomy crawl --recrawl: " + r.NextWhy
}

func fetchText(f *collection.TraceFetch) string {
	text := text.Ago(f.At) + ": " + f.Outcome
	if f.Status != 0 {
		text += fmt.Sprintf(", status %d", f.Status)
	}
	if f.Reason != "" {
		text += " (" + f.Reason + ")"
	}
	if f.Truncated != "" {
		text += "; cut short (" + f.Truncated + "), only the first part of the body was kept"
	}
	switch {
	case f.LeadsTo != 0:
		text += fmt.Sprintf("; leads to document %d", f.LeadsTo)
	case f.SameAs != 0:
		text += fmt.Sprintf("; same content as document %d", f.SameAs)
	}
	return text
}
