package collection

import (
	"context"
	"fmt"
	"sync"
	"time"

	"anatomy/crawler"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Bounds of fetching images for the results page.
const (
	imagesAtOnce   = 16               // concurrent fetches; one per host
	imageRedirects = 5                // of an image
	imageTimeout   = 15 * time.Second // of one request
	imageDelay     = time.Second      // bound of a Crawl-delay
	maxHeldHosts   = 1000             // hosts whose requests for a pause are remembered
)

// An ImageFetcher fetches images for the results page by the crawler's rules: robots.txt, no
// private addresses unless allowed, bounds on everything.
type ImageFetcher struct {
	crawler *crawler.Crawler
	all     chan struct{} // semaphore of concurrent fetches

	mu    sync.Mutex
	hosts map[string]*imageHost // with running or waiting fetches
	held  map[string]time.Time  // end of the pause of a host, by its Retry-After
}

// An imageHost serializes the fetches from a host.
type imageHost struct {
	turn chan struct{}
	uses int // guarded by ImageFetcher.mu
}

// NewImageFetcher returns a fetcher. The caller closes it.
func NewImageFetcher(o crawler.Options) (*ImageFetcher, error) {
	o.Timeout, o.HeaderTimeout, o.MaxCrawlDelay, o.Credentials = imageTimeout, imageTimeout, imageDelay, nil
	o.IdleConns = 2 * imagesAtOnce
	c, err := crawler.New(o)
	if err != nil {
		return nil, err
	}
	return &ImageFetcher{crawler: c, all: make(chan struct{}, imagesAtOnce), hosts: map[string]*imageHost{}, held: map[string]time.Time{}}, nil
}

// Close closes the fetcher. No Fetch may be running.
func (x *ImageFetcher) Close() error { return x.crawler.Close() }

// Fetch fetches an image and follows redirects, each by the rules of its own host. The error wraps
// ErrNotFound if the image does not exist or may not be fetched.
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
			return nil, fmt.Errorf("image %s: %v: %s: %w", url, f.Outcome, f.Reason, ErrNotFound)
		}
		at = f.Location
	}
	return nil, fmt.Errorf("image %s: more than %d redirects: %w", url, imageRedirects, ErrNotFound)
}

// once fetches one URL, after earlier fetches from its host.
func (x *ImageFetcher) once(ctx context.Context, url string) (f vocab.Fetch, err error) {
	u, err := weburl.Parse(url)
	if err != nil {
		return f, fmt.Errorf("%w: %w", err, ErrNotFound)
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

// enter blocks until a fetch from the host may start. Unless it fails, the caller calls leave.
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
		return nil, fmt.Errorf("%s asked for a pause: %w", host, ErrNotFound)
	}
	select {
	case x.all <- struct{}{}:
		return func() { <-x.all; next() }, nil
	case <-ctx.Done():
		next()
		return nil, ctx.Err()
	}
}

// host returns the entry of a host. The caller releases it.
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

// release deletes the host's entry after its last use.
func (x *ImageFetcher) release(host string, h *imageHost) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if h.uses--; h.uses == 0 {
		delete(x.hosts, host)
	}
}

// hold makes fetches from a host fail for the time of its Retry-After.
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
