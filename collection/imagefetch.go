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

// The bounds of fetching images for the page of results.
const (
	imagesAtOnce   = 16               // fetches; of each host one
	imageRedirects = 5                // of an image
	imageTimeout   = 15 * time.Second // of one request
	imageDelay     = time.Second      // bound of a Crawl-delay
	maxHeldHosts   = 1000             // hosts that asked for a pause and are remembered
)

// An ImageFetcher fetches images for the page of results by the crawler's rules: robots.txt, no
// private addresses unless they are allowed, bounds on everything.
type ImageFetcher struct {
	crawler *crawler.Crawler
	all     chan struct{} // a slot for each fetch under way

	mu    sync.Mutex
	hosts map[string]*imageHost // with fetches under way or waiting
	held  map[string]time.Time  // hosts that asked for a pause, until when
}

// An imageHost serves one image at a time.
type imageHost struct {
	turn chan struct{}
	uses int // guarded by ImageFetcher.mu
}

// NewImageFetcher returns a fetcher, which the caller closes.
func NewImageFetcher(o crawler.Options) (*ImageFetcher, error) {
	o.Timeout, o.HeaderTimeout, o.MaxCrawlDelay, o.Credentials = imageTimeout, imageTimeout, imageDelay, nil
	o.IdleConns = 2 * imagesAtOnce
	c, err := crawler.New(o)
	if err != nil {
		return nil, err
	}
	return &ImageFetcher{crawler: c, all: make(chan struct{}, imagesAtOnce), hosts: map[string]*imageHost{}, held: map[string]time.Time{}}, nil
}

// Close closes the fetcher. No Fetch may be under way.
func (x *ImageFetcher) Close() error { return x.crawler.Close() }

// Fetch fetches an image and follows redirects, each by the rules of its own host. The error wraps
// ErrNotFound if there is no image or it may not be fetched.
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

// once fetches one URL, after others of its host.
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

// enter blocks until a fetch of the host may begin. Unless it fails, the caller calls leave.
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

// host returns the entry of a host, which the caller releases.
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

// release forgets the host after its last use.
func (x *ImageFetcher) release(host string, h *imageHost) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if h.uses--; h.uses == 0 {
		delete(x.hosts, host)
	}
}

// hold makes fetches of a host fail for a time that the host asked for.
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
