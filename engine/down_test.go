package engine_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/urlserver"
)

// A calendar sets the time of crawls: each is some days after the first.
type calendar struct{ after time.Duration }

func (c *calendar) now() time.Time { return time.Now().Add(c.after) }

// daily returns o for a crawl that visits every page a day or more after its last visit, with the
// rules that crawls have by default.
func (c *calendar) daily(o engine.Options) engine.Options {
	o.Now = c.now
	o.URLs.Recrawl = urlserver.Recrawl{Mode: urlserver.RecrawlDue, MaxAge: 24 * time.Hour}
	return o
}

// TestSiteDown: days on which a site cannot be reached, in whatever way, take no page from the
// index, and neither do pages missing on one day. Once it is back, all is as before.
func TestSiteDown(t *testing.T) {
	const host = "two.test"
	for _, c := range []struct {
		name string
		down bool // the host is given up, and trace says so
		days int
		set  func(w *movingWeb, is bool)
	}{
		{"no such name", true, 5, func(w *movingWeb, is bool) { w.locked(func() { w.Hosts[host] = !is }) }},
		{"connection refused", true, 5, func(w *movingWeb, is bool) { w.locked(func() { w.Refused[host] = is }) }},
		{"no answer in time", true, 4, func(w *movingWeb, is bool) { w.answering(host, is, true, silent) }},
		{"connection lost", true, 4, func(w *movingWeb, is bool) { w.answering(host, is, true, lost) }},
		{"500", true, 4, func(w *movingWeb, is bool) { w.answering(host, is, true, status(500)) }},
		{"503", true, 4, func(w *movingWeb, is bool) { w.answering(host, is, true, status(503)) }},
		{"robots.txt 500", true, 4, func(w *movingWeb, is bool) { w.answeringRobots(host, is, status(500)) }},
		{"robots.txt lost", true, 4, func(w *movingWeb, is bool) { w.answeringRobots(host, is, lost) }},
		{"404 on one day", false, 1, func(w *movingWeb, is bool) { w.answering(host, is, false, status(404)) }},
		{"410 on one day", false, 1, func(w *movingWeb, is bool) { w.answering(host, is, false, status(410)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, days := newMovingWeb(t, 1, 12), &calendar{}
			o := w.folder("data")
			o.Crawler.HeaderTimeout = 300 * time.Millisecond
			testweb.Crawl(t, days.daily(o))
			want, fates := testweb.Searchable(t, o.Dir), testweb.Fates(t, o.Dir)
			same := func(when string) {
				t.Helper()
				testweb.SameLists(t, when, testweb.Searchable(t, o.Dir), want)
				testweb.SameMaps(t, when, testweb.Fates(t, o.Dir), fates)
				testweb.Checked(t, o.Dir)
			}
			c.set(w, true)
			for range c.days {
				days.after += 25 * time.Hour
				testweb.Crawl(t, days.daily(o))
				same("down")
			}
			days.after += time.Hour // the same day says no more
			testweb.Crawl(t, days.daily(o))
			same("down for an hour more")
			const kept = "is down since"
			page := "http://" + w.onHost(host)
			if trace := testweb.TraceOf(t, o.Dir, page); strings.Contains(trace, kept) != c.down {
				t.Errorf("trace of %s:\n%s", page, trace)
			}
			c.set(w, false)
			days.after += 25 * time.Hour
			if st := testweb.Crawl(t, days.daily(o)).Revisits; st.Visited < 12 || st.Changed+st.Left > 0 {
				t.Errorf("back again: %+v", st)
			}
			same("back again")
			if trace := testweb.TraceOf(t, o.Dir, page); strings.Contains(trace, kept) {
				t.Errorf("trace of %s:\n%s", page, trace)
			}
		})
	}
}

// TestGoneOverDays is the counterpart of TestSiteDown: pages that are missing on two days leave the
// index.
func TestGoneOverDays(t *testing.T) {
	for _, code := range []int{http.StatusNotFound, http.StatusGone} {
		w, days := newMovingWeb(t, 1, 12), &calendar{}
		o := w.folder("data")
		testweb.Crawl(t, days.daily(o))
		w.answering("two.test", true, false, status(code))
		for range 2 {
			days.after += 25 * time.Hour
			testweb.Crawl(t, days.daily(o))
		}
		for url, fate := range testweb.Fates(t, o.Dir) {
			if strings.HasPrefix(url, "http://two.test/") != (fate == "gone") {
				t.Errorf("%d: %s is %s", code, url, fate)
			}
		}
		testweb.Checked(t, o.Dir)
	}
}

func status(code int) http.HandlerFunc {
	return func(to http.ResponseWriter, _ *http.Request) { to.WriteHeader(code) }
}

func lost(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func silent(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() }

func (w *movingWeb) locked(do func()) {
	w.Web.Mu.Lock()
	defer w.Web.Mu.Unlock()
	do()
}

// onHost returns the key of a page of a host.
func (w *movingWeb) onHost(host string) string {
	for _, key := range w.keys {
		if strings.HasPrefix(key, host) {
			return key
		}
	}
	panic(host)
}

// answering has all pages of a host, and robots.txt if so, answer by a handler, or as they do.
func (w *movingWeb) answering(host string, is, robots bool, answer http.HandlerFunc) {
	if robots {
		w.answeringRobots(host, is, answer)
	}
	for _, key := range w.keys {
		switch {
		case !strings.HasPrefix(key, host+"/"):
		case is:
			w.Handle(key, answer)
		default:
			w.Handle(key, func(to http.ResponseWriter, q *http.Request) { w.answer(key, to, q) })
		}
	}
}

func (w *movingWeb) answeringRobots(host string, is bool, answer http.HandlerFunc) {
	if !is {
		answer = status(http.StatusOK)
	}
	w.Handle(host+"/robots.txt", answer)
}
