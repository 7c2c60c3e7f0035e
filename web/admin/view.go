package admin

import (
	"fmt"
	"html/template"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"anatomy/collection"
	"anatomy/vocab"
	"anatomy/web/internal/frame"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/recent"
	"anatomy/web/internal/reported"
	"anatomy/web/internal/text"
)

// refreshSeconds is the interval at which the admin page reloads itself without script.
const refreshSeconds = 10

// An adminView is the admin page. The part that changes is a template of its own, which the script
// fetches every two seconds.
type adminView struct {
	Status *vocab.CrawlStatus // nil if no crawl runs
	Last   *PastCrawl         // the newest that ended; nil while one runs, and if none is known
	Server *serverView        // nil unless the visitor may act

	Said   []string // result of an action
	Failed bool     // the action failed

	Actor   bool   // the visitor may act
	Token   bool   // the server has a token
	Form    string // value that forms send back; "" for programs
	Refresh int    // seconds

	Tunes       bool   // there are forms for synonyms, pins and judged queries
	Query, Page string // that these forms begin with
	Missing     string // query whose page is to be added to the crawl, or ""

	Removed  []string // blocked sites and patterns
	Unlisted string   // why Removed is unknown, or ""
}

// sitesOf returns blocked patterns with a site in the place of the patterns that blocking it makes.
func sitesOf(patterns []string) (all []string) {
	blocked := map[string]bool{}
	for _, p := range patterns {
		blocked[p] = true
	}
	for _, p := range patterns {
		host := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(p, "*."), "/*"), ":*")
		switch whole := !strings.ContainsAny(host, "*/:") &&
			blocked[host+"/*"] && blocked["*."+host+"/*"] && blocked[host+":*"] && blocked["*."+host+":*"]; {
		case !whole:
			all = append(all, p)
		case p == host+"/*":
			all = append(all, host)
		}
	}
	return all
}

// A serverView is the part that only actors see.
type serverView struct {
	Jobs     []jobView
	Holdings *collection.Holdings // nil without Jobs
	Most     int64                // bytes of the largest structure
	Total    int64                // bytes of all structures

	Cluster   *vocab.ClusterStatus // nil for none
	Unreached string               // why the state of the cluster is not known; "" if it is

	Beside []frame.Tab // admin pages of the collections of the process, if there are several

	Rules     bool        // they can be read and changed here
	NextCrawl *time.Time  // scheduled; nil for none
	Past      []PastCrawl // the newest
	Unread    string      // why NextCrawl or Past is unknown, or ""

	Damage []text.Tallied // problems that readers of the data folder have found, by structure

	Counts    bool // searches are counted
	Fruitless []recent.FruitlessQuery
	Opened    []recent.OpenedResult

	SlowAfter  time.Duration // 0 if slow searches are not kept
	Slow       []recent.SlowQuery
	Complaints []recent.Complaint
}

// A jobView is a job on the admin page.
type jobView struct {
	Job
	Page  string        // address of the report, or ""
	Since time.Duration // how long it ran
}

func newJobView(j Job, now time.Time) jobView {
	v := jobView{Job: j}
	end := j.Ended
	if end.IsZero() {
		end = now
	}
	v.Since = max(0, end.Sub(j.Began))
	if j.HasPage {
		v.Page = "/crawl/rank/" + strconv.Itoa(j.Number)
	}
	return v
}

// Share returns the size of a structure beside the largest, in thousandths.
func (v *serverView) Share(bytes int64) int { return int(1000 * bytes / max(1, v.Most)) }

// Kinds returns the errors by kind, most frequent first.
func (v *adminView) Kinds() (all []kindView) {
	for _, kind := range text.Tally(v.Status.Errors) {
		view := kindView{Tallied: kind}
		if v.Actor {
			view.Example = v.Status.ErrorExamples[kind.Name]
		}
		all = append(all, view)
	}
	return all
}

// A kindView is a kind of errors with the newest URL of it, "" for visitors who may not act.
type kindView struct {
	text.Tallied
	Example string
}

// Reasons returns the reasons of waiting hosts, most frequent first.
func (v *adminView) Reasons() []text.Tallied { return text.Tally(v.Status.Waiting) }

// behind begins the reason of a host that waits for another one of its site.
const behind = "another host of "

func isBehind(h vocab.HostStatus) bool { return h.InFlight == 0 && strings.HasPrefix(h.Why, behind) }

// Queues returns the hosts without those that wait for another host of their site.
func (v *adminView) Queues() []vocab.HostStatus {
	return slices.DeleteFunc(slices.Clone(v.Status.Hosts), isBehind)
}

// Behind returns the number of hosts that Queues leaves out.
func (v *adminView) Behind() int { return len(v.Status.Hosts) - len(v.Queues()) }

// Pace returns how long the queue takes at the current rate, or 0 if the crawl does not fetch.
func (v *adminView) Pace() time.Duration {
	if st := v.Status; st.State == vocab.Crawling && st.Rate > 0 && st.Queued > 0 {
		return time.Duration(float64(st.Queued) / st.Rate * float64(time.Second)).Round(time.Minute)
	}
	return 0
}

