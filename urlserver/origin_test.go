package urlserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// A simulation is a crawl of one host in virtual time, by a crawler that keeps the delay.
type simulation struct {
	*bench
	closed  string // scheme of the origin where nobody listens, "" for neither
	links   func(n int) []string
	refused int            // connections that were tried there
	fetched map[string]int // by path
}

// visit works off a lease as the crawler does: of an origin whose robots.txt cannot be read, the
// first URL fails and the others are skipped.
func (s *simulation) visit(l vocab.Lease) {
	failed := false
	for _, target := range l.URLs {
		scheme, rest, _ := strings.Cut(target.URL, "://")
		_, path, _ := strings.Cut(rest, "/")
		switch {
		case scheme == s.closed && failed:
			s.done(Result{Doc: target.Doc, Outcome: vocab.Skipped})
		case scheme == s.closed:
			failed = true
			s.refused++
			s.pass(time.Millisecond)
			s.done(Result{Doc: target.Doc, Outcome: vocab.Failed, Reason: "connection refused"})
		default:
			s.pass(l.Delay + 50*time.Millisecond)
			s.fetched[path]++
			var n int
			fmt.Sscan(path, &n)
			s.link(s.links(n)...)
			s.done(Result{Doc: target.Doc, Outcome: vocab.Fetched, Status: 200, Address: 1})
		}
	}
	s.release(l, vocab.HostReport{AnswerTime: 50 * time.Millisecond})
}

// run crawls until the end, and returns how long that takes.
func (s *simulation) run(seed string) time.Duration {
	s.t.Helper()
	s.fetched = map[string]int{}
	s.seed(seed)
	begun := s.now
	for {
		l, wait, ok := s.s.Grant(s.now)
		switch {
		case ok:
			s.visit(l)
		case wait == 0:
			s.check()
			return s.now.Sub(begun)
		}
		s.pass(wait)
	}
}

const simulated = 300 // pages

// tree links page n to two others, the first of every tenth with the other scheme.
func tree(scheme, other string) func(n int) []string {
	return func(n int) (urls []string) {
		for k, to := range []int{2*n + 1, 2*n + 2} {
			from := scheme
			if n%10 == 0 && k == 0 {
				from = other
			}
			if to < simulated {
				urls = append(urls, fmt.Sprintf("%s://a.test/%d", from, to))
			}
		}
		return urls
	}
}

// TestDeadOrigin: links to the origin of a host where nobody listens cost one try. All pages are
// fetched at the other origin, in the time that a crawl without these links takes.
func TestDeadOrigin(t *testing.T) {
	for _, c := range []struct{ open, closed string }{{"http", "https"}, {"https", "http"}} {
		s := &simulation{bench: newBench(t, Options{}), links: tree(c.open, c.open)}
		floor := s.run(c.open + "://a.test/0")
		s = &simulation{bench: newBench(t, Options{}), closed: c.closed, links: tree(c.open, c.closed)}
		took := s.run(c.open + "://a.test/0")
		t.Logf("%s alone: %v; with links to closed %s: %v, %d tries", c.open, floor, c.closed, took, s.refused)
		if len(s.fetched) != simulated || took > floor+3*time.Second || s.refused != 1 {
			t.Errorf("%s closed: %d of %d pages in %v, %v without; %d tries",
				c.closed, len(s.fetched), simulated, took, floor, s.refused)
		}
	}
}

// TestDeadOriginIsTriedAgain: a crawl that never ends tries a dead origin again after a day.
func TestDeadOriginIsTriedAgain(t *testing.T) {
	b := newBench(t, watching(30*day, 30*day))
	b.seed("http://a.test/0")
	page := Result{Outcome: vocab.Fetched, Status: 200, Address: 1}
	b.visit("http://a.test/0", page)
	b.link("https://a.test/1")
	b.visit("https://a.test/1", Result{Outcome: vocab.Failed, Reason: "connection refused"})
	b.visit("http://a.test/1", page)
	b.pass(23 * time.Hour)
	b.link("https://a.test/2")
	b.visit("http://a.test/2", page)
	b.pass(time.Hour)
	b.link("https://a.test/3", "http://a.test/4")
	b.take("https://a.test/3", "http://a.test/4")
	b.check()
}

// TestOriginOfPort: a port has one protocol, so its URLs are not fetched with the other scheme.
func TestOriginOfPort(t *testing.T) {
	b := newBench(t, Options{Delay: -1})
	b.seed("http://a.test:8080/1")
	b.visit("http://a.test:8080/1", Result{Outcome: vocab.Fetched, Status: 200, Address: 1})
	b.link("https://a.test:8080/2")
	b.visit("https://a.test:8080/2", Result{Outcome: vocab.Failed, Reason: "connection refused"})
	b.pass(time.Minute)
	b.take("https://a.test:8080/2")
}

// TestHeldPageKeepsItsOrigin: a page that is held is not fetched with the other scheme while its
// origin is down, since that may show something else.
func TestHeldPageKeepsItsOrigin(t *testing.T) {
	b := newBench(t, watching(day, day))
	held := b.seed("https://a.test/1")[0]
	page := Result{Outcome: vocab.Fetched, Status: 200, Address: 1, Content: vocab.ContentID{1}}
	b.visit("https://a.test/1", page)
	b.pass(day)
	page.Doc = b.seed("http://a.test/2")[0]
	l := b.take("http://a.test/2", "https://a.test/1")
	b.done(page, Result{Doc: held, Outcome: vocab.Failed, Reason: "connection refused"})
	b.release(l, vocab.HostReport{})
	b.pass(time.Minute)
	b.take("https://a.test/1")
	b.check()
}

// TestBothOriginsDead: a host that answers on neither origin is given up after three rounds, and so
// is one that redirects to the origin that gives no answer.
func TestBothOriginsDead(t *testing.T) {
	for _, redirects := range []bool{false, true} {
		b := newBench(t, Options{Delay: -1})
		b.seed("http://a.test/1")
		b.visit("http://a.test/1", Result{Outcome: vocab.Fetched, Status: 200, Address: 1})
		docs := b.link("https://a.test/2", "http://a.test/3")
		tries := 0
		for {
			l, wait, ok := b.s.Grant(b.now)
			if !ok && wait == 0 {
				break
			}
			for _, target := range l.URLs {
				tries++
				r := Result{Doc: target.Doc, Outcome: vocab.Failed, Reason: "connection refused"}
				if redirects && strings.HasPrefix(target.URL, "http:") {
					r = Result{Doc: target.Doc, Outcome: vocab.Redirected, Status: 301, Alias: target.Doc,
						Location: "https" + strings.TrimPrefix(target.URL, "http")}
				}
				b.done(r)
			}
			b.release(l, vocab.HostReport{HTTPS: redirects})
			b.pass(wait)
		}
		for _, doc := range docs {
			if r := b.record(doc, docindex.GivenUp); !strings.Contains(r.Fetch.Reason, "refused") {
				t.Errorf("redirects %v: %s", redirects, r.String())
			}
		}
		if tries > 12 {
			t.Errorf("redirects %v: %d tries", redirects, tries)
		}
		b.check()
	}
}
