package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"anatomy/crawler/internal/reason"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Renderer runs the scripts of pages.
type Renderer interface {
	// Needs reports whether a page has no text until its scripts run.
	Needs(*vocab.Page) bool

	// Render returns the document that the scripts of a page make, as HTML in UTF-8. It calls load
	// from its own goroutine, for each URL that they request.
	Render(
		ctx context.Context, p *vocab.Page, userAgent string,
		load func(ctx context.Context, url string) (*vocab.Resource, error),
	) ([]byte, error)
}

// maxResources bounds the resources that scripts load during a visit, in bytes, decoded.
const maxResources = 32 << 20

// render replaces the body of a fetched page that has no text by what its scripts make of it. If
// that fails, the page remains as it is, or as an earlier visit found it.
func (v *visit) render(ctx context.Context, f *vocab.Fetch) {
	r, p := v.o.Renderer, f.Page
	if r == nil || f.Outcome != vocab.Fetched || p == nil || p.Truncated != vocab.Whole ||
		vocab.MediumOf(p.ContentType) != vocab.HTML || !r.Needs(p) {
		return
	}
	v.activity.set("rendering")
	asked := 0
	html, err := r.Render(ctx, p, v.o.UserAgent, func(ctx context.Context, url string) (*vocab.Resource, error) {
		asked++
		return v.load(ctx, url, f)
	})
	f.Validators = vocab.Validators{} // those of the page do not cover what its scripts load
	switch {
	case ctx.Err() != nil:
		f.Page = nil
		setOutcome(f, vocab.Skipped, interrupted)
		return
	case err == nil && int64(len(html)) > v.o.MaxBody:
		err = fmt.Errorf("the document is larger than %d bytes", v.o.MaxBody)
	}
	switch {
	case err == nil:
		p.Body, p.ContentType, p.ETag, p.LastModified = html, vocab.RenderedType, "", ""
		f.Reason = fmt.Sprintf("rendered with its scripts (requests: %d)", asked)
	case f.Revisit:
		f.Page = nil
		setOutcome(f, vocab.Failed, "not rendered: "+err.Error())
	default:
		f.Reason = "not rendered: " + err.Error()
	}
}

// load fetches what the scripts of a page request, as the crawler fetches pages: from the lease's
// site alone, allowed by robots.txt, after the delay, and once in a visit.
func (v *visit) load(ctx context.Context, raw string, f *vocab.Fetch) (*vocab.Resource, error) {
	u, err := weburl.Parse(raw)
	if err != nil {
		return nil, err
	}
	if u.Site() != v.lease.Site {
		return nil, errors.New("another site")
	}
	if r := v.resources[u.String()]; r != nil {
		f.SignedIn = f.SignedIn || v.o.Credentials.Covers(u.Origin())
		return r, nil
	}
	o := v.origins.get(ctx, &u, 0)
	switch {
	case o.rules == nil:
		return nil, errors.New(o.reason)
	case !o.rules.Allowed(u.PathAndQuery()):
		return nil, errors.New("robots.txt forbids it")
	case v.stop != "":
		return nil, errors.New(v.stop)
	case v.silent[u.Origin()] != "":
		return nil, errors.New(v.silent[u.Origin()])
	case v.loaded >= maxResources:
		return nil, fmt.Errorf("over %d bytes", maxResources)
	case !v.wait(ctx):
		return nil, ctx.Err()
	}
	v.activity.set("rendering")
	r, err := v.request(ctx, &u)
	if err != nil {
		return nil, err
	}
	f.SignedIn = f.SignedIn || v.o.Credentials.Covers(u.Origin())
	if v.resources == nil {
		v.resources = map[string]*vocab.Resource{}
	}
	v.resources[u.String()] = r
	v.loaded += int64(len(r.Body))
	return r, nil
}

// request sends one request for a resource.
func (v *visit) request(ctx context.Context, u *weburl.URL) (*vocab.Resource, error) {
	c := v.fetcher.client
	guarded, g := newGuard(ctx, v.o)
	defer g.stop()
	begun := v.o.Now()
	resp, err := c.send(guarded, u, vocab.Validators{}, v.fetcher.cookies.header(u))
	if err != nil {
		if outcome, why := verdict(guarded, u, err, v.o.MaxHeader); outcome == vocab.Failed && ctx.Err() == nil {
			v.failed(u.Origin(), why)
		} else {
			v.ended()
		}
		return nil, err
	}
	defer resp.Body.Close()
	g.answered()
	r := &vocab.Resource{Status: resp.StatusCode, Header: http.Header{}}
	for _, name := range []string{
		"Content-Type", "Location", "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials",
	} {
		if values := resp.Header.Values(name); len(values) > 0 {
			r.Header[name] = values
		}
	}
	if asksForPause(r.Status) {
		v.slowDown(retryAfter(resp.Header, v.o.Now()), "a resource: "+reason.Status(r.Status), 0)
	}
	in, release, err := c.openWhole(resp, g, min(v.o.MaxBody, maxResources-v.loaded))
	if err == nil {
		r.Body, err = in.ReadAll(func([]byte) error { return nil })
		release()
	}
	v.answered(u.Origin(), v.o.Now().Sub(begun), resp.Close)
	return r, err
}
