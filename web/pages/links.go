package pages

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/collection"
	"anatomy/vocab"
	"anatomy/web/internal/address"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/text"
)

// A linksView is the page with the links of a document. It shows one page of those in-links and
// out-links that pass the filter, of the first reader.MaxLinks.
type linksView struct {
	*collection.LinkReport
	Title   string // or URL
	Link    string // "" if it must not become a link
	Info    string // address of the page information
	Crumbs  []string
	Rank    string
	Brought string // the part of Rank from links
	Num     int    // links of a page, or 0 for the default
	Match   string // text of the filter, or ""
	Site    string // host of the filter, or ""
	All     string // address without a filter
	Sites   []linkSite
	In      linkPart[inView]
	Out     linkPart[outView]
	JSON    string
	HasRank bool
	Most    int // reader.MaxLinks if there are more in-links or out-links, else 0
}

// A linkPart is one page of a list of links.
type linkPart[V any] struct {
	Links      []V
	Found      int // that pass the filter
	From, To   int // numbers of the first and the last of Links
	Prev, Next string
}

type inView struct {
	Href   string // of its links page
	Title  string
	Crumbs []string
	Texts  string
	Share  string // share of the document's rank
	Bar    int    // 0 to 1000: share of the largest
	Away   bool
}

type outView struct {
	*collection.OutLink
	Href   string // of its links page
	Title  string
	Crumbs []string
}

// A linkSite sums up the in-links from one host.
type linkSite struct {
	Host  string
	Href  string // of the in-links of the host
	Pages int
	Texts string // the commonest anchor texts
}

// Limits of a filter of links, in bytes.
const (
	maxMatch = 200
	maxSite  = 300 // a host of 253 with a port
)

// linksPage shows the links to and from a document.
func (s *documentPages) linksPage(c *gin.Context) error {
	p := params.Read(c)
	match, site := p.Text("match", maxMatch), p.Text("site", maxSite)
	in, out := p.Number("in", 0, 0, reader.MaxLinks), p.Number("out", 0, 0, reader.MaxLinks)
	shown := linksShown{match, site, reader.LinksNumber(p), in, out}
	r, err := s.reader.LinksAsked(c.Request.Context(), p, reader.MaxLinks, shown.titled())
	if err != nil {
		return err
	}
	v := s.View(c, "Links", "")
	v.Body = newLinksView(v.Messages, r, &shown)
	return s.Render(c, http.StatusOK, "links", v)
}

// linksShown says which links are shown: those with a text, the in-links from a host, num at a time
// from an in-link and an out-link on.
type linksShown struct {
	match, site  string
	num, in, out int
}

// titled returns the documents whose titles the page needs: nil for all, as a filter reads them.
func (f *linksShown) titled() func(*collection.LinkReport) []vocab.DocID {
	if f.match != "" {
		return nil
	}
	return func(r *collection.LinkReport) []vocab.DocID {
		in := inLinks(r, f, func(in *collection.InLink) vocab.DocID { return in.Doc })
		out := outLinks(r, f, func(out *collection.OutLink) vocab.DocID { return out.Doc })
		return append(in.Links, out.Links...)
	}
}

func newLinksView(m *messages.Printer, r *collection.LinkReport, shown *linksShown) *linksView {
	v := &linksView{
		LinkReport: r, Title: linkTitle(r.Title, r.URL), Link: text.Linkable(r.URL), Info: address.TraceHref(r.URL), Crumbs: text.Breadcrumb(r.URL), HasRank: r.Rank > 0,
		Match: shown.match, Site: shown.site, All: address.LinksHref(r.URL), Sites: linkSites(m, r),
		JSON: "/api/v1/links?" + url.Values{"url": {r.URL}}.Encode(),
	}
	if v.HasRank {
		v.Rank, v.Brought = share(m, r.Rank), m.Percent(r.FromLinks/r.Rank)
	}
	if r.InCount > len(r.In) || r.OutCount > len(r.Out) {
		v.Most = reader.MaxLinks
	}
	if shown.num != reader.DefaultLinks {
		v.Num = shown.num
	}
	newInView := func(in *collection.InLink) inView { return v.inView(m, in) }
	v.In, v.Out = inLinks(r, shown, newInView), outLinks(r, shown, newOutView)
	return v
}

// inLinks returns the in-links that are shown.
func inLinks[V any](r *collection.LinkReport, f *linksShown, view func(*collection.InLink) V) linkPart[V] {
	passes := f.filter()
	return newLinkPart(r.In, func(in *collection.InLink) bool {
		return (f.site == "" || text.HostOf(in.URL) == f.site) && passes(append([]string{in.URL, in.Title}, in.Texts...))
	}, view, f.num, f.in, func(from int) string { return f.href(r.URL, from, f.out) })
}

