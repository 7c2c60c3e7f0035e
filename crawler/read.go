package crawler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"anatomy/crawler/internal/body"
	"anatomy/crawler/sitemap"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Bounds of the body of an image and of an icon, in bytes.
const (
	maxImage = 5 << 20
	maxIcon  = 64 << 10
)

// read reads the body of a successful answer into f: a page, a sitemap or an image.
func (c *client) read(
	ctx context.Context, g *guard, u *weburl.URL, resp *http.Response, f *vocab.Fetch,
) error {
	var err error
	switch f.Kind {
	case vocab.SitemapTarget:
		err = c.readSitemap(g, u, resp, f)
	case vocab.ImageTarget:
		err = c.readImage(g, resp, f, maxImage)
	case vocab.IconTarget:
		err = c.readImage(g, resp, f, maxIcon)
	default:
		err = c.readPage(ctx, g, u, resp, f)
	}
	if f.Outcome == vocab.Fetched && err == nil && (f.Page == nil || !f.Page.Truncated.MayPass()) {
		f.Validators = validatorsOf(resp.Header)
	}
	return err
}

// readPage reads a page if its media type is indexed. A truncated body also makes a page: at once
// if the body is over its bound, otherwise at the last try.
func (c *client) readPage(
	ctx context.Context, g *guard, u *weburl.URL, resp *http.Response, f *vocab.Fetch,
) error {
	sent := resp.Header.Get("Content-Type")
	medium := mediumOf(sent, u)
	if medium == vocab.OtherMedium && strings.TrimSpace(sent) != "" {
		f.Outcome, f.Reason = vocab.Unsupported, fmt.Sprintf("media type %.100q", sent)
		drain(resp.Body, g)
		return nil
	}
	r, release, err := c.open(resp, g, c.o.MaxBody)
	if err != nil {
		return err
	}
	defer release()
	text, err := r.ReadAll(func(head []byte) error { return refuseBinary(head, sent, medium) })
	f.Bytes = r.Decoded()
	cut := vocab.Whole
	if err != nil {
		cut = truncation(ctx, r, err)
		if cut == vocab.Whole || len(text) == 0 || cut.MayPass() && !f.LastTry {
			return err
		}
		_, f.Reason = verdict(ctx, u, err, c.o.MaxHeader)
	}
	if sent == "" {
		sent = detectType(text)
	}
	f.Outcome = vocab.Fetched
	f.Page = &vocab.Page{
		Doc: f.Doc, URL: f.URL, Fetched: c.o.Now().UTC().Truncate(time.Second),
		ContentType:  sent,
		Language:     resp.Header.Get("Content-Language"),
		LastModified: resp.Header.Get("Last-Modified"),
		ETag:         resp.Header.Get("Etag"),
		Robots:       strings.Join(resp.Header.Values("X-Robots-Tag"), "\n"),
		Links:        joinRelations(resp.Header),
		Body:         text,
		Truncated:    cut,
	}
	if c.o.KeepHeaders {
		f.Page.Headers = keptHeaders(resp, c.o.Credentials.Header(u.Origin(), http.Header{}))
	}
	return nil
}

// truncation returns why reading a body ended early, or Whole if the bytes read are useless. ctx is
// that of the request.
func truncation(ctx context.Context, r *body.Reader, err error) vocab.Truncation {
	var large *body.TooLargeError
	var slow slowError
	switch {
	case errors.As(err, &large):
		if large.Bomb {
			return vocab.Whole
		}
		return vocab.OverLength
	case errors.As(err, new(*body.UnsupportedError)):
		return vocab.Whole
	case errors.As(context.Cause(ctx), &slow):
		return vocab.OverTime
	case ctx.Err() != nil: // the crawl was interrupted
		return vocab.Whole
	case r.Err() != nil, errors.Is(err, io.ErrUnexpectedEOF):
		return vocab.Disconnected
	}
	return vocab.Whole // the content coding is wrong
}

