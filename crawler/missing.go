package crawler

import (
	"context"
	"net/http"
	"sync"
	"time"

	"anatomy/crawler/internal/notfound"
	"anatomy/lru"
	"anatomy/vocab"
	"anatomy/weburl"
)

// missingReason is the reason why a page with status 200 counts as not found.
const missingReason = "the page is the error page that the host also shows for a made-up URL"

// A missingPages caches how hosts answer a URL that does not exist. A host is sent such a request only
// if one of its pages looks like an error page, and again after missingKept. The cache has the
// maxMissing most recently used hosts.
type missingPages struct {
	mu    sync.Mutex
	hosts *lru.Cache[string, *missingPage] // guarded by mu
}

const (
	maxMissing   = 5000               // of at most 4 KB each
	missingKept  = 7 * 24 * time.Hour // how long an answer is kept
	missingRetry = time.Hour          // the wait after a failure of the host
)

// A missingPage is how a host answers a URL that does not exist. Its fields are immutable after
// known is closed.
type missingPage struct {
	known    chan struct{}
	url      string        // the made-up one
	text     notfound.Text // empty if the host answers with a not-found status
	location string        // or the target of its redirect
	expires  time.Time     // from then on the host is sent another request
}

func (m *missingPage) hasExpired(now time.Time) bool {
	select {
	case <-m.known:
		return !now.Before(m.expires)
	default:
		return false
	}
}

func newMissingPages() *missingPages {
	return &missingPages{hosts: lru.New(maxMissing, func(string, *missingPage) int { return 1 })}
}

// get returns the entry of a host. The caller closes known if the entry is new.
func (p *missingPages) get(host string, now time.Time) (m *missingPage, isNew bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, ok := p.hosts.Get(host); ok && !m.hasExpired(now) {
		return m, false
	}
	m = &missingPage{known: make(chan struct{})}
	p.hosts.Put(host, m)
	return m, true
}

// checkMissing makes a fetched page NotFound if it looks like an error page, and the host shows the
// same for a made-up URL. Home pages, and pages that require signing in, are exempt.
func (v *visit) checkMissing(ctx context.Context, u *weburl.URL, f *vocab.Fetch) {
	if f.Outcome != vocab.Fetched || f.Page == nil || f.SignedIn || u.PathAndQuery() == "/" ||
		vocab.MediumOf(f.Page.ContentType) != vocab.HTML || !notfound.HasMessage(f.Page.Body) {
		return
	}
	m, isNew := v.missing.get(u.Host(), v.o.Now())
	if isNew {
		kept := v.learnMissing(ctx, u, m)
		m.expires = v.o.Now().Add(kept)
		close(m.known)
	}
	select {
	case <-m.known:
	case <-ctx.Done():
		return
	}
	if m.location == f.URL || notfound.TextOf(f.Page.Body).IsLike(m.text, f.URL, m.url) {
		f.Page, f.Validators = nil, vocab.Validators{}
		setOutcome(f, vocab.NotFound, missingReason)
	}
}

// learnMissing requests a URL from a host that does not exist. It returns for how long the answer is
// kept: 0 if the visit ended first.
func (v *visit) learnMissing(ctx context.Context, u *weburl.URL, m *missingPage) time.Duration {
	madeUp, err := weburl.Parse(u.Origin() + notfound.MadeUp(u.Host(), u.Path()))
	if err != nil {
		return missingKept
	}
	m.url = madeUp.String()
	switch o := v.origins.get(ctx, &madeUp, 0); {
	case o.rules == nil && ctx.Err() == nil:
		return missingRetry
	case o.rules != nil && !o.rules.Allowed(madeUp.PathAndQuery()):
		return missingKept
	case o.rules == nil || v.stop != "" || !v.wait(ctx):
		return 0
	}
	kept := missingKept
	status := v.requestOther(ctx, &madeUp, "a made-up URL", func(resp *http.Response, g *guard) {
		switch {
		case resp.StatusCode == http.StatusOK && vocab.MediumOf(resp.Header.Get("Content-Type")) == vocab.HTML:
			body, err := v.fetcher.client.readHead(resp, g, notfound.MaxRead)
			if err != nil {
				kept = afterFailure(ctx)
			} else if notfound.HasMessage(body) {
				m.text = notfound.TextOf(body)
			}
		case resp.StatusCode >= 500:
			kept = missingRetry
		default:
			if to, ok := redirectTarget(resp, &madeUp); ok {
				m.location = to.String()
			}
		}
	})
	switch {
	case status == 0:
		return afterFailure(ctx)
	case asksForPause(status):
		return missingRetry
	}
	return kept
}

// afterFailure returns for how long no answer is kept: 0 if the visit ended.
func afterFailure(ctx context.Context) time.Duration {
	if ctx.Err() != nil {
		return 0
	}
	return missingRetry
}
