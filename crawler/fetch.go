package crawler

import (
	"context"
	"fmt"
	"net/http"

	"anatomy/crawler/internal/reason"
	"anatomy/crawler/signin"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A fetcher fetches the targets of one visit.
type fetcher struct {
	*client
	*pacer
	allowed func(context.Context, *weburl.URL) bool // by robots.txt
	cookies cookies
	set     []*http.Cookie // by the last answer, if that was a redirect
}

// fetch requests one URL, signed in if its origin requires that. If the page shows that the session
// has ended, it is requested once more after another sign-in.
func (v *fetcher) fetch(ctx context.Context, u *weburl.URL, f *vocab.Fetch) {
	s := v.sessions[u.Origin()]
	if s == nil {
		v.request(ctx, u, f)
		if f.Outcome == vocab.Redirected && !v.cookies.refused {
			v.followForCookie(ctx, u, f)
		}
		return
	}
	for again := false; ; again = true {
		if !v.signIn(ctx, s, f) {
			return
		}
		v.request(ctx, u, f)
		if !s.NeedsSignIn(f.URL, f.Status, f.Location) {
			return
		}
		status := f.Status
		*f = vocab.Fetch{Target: f.Target}
		if again {
			f.Status = status
			setOutcome(f, vocab.Failed, "sign-in: the page is still not accessible")
			return
		}
		s.End()
	}
}

// signIn opens the session, keeping the delay. If that fails it sets the outcome and returns false.
func (v *fetcher) signIn(ctx context.Context, s *signin.Session, f *vocab.Fetch) bool {
	sent, err := s.Open(ctx)
	if sent {
		v.ended()
	}
	switch {
	case err == nil:
		return !sent || v.wait(ctx)
	case ctx.Err() != nil:
		setOutcome(f, vocab.Skipped, interrupted)
	case s.GivenUp():
		setOutcome(f, vocab.Refused, "sign-in: "+err.Error())
	default:
		setOutcome(f, vocab.Failed, "sign-in: "+err.Error())
	}
	return false
}

const interrupted = "interrupted"

func setOutcome(f *vocab.Fetch, outcome vocab.Outcome, reason string) {
	f.Outcome, f.Reason = outcome, reason
}

// request sends one request and records its outcome.
func (v *fetcher) request(ctx context.Context, u *weburl.URL, f *vocab.Fetch) {
	o := v.client.o
	v.activity.set("answer")
	f.SignedIn = o.Credentials.Covers(u.Origin())
	guarded, g := newGuard(ctx, o)
	defer g.stop()
	begun := o.Now()
	resp, err := v.client.send(guarded, u, f.Held, v.cookies.header(u))
	if err != nil {
		f.Outcome, f.Reason = verdict(guarded, u, err, o.MaxHeader)
		switch {
		case ctx.Err() != nil:
			setOutcome(f, vocab.Skipped, interrupted)
		case f.Outcome == vocab.Failed:
			v.failed(u.Origin(), f.Reason)
		default:
			v.ended()
		}
		return
	}
	defer resp.Body.Close()
	g.answered()
	v.judge(guarded, g, u, resp, f)
	if v.set = nil; f.Outcome == vocab.Redirected {
		v.set = resp.Cookies()
	}
	f.Duration = o.Now().Sub(begun)
	v.answered(u.Origin(), f.Duration, resp.Close)
	if ctx.Err() != nil && f.Outcome == vocab.Failed {
		setOutcome(f, vocab.Skipped, interrupted)
	}
}

// judge determines the meaning of a response from its status.
func (v *fetcher) judge(
	ctx context.Context, g *guard, u *weburl.URL, resp *http.Response, f *vocab.Fetch,
) {
	code, location := resp.StatusCode, resp.Header.Get("Location")
	f.Status = code
	switch {
	case code == http.StatusOK || code == http.StatusNonAuthoritativeInfo:
		if err := v.read(ctx, g, u, resp, f); err != nil {
			f.Outcome, f.Reason = verdict(ctx, u, err, v.client.o.MaxHeader)
			f.Page, f.SitemapEntries, f.Sitemaps = nil, nil, nil
		}
		return
	case code == http.StatusNotModified:
		unmodified(resp.Header, f)
	case code >= 300 && code < 400 && location != "":
		v.redirect(u, location, f)
	case isTemporary(code):
		setOutcome(f, vocab.Failed, reason.Status(code))
		f.RetryAfter = retryAfter(resp.Header, v.client.o.Now())
		if asksForPause(code) {
			v.slowDown(f.RetryAfter, f.Reason, f.Tries)
		}
	default:
		setOutcome(f, vocab.NotFound, reason.Status(code))
	}
	drain(resp.Body, g)
}

// isTemporary reports whether a later request may get another status.
func isTemporary(code int) bool {
	return code >= 500 || code == http.StatusProxyAuthRequired || code == http.StatusRequestTimeout || code == http.StatusTooEarly ||
		code == http.StatusTooManyRequests
}

// redirect records the target of a redirect.
func (v *fetcher) redirect(u *weburl.URL, location string, f *vocab.Fetch) {
	to, err := u.Join(location)
	if err != nil {
		setOutcome(f, vocab.Refused, fmt.Sprintf("%d leads to %.200q: %v", f.Status, location, err))
		return
	}
	f.Outcome, f.Location = vocab.Redirected, to.String()
	if u.Scheme() == "http" && to.Scheme() == "https" && to.Fingerprint() == u.Fingerprint() {
		v.report.HTTPS = true
	}
}
