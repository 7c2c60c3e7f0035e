package pages

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/collection"
	"anatomy/web/internal/address"
	"anatomy/web/internal/frame"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
	"anatomy/web/internal/reported"
	"anatomy/web/internal/text"
)

// A traceView is the page information.
type traceView struct {
	*collection.Trace // nil for the empty form
	Asked             string
	Query             string        // that the page is missing from, or ""
	Next              template.HTML // what to do about a page that the crawl does not know, or ""
	Link              string        // "" if it must not become a link
	Crumbs            []string
	Head              string        // the answer in one to five words
	Mood              string        // "yes", "half" or "no"
	Why               template.HTML // the answer in a sentence
	Steps             []stepView
	Near              []nearView
	Rank              string
	Plain             string // PageRank by links alone, or ""

	Cached, Links, Site, JSON string // addresses, or ""
}

type stepView struct {
	Crumbs []string
	Facts  []factView
}

type factView struct {
	Name string
	Text template.HTML
}

type nearView struct{ Href, URL string }

// tracePage shows why a page is, or is not, in the index. Without a URL it shows a form. With a query it
// leads from a page in the index to the explanation of its score.
func (s *documentPages) tracePage(c *gin.Context) error {
	p := params.Read(c)
	query := p.Text("q", params.MaxQuery)
	v := s.View(c, "Page information", query)
	if p.Err == nil && p.Text("url", params.MaxURL) == "" && p.Err == nil {
		v.Body = &traceView{Query: query}
		return s.Render(c, http.StatusOK, "trace", v)
	}
	asked, t, err := s.reader.TraceAsked(c.Request.Context(), p)
	if err != nil {
		return err
	}
	if query != "" && t.Indexed {
		s.Site.Redirect(c, http.StatusSeeOther, "/explain?"+url.Values{"q": {query}, "url": {t.URL}}.Encode())
		return nil
	}
	view := newTraceView(v.Messages, asked, t)
	view.Query = query
	v.Body = view
	status := http.StatusOK
	if !t.Known && t.Unread == "" {
		status = http.StatusNotFound
	}
	return s.Render(c, status, "trace", v)
}

