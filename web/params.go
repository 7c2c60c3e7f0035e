package web

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/vocab"
)

// params reads the query string of a request and keeps the first thing that is wrong with it.
// Names that nobody asks for are passed over; a name that is asked for may stand once.
type params struct {
	values url.Values
	err    error
}

func readParams(c *gin.Context) *params {
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	p := &params{values: values}
	if err != nil {
		p.fail("The query string of the address is malformed.")
	}
	return p
}

func (p *params) fail(format string, args ...any) {
	if p.err == nil {
		p.err = badParameter(fmt.Sprintf(format, args...))
	}
}

// one is the single value of a parameter, "" where it is absent.
func (p *params) one(name string) string {
	all := p.values[name]
	if len(all) > 1 {
		p.fail("Parameter %s is given %d times; it may stand once.", name, len(all))
	}
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// text is a parameter of at most limit bytes, cleaned by cleanText.
func (p *params) text(name string, limit int) string {
	v := p.one(name)
	if len(v) > limit {
		p.fail("Parameter %s has %d bytes; the limit is %d.", name, len(v), limit)
		return ""
	}
	return cleanText(v)
}

// cleanText is a text with control characters and bad UTF-8 replaced by blanks and the ends
// trimmed.
func cleanText(v string) string {
	clean := func(r rune) rune {
		if r == unicode.ReplacementChar || unicode.IsControl(r) {
			return ' '
		}
		return r
	}
	return strings.TrimSpace(strings.Map(clean, v))
}

// number is a whole number of lo to hi, or otherwise where the parameter is absent or empty.
func (p *params) number(name string, otherwise, lo, hi int) int {
	v := p.one(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < lo || n > hi {
		p.fail("Parameter %s must be a whole number from %d to %d.", name, lo, hi)
		return otherwise
	}
	return n
}

// flag is true for 1 and true, false for 0, false, the empty string and nothing.
func (p *params) flag(name string) bool {
	switch p.one(name) {
	case "1", "true":
		return true
	case "", "0", "false":
		return false
	}
	p.fail("Parameter %s must be 0 or 1.", name)
	return false
}

// doc is a document's number, 0 where the parameter is absent.
func (p *params) doc(name string) vocab.DocID {
	v := p.one(name)
	if v == "" {
		return 0
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil || n == 0 {
		p.fail("Parameter %s must be the number of a document, 1 or more.", name)
	}
	return vocab.DocID(n)
}

// maxRankParameter bounds the name of a rank vector, in bytes.
const maxRankParameter = 64

// request is what q, sort, start, num, explain, verbatim, rank, filter and similar ask for.
func (p *params) request() searcher.Request {
	return searcher.Request{
		Query:    p.sorted(p.text("q", MaxQuery)),
		Offset:   p.number("start", 0, 0, searcher.MaxOffset),
		Limit:    p.number("num", searcher.DefaultLimit, 1, searcher.MaxLimit),
		Explain:  p.flag("explain"),
		Verbatim: p.flag("verbatim"),
		Rank:     p.text("rank", maxRankParameter),

		Ungrouped: p.filter(),
		Similar:   p.doc("similar"),
	}
}

// required fails where a parameter that must be there is absent or blank.
func (p *params) required(name, value string) {
	if value == "" {
		p.fail("Parameter %s is missing.", name)
	}
}