// readSitemap reads the canonical URLs of a sitemap, even of an imperfect file.
func (c *client) readSitemap(g *guard, u *weburl.URL, resp *http.Response, f *vocab.Fetch) error {
	r, release, err := c.openWhole(resp, g, sitemap.MaxBytes)
	if err != nil {
		return err
	}
	defer release()
	list, err := sitemap.Read(r)
	f.Bytes = r.Decoded()
	var large *body.TooLargeError
	if r.Err() != nil && !errors.As(r.Err(), &large) {
		return r.Err() // an incomplete list would count as complete
	}
	if err != nil && len(list.Pages)+len(list.Sitemaps) == 0 {
		if large != nil {
			return large
		}
		f.Outcome, f.Reason = vocab.Unsupported, err.Error()
		return nil
	}
	f.Outcome = vocab.Fetched
	f.Sitemaps = slices.Grow([]string(nil), len(list.Sitemaps))
	for _, s := range list.Sitemaps {
		if at, err := u.Join(s); err == nil {
			f.Sitemaps = append(f.Sitemaps, at.String())
		}
	}
	listed := map[string]bool{}
	for _, p := range list.Pages {
		if at, err := u.Join(p.URL); err == nil {
			entry := vocab.SitemapEntry{URL: at.String(), Modified: p.Modified, Alternates: joinAlternates(u, p.Alternates)}
			f.SitemapEntries = append(f.SitemapEntries, entry)
			listed[entry.URL] = true
		}
	}
	for _, p := range list.Pages {
		for _, a := range p.Alternates {
			at, err := u.Join(a.URL)
			if err != nil || listed[at.String()] || len(f.SitemapEntries) >= sitemap.MaxURLs {
				continue
			}
			f.SitemapEntries = append(f.SitemapEntries, vocab.SitemapEntry{URL: at.String()})
			listed[at.String()] = true
		}
	}
	return nil
}

// joinAlternates returns the versions of a page as Link fields, as many as maxRelations allows.
func joinAlternates(base *weburl.URL, all []sitemap.Alternate) string {
	var b strings.Builder
	for _, a := range all {
		at, err := base.Join(a.URL)
		if err != nil || strings.ContainsAny(at.String(), "<>") {
			continue
		}
		field := fmt.Sprintf("<%s>; rel=alternate; hreflang=%s", at.String(), a.Lang)
		if b.Len()+2+len(field) > maxRelations {
			break
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(field)
	}
	return b.String()
}

// readImage reads an image. Its first bytes determine its type, not the header.
func (c *client) readImage(g *guard, resp *http.Response, f *vocab.Fetch, most int64) error {
	r, release, err := c.openWhole(resp, g, min(most, c.o.MaxBody))
	if err != nil {
		return err
	}
	defer release()
	kind := ""
	image, err := r.ReadAll(func(head []byte) error {
		if kind = imageType(head); kind == "" {
			why := fmt.Sprintf("no image, sent as %.100q", resp.Header.Get("Content-Type"))
			return &body.UnsupportedError{Reason: why}
		}
		return nil
	})
	if err != nil {
		return err
	}
	f.Outcome = vocab.Fetched
	now := c.o.Now().UTC().Truncate(time.Second)
	f.Page = &vocab.Page{URL: f.URL, Fetched: now, ContentType: kind, Body: image}
	return nil
}

// maxRelations bounds the Link fields kept of a page, in bytes.
const maxRelations = 4 << 10

var keptRelations = []string{"canonical", "next", "prev", "alternate", "service-desc", "service-doc", "api-catalog"}

// joinRelations joins the Refresh field of a response, and the Link fields that may state how its page
// relates to others (RFC 8288): its canonical URL, previous and next pages, other forms, definitions of
// services. Most Link fields name style sheets and interfaces instead; those are dropped.
func joinRelations(h http.Header) string {
	fields := h.Values("Link")
	kept, n := fields[:0:0], 0
	if refresh := h.Get("Refresh"); refresh != "" && len(refresh) <= maxRelations {
		refresh = strings.ReplaceAll(refresh, `"`, "'")
		kept = append(kept, fmt.Sprintf(`<>; rel=%s; content="%s"`, vocab.RefreshRelation, refresh))
		n = len(kept[0])
	}
	for _, field := range fields {
		lower := strings.ToLower(field)
		has := func(relation string) bool { return strings.Contains(lower, relation) }
		if !slices.ContainsFunc(keptRelations, has) {
			continue
		}
		if n += len(field); n > maxRelations {
			break
		}
		kept = append(kept, field)
	}
	return strings.Join(kept, ", ")
}

const maxDrain = 16 << 10

// drain reads the rest of an unneeded body, so that the connection can be reused. It abandons the
// connection if the rest is longer than maxDrain.
func drain(body io.Reader, g *guard) {
	n, _ := io.CopyN(io.Discard, body, maxDrain)
	g.received(n)
}