func newTraceView(m *messages.Printer, asked string, t *collection.Trace) *traceView {
	v := &traceView{Trace: t, Asked: asked, Link: text.Linkable(t.URL), Crumbs: text.Breadcrumb(t.URL), JSON: "/api/v1/trace?" + url.Values{"url": {t.URL}}.Encode()}
	v.judge(m)
	for i := range t.Records {
		v.Steps = append(v.Steps, stepView{text.Breadcrumb(t.Records[i].URL), recordFacts(m, &t.Records[i])})
	}
	for _, known := range t.Similar {
		v.Near = append(v.Near, nearView{address.TraceHref(known), known})
	}
	rank := func(rank, average float64) string {
		return m.Text("%s of all rank, %s times the average", share(m, rank), m.Decimal(fmt.Sprintf("%.2f", average)))
	}
	if t.PageRank > 0 {
		v.Rank = rank(t.PageRank, t.Average)
	}
	for _, r := range t.Ranks {
		if r.Name == collection.PlainRank {
			v.Plain = rank(r.Rank, r.Average)
		}
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
func (v *traceView) judge(m *messages.Printer) {
	t := v.Trace
	switch {
	case t.Scripted:
		v.Head, v.Mood = m.Text("In the index, without text"), "half"
		v.Why = m.HTML("The page has no text without JavaScript. Searches find it by its title and address, and the text of links to it.")
	case t.Indexed && t.Crawled:
		v.Head, v.Mood = m.Text("In the index"), "yes"
		v.Why = m.HTML("Searches find it by the %d words of its text, its title and address, and the text of links to it.", int(t.Words))
	case t.Indexed:
		v.Head, v.Mood = m.Text("In the index only by links"), "half"
		v.Why = m.HTML("Searches find it by the text of links to it. It was never fetched.")
	case t.Known:
		v.Head, v.Mood, v.Why = m.Text("Not in the index"), "no", reported.Sentence(m, t.Absent)
	case t.Unread != "":
		v.Head, v.Mood = m.Text("Not in the index"), "no"
		v.Why = m.HTML("The records of the crawl cannot be read: %s.", reported.HTML(m, t.Unread))
	default:
		v.Head, v.Mood = m.Text("Not known to the crawl"), "no"
		v.Why = m.HTML("No start URL, link or sitemap has led the crawl to this page.")
		v.Next = m.HTML("To add it: %s. In the browser: %s.", template.HTML("<code>anatomy crawl URL</code>"), frame.Quote("/crawl#act", m.Text("The page of the crawl")))
	}
	if n := len(t.Records); n > 1 && t.Indexed {
		v.Why = m.HTML("The last of the pages below is the one in the index.") + " " + v.Why
	}
}

// recordFacts returns a record in words, in the order of events.
func recordFacts(m *messages.Printer, r *collection.TraceRecord) (all []factView) {
	add := func(name string, text template.HTML) {
		if text != "" {
			all = append(all, factView{name, text})
		}
	}
	add(m.Text("Found"), join(", ", moment(m, r.FirstSeen), reported.HTML(m, r.Origin())))
	add(m.Text("State"), stateText(m, r))
	add(m.Text("Waits"), reported.HTML(m, r.Waits))
	add(m.Text("Refused"), reported.HTML(m, r.Refused))
	if f := r.Fetch; f != nil {
		add(m.Text("Last fetch"), fetchText(m, f))
		stored := reported.Element(f.Place, true)
		if f.Content != "" {
			stored = join(", ", stored, m.HTML("content %s", f.Content))
		}
		add(m.Text("Stored"), stored)
	}
	if r.Visits > 0 {
		add(m.Text("Visits"), visitsText(m, r))
		add(m.Text("Next visit"), nextText(m, r))
	}
	add(m.Text("Document"), template.HTML(fmt.Sprint(r.Doc)))
	return all
}

func stateText(m *messages.Printer, r *collection.TraceRecord) template.HTML {
	all := []template.HTML{reported.HTML(m, r.State)}
	if !r.Retry.IsZero() {
		all = append(all, m.HTML("next attempt %s", moment(m, r.Retry)))
	}
	if r.Tries > 0 {
		all = append(all, m.HTML("failed %d times", r.Tries))
	}
	return join(", ", all...)
}

func visitsText(m *messages.Printer, r *collection.TraceRecord) template.HTML {
	all := []template.HTML{m.HTML("%d times, the last %s", r.Visits, moment(m, r.Visited))}
	switch {
	case r.Visits > 1 && r.Changes == 0:
		all = append(all, m.HTML("no new content"))
	case r.Visits > 1:
		all = append(all, m.HTML("new content %d times, the last time %s", r.Changes, moment(m, r.Changed)))
	}
	if r.Misses > 0 {
		all = append(all, m.HTML("not found the last %d times", r.Misses))
	}
	if !r.DownSince.IsZero() {
		all = append(all, m.HTML("its host has been down since %s, and the page is kept as it was", moment(m, r.DownSince)))
	}
	return join("; ", all...)
}

func nextText(m *messages.Printer, r *collection.TraceRecord) template.HTML {
	why := reported.HTML(m, r.NextWhy)
	switch {
	case r.Next.IsZero():
		return why
	case r.Planned:
		return m.HTML("%s: %s", moment(m, r.Next), why)
	}
	return m.HTML("%s: %s", m.HTML("%s, only with %s", moment(m, r.Next), "anatomy crawl --recrawl"), why)
}

func fetchText(m *messages.Printer, f *collection.TraceFetch) template.HTML {
	outcome := reported.HTML(m, f.Outcome)
	if f.Status != 0 {
		outcome = join(", ", outcome, m.HTML("status %d", f.Status))
	}
	if f.Reason != "" {
		outcome += " (" + reported.HTML(m, f.Reason) + ")"
	}
	all := []template.HTML{m.HTML("%s: %s", moment(m, f.At), outcome)}
	if f.Truncated != "" {
		all = append(all, m.HTML("cut short (%s), only the first part of the body was kept", reported.HTML(m, f.Truncated)))
	}
	switch {
	case f.LeadsTo != 0:
		all = append(all, m.HTML("leads to document %s", fmt.Sprint(f.LeadsTo)))
	case f.SameAs != 0:
		all = append(all, m.HTML("same content as document %s", fmt.Sprint(f.SameAs)))
	}
	return join("; ", all...)
}

// moment returns a date and time, or says that it is not known.
func moment(m *messages.Printer, t time.Time) template.HTML {
	if t.IsZero() {
		return m.HTML("at an unknown time")
	}
	return template.HTML(m.Moment(t))
}

func join(separator string, all ...template.HTML) template.HTML {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = string(one)
	}
	return template.HTML(strings.Join(texts, separator))
}
