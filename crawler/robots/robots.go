// Package robots reads robots.txt files and answers what a crawler may fetch (RFC 9309).
//
// It takes the whole standard: groups of the same agent are merged, the most specific rule wins,
// Allow wins a tie, '*' and '$' are special, percent-encoding is compared in one form. Where the
// standard leaves freedom it reads as Google's published parser does, so that what site owners
// tested elsewhere holds here. Where the two differ (an escaped unreserved character, RFC 9309
// §2.2.2 against the parser's tests) the stricter reading counts: see [Rules.Allowed].
package robots

import (
	"slices"
	"strings"
	"time"
)

// MaxBytes is how much of a file is read; the rest is ignored (RFC 9309 §2.5: at least 500 KiB).
const MaxBytes = 500 << 10

// MaxCrawlDelay is the largest Crawl-delay that is believed.
const MaxCrawlDelay = 24 * time.Hour

// maxSitemaps bounds the sitemaps that one file can name.
const maxSitemaps = 1000

// Rules are what one robots.txt says to one crawler. The zero value allows everything. They do
// not change once parsed, so any number of goroutines may ask them.
type Rules struct {
	CrawlDelay time.Duration // of the group that counts; 0 where there is none
	Sitemaps   []string      // as written, in the order of the file, whatever the group

	rules []rule // the most specific first, Allow before Disallow of the same length
}

// A rule is one Allow or Disallow line.
type rule struct {
	pattern string // with '*'; without a last '$'
	end     bool   // the pattern ended in '$'
	allow   bool
	length  int // octets of the pattern in its normal form: how specific it is (RFC 9309 §2.2.2)
}

// AllowAll is what a missing robots.txt says (RFC 9309 §2.3.1.3).
func AllowAll() *Rules { return &Rules{} }

// Parse reads a robots.txt on behalf of the crawler with that product token ("anatomy"). Any
// bytes are a robots.txt: lines that make no sense are passed over.
func Parse(body []byte, product string) *Rules {
	if len(body) > MaxBytes {
		body = body[:MaxBytes]
	}
	p := parser{product: product}
	p.read(decoded(body))
	group := &p.everyone
	if p.named { // a group of our own, even an empty one, replaces that of everyone (§2.2.1)
		group = &p.own
	}
	slices.SortStableFunc(group.rules, moreSpecific)
	return &Rules{CrawlDelay: group.delay, Sitemaps: p.sitemaps, rules: group.rules}
}

func moreSpecific(a, b rule) int {
	switch {
	case a.length != b.length:
		return b.length - a.length
	case a.allow == b.allow:
		return 0
	case a.allow:
		return -1
	}
	return 1
}

// Allowed says whether the crawler may fetch a path with its query, "/a/b?c=d", as it stands in
// the canonical URL. The empty path is "/".
//
// A Disallow is compared after both sides were brought to one form, with unreserved characters
// unescaped and others escaped (§2.2.2); an Allow is compared as written, so that it never opens
// more than its letters say, but for the marks '-', '.', '_' and '~'. /robots.txt itself is
// fetched without asking (§2.2.2).
func (r *Rules) Allowed(path string) bool {
	if len(r.rules) == 0 {
		return true
	}
	if path == "" || path[0] == '?' {
		path = "/" + path
	}
	normal := normalise(path)
	for i := range r.rules {
		rule := &r.rules[i]
		subject := normal
		if rule.allow {
			subject = path
		}
		if match(rule.pattern, subject, rule.end) {
			return rule.allow
		}
	}
	return true
}

// Size estimates the memory that the rules take, in bytes.
func (r *Rules) Size() int {
	const header, perRule = 128, 48
	n := header
	for i := range r.rules {
		n += perRule + len(r.rules[i].pattern)
	}
	for _, s := range r.Sitemaps {
		n += len(s) + 16
	}
	return n
}

// match says whether a pattern matches from the start of path: a prefix of it, or all of it where
// end is set. Every piece between stars is taken at its first place, which is as good as any
// other, so that the work is the sum of both lengths and never their product.
func match(pattern, path string, end bool) bool {
	piece, rest, star := strings.Cut(pattern, "*")
	if !strings.HasPrefix(path, piece) {
		return false
	}
	path = path[len(piece):]
	for star {
		piece, rest, star = strings.Cut(rest, "*")
		if !star && end { // the last piece, tied to the end
			return strings.HasSuffix(path, piece)
		}
		at := strings.Index(path, piece)
		if at < 0 {
			return false
		}
		path = path[at+len(piece):]
	}
	return !end || path == ""
}
