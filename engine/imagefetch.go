package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"anatomy/crawler"
	"anatomy/vocab"
	"anatomy/web"
	"anatomy/weburl"
)

// The bounds of fetching images for people who wait.
const (
	imagesAtOnce   = 16               // fetches, all hosts together; a host is asked for one at a time
	imageRedirects = 5                // of one image
	imageTimeout   = 15 * time.Second // of one request
	imageDelay     = time.Second      // the most that a Crawl-delay is waited for
	maxHeldHosts   = 1000             // that asked for a pause, and are remembered
)

// An ImageFetcher fetches images for the page of results by the rules of the crawler: robots.txt first, no private
// addresses unless they are allowed, bounds on everything.
type ImageFetcher struct {
	crawler *crawler.Crawler
	all     chan struct{} // one for each that runs

	mu    sync.Mutex
	hosts map[string]*imageHost // that are asked for, and wait
	held  map[string]time.Time  // hosts that asked for a pause, until when
}

// An imageHost is asked for one image at a time.
type imageHost struct {
	turn chan struct{}
	uses int // guarded by ImageFetcher.mu
}

// NewImageFetcher opens a fetcher, to be closed.
func NewImageFetcher(o crawler.Options) (*ImageFetcher, error) {
	o.Timeout, o.HeaderTimeout, o.MaxCrawlDelay, o.Credentials = imageTimeout, imageTimeout, imageDelay, nil
	o.IdleConns = 2 * imagesAtOnce
	c, err := crawler.New(o)
	if err != nil {
		return nil, err
	}
	return &ImageFetcher{crawler: c, all: make(chan struct{}, imagesAtOnce), hosts: map[string]*imageHost{}, held: map[string]time.Time{}}, nil
}

// Close ends the fetcher. No Fetch may be under way.
func (x *ImageFetcher) Close() error { return x.crawler.Close() }

// Fetch fetches an image, redirects followed, each by the rules of its own host. The error wraps web.ErrNotFound where there
// is none, or none that may be had.
func (x *ImageFetcher) Fetch(ctx context.Context, url string) (*vocab.Page, error) {
	at := url
	for range imageRedirects + 1 {
		f, err := x.once(ctx, at)
		switch {
		case err != nil:
			return nil, fmt.Errorf("image %s: %w", url, err)
		case f.Outcome == vocab.Fetched:
			return f.Page, nil
		case f.Outcome != vocab.Redirected:
			return nil, fmt.Errorf("image %s: %v: %s: %w", url, f.Outcome, f.Reason, web.ErrNotFound)
		}
		at = f.Location
	}
	return nil, fmt.Errorf("image %s: more than %d redirects: %w", url, imageRedirects, web.ErrNotFound)
}

// once asks for one URL when it is the turn of its host.
func (x *ImageFetcher) once(ctx context.Context, url string) (f vocab.Fetch, err error) {
	u, err := weburl.Parse(url)
	if err != nil {
		return f, fmt.Errorf("%w: %w", err, web.ErrNotFound)
	}
	leave, err := x.enter(ctx, u.Host())
	if err != nil {
		return f, err
	}
	defer leave()
	lease := vocab.Lease{Host: u.Host(), Site: u.Site(), URLs: []vocab.Target{{URL: url, Kind: vocab.ImageTarget}}}
	report := x.crawler.Visit(ctx, lease, func(one vocab.Fetch) { f = one })
	x.hold(u.Host(), report.HoldFor)
	if err := ctx.Err(); err != nil {
		return f, err
	}
	return f, nil
}

// enter waits for the turn of a host, and then for one of all. Who got leave must call it.
func (x *ImageFetcher) enter(ctx context.Context, host string) (leave func(), err error) {
	h := x.host(host)
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		x.release(host, h)
		return nil, ctx.Err()
	}
	next := func() { <-h.turn; x.release(host, h) }
	if x.isHeld(host) {
		next()
		return nil, fmt.Errorf("%s asked for a pause: %w", host, web.ErrNotFound)
	}
	select {
	case x.all <- struct{}{}:
		return func() { <-x.all; next() }, nil
	case <-ctx.Done():
		next()
		return nil, ctx.Err()
	}
}

// host gives what those who ask for images of a host wait at, to be released.
func (x *ImageFetcher) host(name string) *imageHost {
	x.mu.Lock()
	defer x.mu.Unlock()
	h := x.hosts[name]
	if h == nil {
		h = &imageHost{turn: make(chan struct{}, 1)}
		x.hosts[name] = h
	}
	h.uses++
	return h
}

// release forgets a host that nobody waits for.
func (x *ImageFetcher) release(host string, h *imageHost) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if h.uses--; h.uses == 0 {
		delete(x.hosts, host)
	}
}

// hold leaves a host alone for as long as it asked for.
func (x *ImageFetcher) hold(host string, d time.Duration) {
	if d <= 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.held) >= maxHeldHosts {
		x.held = map[string]time.Time{}
	}
	x.held[host] = time.Now().Add(d)
}

func (x *ImageFetcher) isHeld(host string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return time.Now().Before(x.held[host])
}
