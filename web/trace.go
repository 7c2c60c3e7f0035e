package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/vocab"
)

// A Trace says why a page is in the index, or why it is not. Its form in JSON is that of the API and
// of "anatomy trace --json".
type Trace struct {
	URL     string        `json:"url"`     // canonical
	Known   bool          `json:"known"`   // a seed, a link or a sitemap leads to it
	Records []TraceRecord `json:"records"` // what the crawl keeps of the URL, then of what that leads to: redirects, duplicates
	Unread  string        `json:"unread"`  // why the records could not be read; "" where they were
	Live    bool          `json:"live"`    // the records come from a crawl that runs

	Indexed bool   `json:"indexed"` // the last of the records can be found
	Crawled bool   `json:"crawled"` // … by its own words; else by those of links to it alone
	Words   uint32 `json:"words"`   // of its text
	Title   string `json:"title"`
	Absent  string `json:"absent"` // why it is not indexed; "" where it is

	Doc      vocab.DocID `json:"docid"`      // of the last of the records; 0 where none is known
	PageRank float64     `json:"pagerank"`   // its share of all rank; 0 where it has none
	Average  float64     `json:"of_average"` // PageRank in averages of all pages
	Ranks    []TraceRank `json:"ranks"`      // by the vectors that are kept beside that one
	Alike    []NearPage  `json:"alike"`      // the ten pages of the index that say most nearly the same, the nearest first
	AlikeAll int         `json:"alike_total"`
	Similar  []string    `json:"similar"` // of a URL that is not known: those that are, and differ in scheme, www or the last slash
}

// A TraceRank is what a rank vector gives a page.
type TraceRank struct {
	Name    string  `json:"name"` // of the vector
	Rank    float64 `json:"rank"` // the page's share
	Average float64 `json:"of_average"`
}

// A TraceRecord is what the crawl keeps of one URL.
type TraceRecord struct {
	Doc       vocab.DocID `json:"docid"`
	URL       string      `json:"url"`
	Depth     int         `json:"depth"` // links from the nearest seed
	FirstSeen time.Time   `json:"first_seen,omitzero"`
	State     string      `json:"state"`            // "queued", "finished", …
	Retry     time.Time   `json:"retry,omitzero"`   // of state waiting: when it is tried again
	Tries     int         `json:"tries"`            // that failed in passing, one after the other
	Refused   string      `json:"refused"`          // why it is not to be fetched
	Visits    int         `json:"visits"`           // that found out whether the page is there
	Visited   time.Time   `json:"visited,omitzero"` // the last of them
	Changes   int         `json:"changes"`          // visits that found another content
	Changed   time.Time   `json:"changed,omitzero"` // when the last new version came
	Misses    int         `json:"misses"`           // visits in a row that found nothing

	Next    time.Time `json:"next,omitzero"` // when it is to be visited again
	NextWhy string    `json:"next_why"`
	Planned bool      `json:"planned"` // Next is in the queue; else it holds for "crawl --recrawl"

	Fetch *TraceFetch `json:"fetch"` // the last one, null before
}

// A TraceFetch is what came of a fetch.
type TraceFetch struct {
	At      time.Time   `json:"at,omitzero"`
	Outcome string      `json:"outcome"` // "fetched", "redirected", "forbidden", …
	Status  int         `json:"status"`  // of HTTP; 0 where no answer came
	Reason  string      `json:"reason"`
	Place   string      `json:"place"`   // in the repository; "" where nothing was kept
	Content string      `json:"content"` // its checksum; "" of a redirect
	LeadsTo vocab.DocID `json:"leads_to"`
	SameAs  vocab.DocID `json:"same_as"`
}

// traceTimeout bounds how long the records of a URL are looked for.
const traceTimeout = 5 * time.Second

// A traceView is the page of a Trace.
type traceView struct {
	*Trace // nil where only the form is shown
	Asked  string
	Link   string // "" where the URL may not be linked
	Crumbs []string
	Head   string // the answer in a word or two
	Mood   string // "yes", "half" or "no"
	Why    string // the answer in a sentence
	Steps  []stepView
	Near   []nearView
	Rank   string

	Cached, Links, Site, JSON string // addresses; "" where there is nothing to show
}

type stepView struct {
	Crumbs []string
	Facts  []factView
}

type factView struct{ Name, Text string }

type nearView struct{ Href, URL string }

func traceHref(address string) string { return "/page?" + url.Values{"url": {address}}.Encode() }

// tracePage says why a page is, or is not, in the index. Without a URL it asks for one.
func (s *Server) tracePage(c *gin.Context) error {
	v := s.view("Page information", "")
	if p := readParams(c); p.err == nil && p.text("url", MaxURL) == "" && p.err == nil {
		if s.o.Trace == nil {
			return errNoTrace
		}
		v.Trace = &traceView{}
		return s.render(c, http.StatusOK, s.pages.trace, v)
	}
	asked, t, err := s.traced(c)
	if err != nil {
		return err
	}
	v.Trace = s.newTraceView(asked, t)
	status := http.StatusOK
	if !t.Known && t.Unread == "" {
		status = http.StatusNotFound
	}
	return s.render(c, status, s.pages.trace, v)
}

func (s *Server) apiTrace(c *gin.Context) (any, error) {
	_, t, err := s.traced(c)
	return t, err
}

var errNoTrace = notFound("What the crawl knows of a page is not shown here.")

