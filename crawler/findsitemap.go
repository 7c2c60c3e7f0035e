package crawler

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"anatomy/weburl"
)

const (
	usualSitemap     = "/sitemap.xml"
	sitemapHead      = 4 << 10 // bytes by which a sitemap is recognized
	sitemapRedirects = 2       // many systems redirect to an index of sitemaps
)

// findSitemap looks for a sitemap at the usual path of a host whose robots.txt names none, and
// reports it if there is one. It reads only the beginning: the URL server queues the sitemap, which
// is fetched like others. A host without one costs a request and nothing else: no document, no dead
// link.
func (v *visit) findSitemap(ctx context.Context, o *origin) {
	u, err := weburl.Parse(o.name + usualSitemap)
	for hops := 0; err == nil && hops <= sitemapRedirects; hops++ {
		if o.rules == nil || len(o.rules.Sitemaps) > 0 || !o.rules.Allowed(u.PathAndQuery()) {
			return
		}
		if v.stop != "" || !v.wait(ctx) {
			return
		}
		next := v.requestSitemap(ctx, &u)
		if next == nil || next.Host() != u.Host() {
			return
		}
		u, o = *next, v.origins.get(ctx, next, 0)
	}
}

// requestSitemap sends one request. It reports the sitemap, or returns the URL of a redirect.
func (v *visit) requestSitemap(ctx context.Context, u *weburl.URL) (next *weburl.URL) {
	v.requestOther(ctx, u, usualSitemap, func(resp *http.Response, g *guard) {
		if resp.StatusCode != http.StatusOK {
			v.report.SitemapSought = true
			if to, ok := redirectTarget(resp, u); ok && to.String() != u.String() {
				next = &to
			}
			return
		}
		head, err := v.fetcher.client.readHead(resp, g, sitemapHead)
		if v.report.SitemapSought = err == nil; err == nil && isSitemap(head) {
			v.report.Sitemaps = append(v.report.Sitemaps, u.String())
		}
	})
	return next
}

// readHead returns the first bytes of a body, decoded.
func (c *client) readHead(resp *http.Response, g *guard, bytes int64) ([]byte, error) {
	resp.ContentLength = min(resp.ContentLength, bytes) // a longer file is cut, not refused
	r, release, err := c.open(resp, g, bytes+1)
	if err != nil {
		return nil, err
	}
	defer release()
	head, err := io.ReadAll(io.LimitReader(r, bytes))
	if err == nil {
		drain(resp.Body, g)
	}
	return head, err
}

// isSitemap reports whether a body begins like a sitemap or an index of sitemaps. A compressed file
// counts as a sitemap, because nothing else has that name.
func isSitemap(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\x1f\x8b")) {
		return true
	}
	text := strings.ToLower(string(head))
	isOne := func(element string) bool { return strings.Contains(text, element) }
	return strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(text, "\ufeff"), " \t\r\n"), "<") &&
		!isOne("<html") && slices.ContainsFunc([]string{"<urlset", "<sitemapindex"}, isOne)
}