// Reached returns the rate as thousandths of what politeness allows, or -1 if politeness sets no
// limit.
func (v *adminView) Reached() int {
	if v.Status.Unbound > 0 || v.Status.Bound <= 0 {
		return -1
	}
	return int(1000 * min(1, v.Status.Rate/v.Status.Bound))
}

// Idle returns the number of queued URLs if none of them is due, and otherwise 0.
func (v *adminView) Idle() int {
	if v.Status.Bounded > 0 || v.Status.Unbound > 0 {
		return 0
	}
	return int(v.Status.Queued)
}

// Word returns the initial query of the forms if it is a single word, which may have synonyms.
func (v *adminView) Word() string {
	if strings.Contains(v.Query, " ") {
		return ""
	}
	return v.Query
}

// Since returns the running time of the crawl.
func (v *adminView) Since() time.Duration { return v.Status.At.Sub(v.Status.Began) }

// Left returns the remaining hold of a host, or 0.
func (v *adminView) Left(h vocab.HostStatus) time.Duration {
	return max(0, h.Until.Sub(v.Status.At))
}

// Size of the chart of pages per second, in SVG units.
const lineWidth, lineHeight = 600, 60

// Line returns the points of the chart of pages per second, oldest first.
func (v *adminView) Line() string {
	rates := v.Status.Rates
	most := v.Peak()
	var b strings.Builder
	for i, r := range rates {
		x := lineWidth - lineWidth*float64(len(rates)-1-i)/(vocab.RateSeconds-1)
		fmt.Fprintf(&b, "%.1f,%.1f ", x, lineHeight-1-(lineHeight-2)*r/most)
	}
	return strings.TrimSpace(b.String())
}

// Peak returns the largest number of pages per second, at least 1.
func (v *adminView) Peak() float64 {
	if len(v.Status.Rates) == 0 {
		return 1
	}
	return max(1, slices.Max(v.Status.Rates))
}

// figures write the figures of the page in its language.
type figures struct{ *messages.Printer }

// span returns a delay or a response time, or "–".
func (m figures) span(d time.Duration) string {
	if d <= 0 {
		return "–"
	}
	return m.Decimal(text.Long(d))
}

// rate returns pages per second: 0.25, 3.4, 120.
func (m figures) rate(r float64) string {
	switch {
	case r == 0:
		return "0"
	case r < 1:
		return m.Decimal(fmt.Sprintf("%.2f", r))
	case r < 20:
		return m.Decimal(fmt.Sprintf("%.1f", r))
	}
	return m.Count(int(math.Round(r)))
}

// hits returns the hit rate of a cache in percent.
func (m figures) hits(hit, miss int64) string {
	if hit+miss == 0 {
		return "–"
	}
	return m.Percent(float64(hit) / float64(hit+miss))
}

// megabytes returns a number of bytes in MB or GB.
func (m figures) megabytes(n int64) string {
	switch mb := float64(n) / 1e6; {
	case mb < 10:
		return m.Decimal(fmt.Sprintf("%.1f MB", mb))
	case mb < 10_000:
		return m.Count(int(mb)) + " MB"
	default:
		return m.Count(int(mb/1000)) + " GB"
	}
}

// clock returns a time to the second.
func (m figures) clock(t time.Time) template.HTML {
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `">` + m.Second(t) + "</time>")
}

// phase describes a phase at the end of a crawl.
func (m figures) phase(reported func(string) template.HTML) func(p vocab.Phase) template.HTML {
	return func(p vocab.Phase) template.HTML {
		all := m.HTML("step %d of %d: %s", p.Step, p.Steps, reported(p.Name))
		if p.Share >= 0 {
			all += template.HTML(", " + m.WholePercent(p.Share))
		}
		if left, ok := p.Left(); ok {
			all += ", " + m.HTML("%s left", m.span(left))
		}
		return all
	}
}

// said returns a line about the result of an action: a sentence, or a URL and its state.
func said(reported func(string) template.HTML) func(line string) template.HTML {
	return func(line string) template.HTML {
		address, state, ok := strings.Cut(line, ": ")
		if ok && strings.Contains(address, "://") {
			return template.HTML(template.HTMLEscapeString(address)) + ": " + reported(state)
		}
		return reported(line)
	}
}

// Functions are those that the template of the admin page calls.
func Functions(_ *frame.Frame, m *messages.Printer) template.FuncMap {
	f := figures{m}
	reported := func(english string) template.HTML { return reported.HTML(m, english) }
	return template.FuncMap{
		"count64": func(n any) string { return m.Count(int(reflect.ValueOf(n).Int())) },
		"sum":     func(a, b int64) int64 { return a + b },
		"rate":    f.rate, "hits": f.hits, "megabytes": f.megabytes, "span": f.span, "clock": f.clock,
		"took": m.Duration, "decimal": m.Decimal, "phase": f.phase(reported), "said": said(reported),
	}
}