// traced answers parameter url.
func (s *Server) traced(c *gin.Context) (asked string, t *Trace, err error) {
	p := readParams(c)
	asked = p.text("url", MaxURL)
	p.required("url", asked)
	if p.err != nil {
		return "", nil, p.err
	}
	if s.o.Trace == nil {
		return "", nil, errNoTrace
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), traceTimeout)
	defer cancel()
	if err := s.gate.enter(ctx); err != nil {
		return "", nil, err
	}
	defer s.gate.leave()
	t, err = s.o.Trace(ctx, asked)
	return asked, t, err
}

func (s *Server) newTraceView(asked string, t *Trace) *traceView {
	v := &traceView{Trace: t, Asked: asked, Link: linkable(t.URL), Crumbs: breadcrumb(t.URL), JSON: "/api/v1/trace?" + url.Values{"url": {t.URL}}.Encode()}
	v.judge()
	for i := range t.Records {
		v.Steps = append(v.Steps, stepView{breadcrumb(t.Records[i].URL), t.Records[i].facts()})
	}
	for _, address := range t.Similar {
		v.Near = append(v.Near, nearView{traceHref(address), address})
	}
	if t.PageRank > 0 {
		v.Rank = fmt.Sprintf("%.3g of all rank, %.2f times the average", t.PageRank, t.Average)
	}
	if t.Indexed && t.Crawled && s.o.Pages != nil {
		v.Cached = cachedHref(uint64(t.Doc), "", false)
	}
	if t.Doc != 0 && s.o.Links != nil {
		v.Links = fmt.Sprintf("/links?doc=%d", t.Doc)
	}
	if host := hostOf(t.URL); host != "" && s.o.Site != nil {
		v.Site = siteHref(host)
	}
	return v
}

// judge puts the answer into words.
func (v *traceView) judge() {
	t := v.Trace
	switch {
	case t.Indexed && t.Crawled:
		v.Head, v.Mood = "In the index", "yes"
		v.Why = fmt.Sprintf("It is found by the %s words of its text, by its title and address, and by the words of links to it.", count(int(t.Words)))
	case t.Indexed:
		v.Head, v.Mood = "In the index by links alone", "half"
		v.Why = "It is found by the words of links to it; its own were never fetched."
	case t.Known:
		v.Head, v.Mood, v.Why = "Not in the index", "no", sentence(t.Absent)
	case t.Unread != "":
		v.Head, v.Mood, v.Why = "Not in the index", "no", "What the crawl knows of it cannot be read: "+t.Unread+"."
	default:
		v.Head, v.Mood = "Never seen", "no"
		v.Why = "No seed, no link and no sitemap leads to it."
	}
	if n := len(t.Records); n > 1 && t.Indexed {
		v.Why = "What counts is the last of the pages below. " + v.Why
	}
}

// facts are a record in words, in the order in which things happened.
func (r *TraceRecord) facts() (all []factView) {
	add := func(name, text string) {
		if text != "" {
			all = append(all, factView{name, text})
		}
	}
	add("Found", strings.TrimSpace(ago(r.FirstSeen)+", "+r.From()))
	add("State", r.stateText())
	add("Refused", r.Refused)
	if f := r.Fetch; f != nil {
		add("Last fetch", f.text())
		add("Stored", strings.TrimSuffix(f.Place+", content "+f.Content, ", content "))
	}
	if r.Visits > 0 {
		add("Visits", r.visitsText())
		add("Next visit", r.nextText())
	}
	add("Document", fmt.Sprint(r.Doc))
	return all
}

// From says how far the URL is from the seeds.
func (r *TraceRecord) From() string {
	switch r.Depth {
	case 0:
		return "a seed or named by robots.txt"
	case 1:
		return "1 link from a seed"
	}
	return fmt.Sprintf("%d links from a seed", r.Depth)
}

func (r *TraceRecord) stateText() string {
	text := r.State
	if !r.Retry.IsZero() {
		text += ", to be tried again " + ago(r.Retry)
	}
	if r.Tries > 0 {
		text += fmt.Sprintf(", failed %s", times(r.Tries))
	}
	return text
}

func (r *TraceRecord) visitsText() string {
	text := times(r.Visits) + ", the last " + ago(r.Visited)
	if r.Visits > 1 {
		text += fmt.Sprintf("; a change was found %s, the last new version came %s", times(r.Changes), ago(r.Changed))
	}
	if r.Misses > 0 {
		text += "; not there the last time"
		if r.Misses > 1 {
			text += fmt.Sprintf(", and not the %d before", r.Misses-1)
		}
	}
	return text
}

func (r *TraceRecord) nextText() string {
	switch {
	case r.Next.IsZero():
		return r.NextWhy
	case r.Planned:
		return ago(r.Next) + ": " + r.NextWhy
	}
	return ago(r.Next) + ", if anatomy crawl --recrawl runs: " + r.NextWhy
}

func (f *TraceFetch) text() string {
	text := ago(f.At) + ": " + f.Outcome
	if f.Status != 0 {
		text += fmt.Sprintf(", status %d", f.Status)
	}
	if f.Reason != "" {
		text += " (" + f.Reason + ")"
	}
	switch {
	case f.LeadsTo != 0:
		text += fmt.Sprintf("; leads to document %d", f.LeadsTo)
	case f.SameAs != 0:
		text += fmt.Sprintf("; the same as document %d", f.SameAs)
	}
	return text
}

// ago is a moment as people read it.
func ago(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return t.UTC().Format("2 Jan 2006, 15:04:05 UTC")
}

// times is how often: once, twice, 3 times.
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// sentence begins with a capital and ends with a full stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}

// hostOf is the host of a URL, with its port; "" where it has none.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}
