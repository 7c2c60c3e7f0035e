package params

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/text"
)

// Limits of a request.
const (
	MaxQuery = 2048 // bytes of a query
	MaxURL   = 2048 // bytes of a URL in a parameter
)

// Params reads the parameters of a request and keeps the first error. It ignores unknown names. A
// name must not occur twice.
type Params struct {
	Values url.Values
	Err    error

	reads string // see [searcher.Request.Reads]
}

func Read(c *gin.Context) *Params {
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	p := &Params{Values: values, reads: text.Languages(c.GetHeader("Accept-Language"))}
	if err != nil {
		p.Fail("The query string of the URL is malformed.")
	}
	return p
}

func (p *Params) Fail(format string, args ...any) {
	if p.Err == nil {
		p.Err = respond.BadParameter(fmt.Sprintf(format, args...))
	}
}

// One returns the value of a parameter, or "".
func (p *Params) One(name string) string {
	all := p.Values[name]
	if len(all) > 1 {
		p.Fail("Parameter %s occurs %d times. It must not occur twice.", name, len(all))
	}
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// Text returns a parameter of at most limit bytes, cleaned by text.Clean.
func (p *Params) Text(name string, limit int) string {
	v := p.One(name)
	if len(v) > limit {
		p.Fail("Parameter %s has %d bytes; the limit is %d.", name, len(v), limit)
		return ""
	}
	return text.Clean(v)
}

// Number returns a whole number from lo to hi, or otherwise if the parameter is absent or empty.
func (p *Params) Number(name string, otherwise, lo, hi int) int {
	v := p.One(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < lo || n > hi {
		p.Fail("Parameter %s must be a whole number from %d to %d.", name, lo, hi)
		return otherwise
	}
	return n
}

// Flag returns true for 1 and true, and false for 0, false, the empty string and an absent
// parameter.
func (p *Params) Flag(name string) bool {
	switch p.One(name) {
	case "1", "true":
		return true
	case "", "0", "false":
		return false
	}
	p.Fail("Parameter %s must be true or false, 1 or 0.", name)
	return false
}

// Doc returns a docID, or 0 if the parameter is absent.
func (p *Params) Doc(name string) vocab.DocID {
	v := p.One(name)
	if v == "" {
		return 0
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil || n == 0 {
		p.Fail("Parameter %s must be a docID, 1 or more.", name)
	}
	return vocab.DocID(n)
}

// MaxRank limits the name of a rank vector, or near: with a URL, in bytes.
const MaxRank = len(searcher.NearPrefix) + MaxURL

// Anchors reads the parameter anchors: all, the default, others or none.
func (p *Params) Anchors() searcher.Anchors {
	used, err := searcher.ParseAnchors(p.One("anchors"))
	if err != nil {
		p.Fail("Parameter anchors %s.", err)
	}
	return used
}

// Count reads the parameter count: some, the default, none or all.
func (p *Params) Count() searcher.Count {
	count, err := searcher.ParseCount(p.One("count"))
	if err != nil {
		p.Fail("Parameter count %s.", err)
	}
	return count
}

// Facets reads the parameter facets: kinds of facets separated by commas, or all.
func (p *Params) Facets() string {
	kinds, err := searcher.ParseFacets(p.One("facets"))
	if err != nil {
		p.Fail("Parameter facets %s.", err)
	}
	return kinds
}

// Request reads q, sort, start, num, explain, verbatim, rank, anchors, filter and similar, and the field
// Accept-Language.
func (p *Params) Request() searcher.Request {
	return searcher.Request{
		Query:    p.sorted(p.Text("q", MaxQuery)),
		Offset:   p.Number("start", 0, 0, searcher.MaxOffset),
		Limit:    p.Number("num", searcher.DefaultLimit, 1, searcher.MaxLimit),
		Explain:  p.Flag("explain"),
		Verbatim: p.Flag("verbatim"),
		Rank:     p.Text("rank", MaxRank),
		Anchors:  p.Anchors(),
		Reads:    p.reads,

		Ungrouped: p.Filter(),
		Similar:   p.Doc("similar"),
	}
}

// Required fails if a required parameter is absent or blank.
func (p *Params) Required(name, value string) {
	if value == "" {
		p.Fail("Parameter %s is missing.", name)
	}
}

// ApplyType applies the parameter type to a request and reports whether that is for images, see the
// function [ApplyType].
func (p *Params) ApplyType(r *searcher.Request) bool {
	images, ok := ApplyType(r, p.One("type"))
	if !ok {
		p.Fail("Parameter type must be page, image or service.")
	}
	if images && p.One("num") == "" {
		r.Limit = ImagesLimit
	}
	return images
}

// ImagesLimit is the default number of images per page.
const ImagesLimit = 30

// ServiceFilter restricts a query to definitions of web services.
const ServiceFilter = "type:service"

// ApplyType reports whether a request is for images: if its query has type:image, which ApplyType
// removes, or by the type given as kind. The type service becomes a filter of the query. ok is false for
// an unknown type.
func ApplyType(r *searcher.Request, kind string) (images, ok bool) {
	r.Query, images = searcher.ForImages(r.Query)
	switch kind {
	case "", "all", "page":
		return images, true
	case "image", "images":
		return true, true
	case "service", "services":
		if r.Query != "" {
			r.Query = Narrow([]string{ServiceFilter}, r.Query)
		}
		return images, true
	}
	return false, false
}

// Filter reads the parameter filter, which is true by default: false turns collapsing off.
func (p *Params) Filter() (ungrouped bool) { return p.One("filter") != "" && !p.Flag("filter") }

// TimeRange reads SearXNG's parameter time_range.
func (p *Params) TimeRange(now time.Time) []string {
	switch p.One("time_range") {
	case "":
		return nil
	case "day":
		return Since(now, 0, 0, 1)
	case "week":
		return Since(now, 0, 0, 7)
	case "month":
		return Since(now, 0, 1, 0)
	case "year":
		return Since(now, 1, 0, 0)
	}
	p.Fail("Parameter time_range must be day, week, month or year.")
	return nil
}

// sorted returns a query in the order of the parameter sort.
func (p *Params) sorted(query string) string {
	if order := p.Order(); query != "" {
		return Narrow(order, query)
	}
	return query
}

// Order reads the parameter sort: relevance, the default, or date.
func (p *Params) Order() []string {
	switch p.One("sort") {
	case "", "relevance":
		return nil
	case "date":
		return []string{"sort:date"}
	}
	p.Fail("Parameter sort must be date or relevance.")
	return nil
}

// Day returns a day with a four-digit year, or the zero time if the parameter is absent.
func (p *Params) Day(name string) (day time.Time) {
	v := p.One(name)
	if v == "" {
		return day
	}
	day, err := time.Parse(time.DateOnly, v)
	if err != nil || day.Year() < 1970 || day.Year() > 9998 {
		p.Fail("Parameter %s must be a day: 2024-05-31.", name)
	}
	return day
}
