package crawler

import (
	"context"
	"net/http"

	"anatomy/crawler/internal/reason"
	"anatomy/vocab"
	"anatomy/weburl"
)

// requestOther requests a URL that is not a target of the lease, and passes the answer to read, unless
// its status is one of asksForPause. It returns the status, or 0 without an answer. what describes the
// request for display.
func (v *visit) requestOther(
	ctx context.Context, u *weburl.URL, what string, read func(*http.Response, *guard),
) (status int) {
	v.activity.set(what)
	guarded, g := newGuard(ctx, v.o)
	defer g.stop()
	begun := v.o.Now()
	resp, err := v.fetcher.client.get(guarded, u, vocab.Validators{})
	if err != nil {
		if outcome, why := verdict(guarded, u, err, v.o.MaxHeader); outcome == vocab.Failed && ctx.Err() == nil {
			v.failed(u.Origin(), why)
		} else {
			v.ended()
		}
		return 0
	}
	defer resp.Body.Close()
	g.answered()
	if status = resp.StatusCode; asksForPause(status) {
		v.slowDown(retryAfter(resp.Header, v.o.Now()), what+": "+reason.Status(status), 0)
	} else {
		read(resp, g)
	}
	drain(resp.Body, g)
	v.answered(u.Origin(), v.o.Now().Sub(begun), resp.Close)
	return status
}

// asksForPause reports whether a status asks for fewer requests to the whole host.
func asksForPause(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// redirectTarget returns the target of a redirect of u, or false if the answer is not a redirect.
func redirectTarget(resp *http.Response, u *weburl.URL) (to weburl.URL, ok bool) {
	location := resp.Header.Get("Location")
	if resp.StatusCode < 300 || resp.StatusCode > 399 || location == "" {
		return to, false
	}
	to, err := u.Join(location)
	return to, err == nil
}
