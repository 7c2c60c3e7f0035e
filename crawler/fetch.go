package crawler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"anatomy/crawler/sitemap"
	"anatomy/vocab"
	"anatomy/weburl"
)

// request asks for one URL and fills in what came of it.
func (v *visit) request(ctx context.Context, u *weburl.URL, f *vocab.Fetch) {
	c := v.c
	v.doing("answer")
	begun := c.o.Now()
	guarded, g := c.guard(ctx)
	defer g.stop()
	resp, err := c.get(guarded, u, f.Known)
	if err != nil {
		f.Outcome, f.Reason = c.verdict(guarded, u, err)
		v.noAnswer(ctx, f)
		return
	}
	defer resp.Body.Close()
	g.answered()
	f.Status = resp.StatusCode
	v.judge(guarded, g, u, resp, f)
	f.Took = c.o.Now().Sub(begun)
	v.answered(f.Took, resp.Close)
	if ctx.Err() != nil && f.Outcome == vocab.Failed {
		f.Outcome, f.Reason = vocab.Skipped, "interrupted"
	}
}

// noAnswer counts a request without answer, unless we ended it ourselves.
func (v *visit) noAnswer(ctx context.Context, f *vocab.Fetch) {
	switch {
	case ctx.Err() != nil:
		f.Outcome, f.Reason = vocab.Skipped, "interrupted"
	case f.Outcome == vocab.Failed:
		v.unanswered(f.Reason)
	default:
		v.last = v.c.o.Now()
	}
}

