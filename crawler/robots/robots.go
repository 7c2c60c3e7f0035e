// Package robots reads robots.txt files and decides what a crawler may fetch (RFC 9309).
//
// It implements the whole standard: groups of the same agent are merged, the most specific rule
// wins, Allow wins a tie, '*' and '$' are special, percent-encoding is normalized. Where the
// standard leaves a choice, it does what Google's published parser does, so that what site owners
// tested elsewhere applies here. Where the two differ (an escaped unreserved character, RFC 9309
// §2.2.2 against the parser's tests) the stricter reading counts: see [Rules.Allowed].
package robots

import (
	"strings"
	"time"
)

// Rules are the rules of one robots.txt for one crawler. The zero value allows everything. They do
// not change once parsed, so any number of goroutines may use them.
type Rules struct {
	CrawlDelay time.Duration // of the group that applies; 0 for none
	Sitemaps   []string      // as written, in the order of the file, of all groups

	rules []rule // the most specific first, Allow before Disallow of the same length
}

// A rule is one Allow or Disallow line.
type rule struct {
	pattern string // with '*'; without a last '$'
	end     bool   // the pattern ended in '$'
	allow   bool
	length  int // octets of the pattern in its normal form: how specific it is (RFC 9309 §2.2.2)
}

// AllowAll returns the rules of a missing robots.txt (RFC 9309 §2.3.1.3).
func AllowAll() *Rules { return &Rules{} }

// Allowed reports whether the crawler may fetch a path with its query, "/a/b?c=d", as in the
// canonical URL. The empty path is "/".
//
// A Disallow is compared after both sides were normalized: unreserved characters unescaped, others
// escaped (§2.2.2). An Allow is compared as written, except for the marks '-', '.', '_' and '~', so
// that it never allows more than it states. /robots.txt itself is always allowed (§2.2.2), which
// the caller ensures.
func (r *Rules) Allowed(path string) bool {
	if len(r.rules) == 0 {
		return true
	}
	if path == "" || path[0] == '?' {
		path = "/" + path
	}
	normal := normalize(path)
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

// match reports whether a pattern matches a prefix of path, or all of it if end is set. Every piece
// between stars is matched at its first occurrence, which is sufficient, so the time is linear in
// both lengths.
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