// outLinks returns the out-links that are shown.
func outLinks[V any](r *collection.LinkReport, f *linksShown, view func(*collection.OutLink) V) linkPart[V] {
	passes := f.filter()
	return newLinkPart(r.Out, func(out *collection.OutLink) bool { return passes([]string{out.URL, out.Title}) },
		view, f.num, f.out, func(from int) string { return f.href(r.URL, f.in, from) })
}

// newLinkPart returns one page of the links that pass a filter.
func newLinkPart[L, V any](
	links []L, passes func(*L) bool, view func(*L) V, num, from int, href func(from int) string,
) (part linkPart[V]) {
	for i := range links {
		if !passes(&links[i]) {
			continue
		}
		if part.Found >= from && len(part.Links) < num {
			part.Links = append(part.Links, view(&links[i]))
		}
		part.Found++
	}
	part.From, part.To = from+1, from+len(part.Links)
	if from > 0 {
		part.Prev = href(max(0, min(from, part.Found)-num)) // past the end: the last page
	}
	if part.To < part.Found && len(part.Links) > 0 {
		part.Next = href(part.To)
	}
	return part
}

// filter returns a function that reports whether one of some texts has that of the filter.
func (f *linksShown) filter() func(texts []string) bool {
	wanted := strings.ToLower(f.match)
	return func(texts []string) bool {
		return wanted == "" || slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), wanted) })
	}
}

// href returns the address of the page with other places in the lists.
func (f *linksShown) href(of string, in, out int) string {
	v := url.Values{"url": {of}}
	for name, value := range map[string]string{"match": f.match, "site": f.site} {
		if value != "" {
			v.Set(name, value)
		}
	}
	for name, n := range map[string]int{"in": in, "out": out} {
		if n > 0 {
			v.Set(name, fmt.Sprint(n))
		}
	}
	if f.num != reader.DefaultLinks {
		v.Set("num", fmt.Sprint(f.num))
	}
	return "/links?" + v.Encode()
}

func (v *linksView) inView(m *messages.Printer, in *collection.InLink) inView {
	one := inView{
		Href: address.LinksHref(in.URL), Title: linkTitle(in.Title, in.URL), Crumbs: text.Breadcrumb(in.URL),
		Texts: quotations(m, in.Texts), Away: in.OffSite,
	}
	if v.HasRank {
		most := max(v.LinkReport.In[0].Share, 1e-300)
		one.Share, one.Bar = m.Percent(in.Share/v.LinkReport.Rank), int(1000*in.Share/most)
	}
	return one
}

func newOutView(out *collection.OutLink) outView {
	return outView{out, address.LinksHref(out.URL), linkTitle(out.Title, out.URL), text.Breadcrumb(out.URL)}
}

// quotations returns anchor texts in quotes.
func quotations(m *messages.Printer, texts []string) string {
	return text.Quotations(texts, m.Text("“%s”"))
}

// share returns a share in percent, with two significant digits or one decimal, whichever are more.
func share(m *messages.Printer, v float64) string {
	if v >= 0.01 || v == 0 {
		return m.Percent(v)
	}
	decimals := 1 - int(math.Floor(math.Log10(100*max(v, 1e-12))))
	return m.Decimal(strconv.FormatFloat(100*v, 'f', decimals, 64)) + "\u00a0%"
}

// linkTitle returns the title of a page, or its URL.
func linkTitle(title, url string) string {
	return text.Shorten(text.Visible(cmp.Or(strings.TrimSpace(title), url)), text.MaxTitle)
}

// shownSites is the number of hosts that in-links are summed up by.
const shownSites = 10

// linkSites sums up in-links by host, those with most pages first.
func linkSites(m *messages.Printer, r *collection.LinkReport) (all []linkSite) {
	type sum struct {
		pages int
		texts map[string]int
	}
	sums := map[string]*sum{}
	for i := range r.In {
		in := &r.In[i]
		host := text.HostOf(in.URL)
		if sums[host] == nil {
			sums[host] = &sum{texts: map[string]int{}}
		}
		sums[host].pages++
		for _, t := range in.Texts {
			sums[host].texts[t]++
		}
	}
	for host, s := range sums {
		shown := linksShown{site: host, num: reader.DefaultLinks}
		all = append(all, linkSite{host, shown.href(r.URL, 0, 0), s.pages, quotations(m, vocab.KeysByCount(s.texts))})
	}
	slices.SortFunc(all, func(a, b linkSite) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Host, b.Host))
	})
	all = all[:min(len(all), shownSites)]
	for i := range all {
		all[i].Host = text.Shorten(text.Visible(all[i].Host), 64)
	}
	return all
}