// get sends one request, with a condition where a version is known. Redirects are not followed: a
// transport never does.
func (c *Crawler) get(ctx context.Context, u *weburl.URL, known vocab.Validators) (*http.Response, error) {
	c.count.requests.Add(1)
	header, session := c.o.Credentials.header(originOf(u), c.header), c.sessions[originOf(u)]
	if session != nil {
		header = session.header(header, u)
	}
	req := (&http.Request{
		Method: http.MethodGet,
		URL:    requestURL(u),
		Host:   u.Host(),
		Header: conditional(header, known),
		Proto:  "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	resp, err := c.http.RoundTrip(req)
	if session != nil && err == nil {
		session.keep(u, resp)
	}
	return resp, err
}

// requestURL is u for net/http. The path goes out byte for byte, for url.URL would escape some
// bytes that the standard of weburl leaves alone; a path that begins with "//" has to take that
// way all the same, since as opaque it would be read as a host.
func requestURL(u *weburl.URL) *url.URL {
	path, query, asked := strings.Cut(pathAndQuery(u), "?")
	target := &url.URL{Scheme: u.Scheme(), Host: u.Host(), RawQuery: query, ForceQuery: asked && query == ""}
	if !strings.HasPrefix(path, "//") {
		target.Opaque = path
		return target
	}
	target.RawPath = path
	if plain, err := url.PathUnescape(path); err == nil {
		target.Path = plain
	} else {
		target.Path, target.RawPath = path, ""
	}
	return target
}

// judge decides by the status what a response means.
func (v *visit) judge(ctx context.Context, g *guard, u *weburl.URL, resp *http.Response, f *vocab.Fetch) {
	code := resp.StatusCode
	switch {
	case code == http.StatusOK || code == http.StatusNonAuthoritativeInfo:
		v.body(ctx, g, u, resp, f)
		return
	case code == http.StatusNotModified:
		unmodified(resp.Header, f)
	case code >= 300 && code < 400 && resp.Header.Get("Location") != "":
		v.redirect(u, resp.Header.Get("Location"), f)
	case passing(code):
		f.Outcome, f.Reason = vocab.Failed, statusReason(code)
		f.RetryAfter = retryAfter(resp.Header, v.c.o.Now())
		if code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable {
			v.slowDown(f.RetryAfter, f.Reason, f.Tries)
		}
	default:
		f.Outcome, f.Reason = vocab.Gone, statusReason(code)
	}
	drain(resp.Body, g)
}

// passing says whether a status may be another one later.
func passing(code int) bool {
	return code >= 500 || code == http.StatusRequestTimeout || code == http.StatusTooEarly || code == http.StatusTooManyRequests
}

// slowDown gives the rest of the lease back: 429 and 503 speak for the whole host.
func (v *visit) slowDown(wait time.Duration, reason string, tries uint8) {
	if wait == 0 {
		wait = backoff(tries)
	}
	v.hold(wait, reason)
	v.stop = "host asked for a pause: " + reason
}

// redirect reports where a redirect leads.
func (v *visit) redirect(u *weburl.URL, location string, f *vocab.Fetch) {
	to, err := u.Join(location)
	if err != nil {
		f.Outcome, f.Reason = vocab.Refused, fmt.Sprintf("%d leads to %.200q: %v", f.Status, location, err)
		return
	}
	f.Outcome, f.Location = vocab.Redirected, to.String()
	if u.Scheme() == "http" && to.Scheme() == "https" && to.Fingerprint() == u.Fingerprint() {
		v.report.HTTPS = true
	}
}

// body reads what a successful answer brings: a page, a sitemap or an image.
func (v *visit) body(ctx context.Context, g *guard, u *weburl.URL, resp *http.Response, f *vocab.Fetch) {
	var err error
	switch f.Kind {
	case vocab.SitemapTarget:
		err = v.c.readSitemap(g, u, resp, f)
	case vocab.ImageTarget:
		err = v.c.readImage(g, resp, f)
	default:
		err = v.c.readPage(g, resp, f)
	}
	if err != nil {
		f.Outcome, f.Reason = v.c.verdict(ctx, u, err)
		f.Page, f.Listed, f.Sitemaps = nil, nil, nil
	}
	if f.Outcome == vocab.Fetched {
		f.Validators = validatorsOf(resp.Header)
	}
}

// readPage keeps the body of a page whose type we index.
func (c *Crawler) readPage(g *guard, resp *http.Response, f *vocab.Fetch) error {
	sent := resp.Header.Get("Content-Type")
	if !indexed(sent) {
		f.Outcome, f.Reason = vocab.Unsupported, fmt.Sprintf("media type %.100q", sent)
		drain(resp.Body, g)
		return nil
	}
	r, err := c.unpack(resp, g, c.o.MaxBody)
	if err != nil {
		return err
	}
	defer r.release()
	body, err := r.readAll(func(head []byte) error { return binary(head, sent) })
	if err != nil {
		return err
	}
	if sent == "" {
		sent = sniffed(body)
	}
	f.Outcome = vocab.Fetched
	f.Page = &vocab.Page{
		Doc: f.Doc, URL: f.URL, Fetched: c.o.Now().UTC().Truncate(time.Second),
		ContentType:  sent,
		Language:     resp.Header.Get("Content-Language"),
		LastModified: resp.Header.Get("Last-Modified"),
		ETag:         resp.Header.Get("Etag"),
		Robots:       strings.Join(resp.Header.Values("X-Robots-Tag"), "\n"),
		Links:        relations(resp.Header.Values("Link")),
		Body:         body,
	}
	return nil
}

// readSitemap lists the URLs of a sitemap, canonical. What an imperfect file holds is taken.
func (c *Crawler) readSitemap(g *guard, u *weburl.URL, resp *http.Response, f *vocab.Fetch) error {
	r, err := c.unpack(resp, g, sitemap.MaxBytes)
	if err != nil {
		return err
	}
	defer r.release()
	list, err := sitemap.Read(r)
	var large *largeError
	if r.failed != nil && !errors.As(r.failed, &large) {
		return r.failed // half a list would count as the whole
	}
	if err != nil && len(list.Pages)+len(list.Sitemaps) == 0 {
		if large != nil {
			return large
		}
		f.Outcome, f.Reason = vocab.Unsupported, err.Error()
		return nil
	}
	f.Outcome = vocab.Fetched
	f.Sitemaps = canonical(u, list.Sitemaps)
	for _, p := range list.Pages {
		if at, err := u.Join(p.URL); err == nil {
			f.Listed = append(f.Listed, vocab.Listed{URL: at.String(), Modified: p.Modified})
		}
	}
	return nil
}

func canonical(base *weburl.URL, raw []string) []string {
	urls := slices.Grow([]string(nil), len(raw))
	for _, s := range raw {
		if u, err := base.Join(s); err == nil {
			urls = append(urls, u.String())
		}
	}
	return urls
}

// drain reads the short rest of a body that nobody wants, so that the connection can be used again;
// a longer one costs the connection.
func drain(body io.Reader, g *guard) {
	n, _ := io.CopyN(io.Discard, body, maxDrain)
	g.received(n)
}

const maxDrain = 16 << 10

// retryAfter reads Retry-After, in seconds or as a date (RFC 9110 §10.2.3). A server that says
// "now" gets a second; none is asked to wait for more than a day.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	var wait time.Duration
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	} else {
		return 0
	}
	return min(max(wait, time.Second), 24*time.Hour)
}

// statusReason names a status for people: "404 Not Found".
func statusReason(code int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}
