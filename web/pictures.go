package web

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"anatomy/vocab"
)

// The bounds of the images that are kept.
const (
	maxPictures    = 64 << 20         // bytes, in memory
	failureWeight  = 512              // bytes that a failure counts as
	failureKept    = 10 * time.Minute // until an image that could not be had is asked for again
	pictureKept    = 24 * time.Hour   // until one that could is
	pictureTimeout = 20 * time.Second // of fetching one and making it small
)

// Pictures fetches images, makes them small, and keeps those that were asked for last. An image that is asked for
// by many at once is fetched once.
type pictures struct {
	fetch func(ctx context.Context, url string) (*vocab.Page, error)
	small *thumbnailer
	now   func() time.Time
	limit int // bytes

	flight singleflight.Group

	mu     sync.Mutex
	at     map[string]*list.Element // by URL
	recent list.List                // of *keptPicture, the latest first
	size   int
}

// A keptPicture is an image, or the failure to get it.
type keptPicture struct {
	url     string
	picture *picture
	err     error
	expires time.Time
}

func (k *keptPicture) weight() int {
	if k.err != nil {
		return failureWeight + len(k.url)
	}
	return failureWeight + len(k.url) + len(k.picture.body)
}

func newPictures(fetch func(context.Context, string) (*vocab.Page, error), now func() time.Time) *pictures {
	return &pictures{fetch: fetch, small: newThumbnailer(), now: now, limit: maxPictures, at: map[string]*list.Element{}}
}

// get gives the image at a URL, small. Who asks first may go away: the image is fetched for the others all the same.
func (p *pictures) get(ctx context.Context, url string) (*picture, error) {
	if k := p.kept(url); k != nil {
		return k.picture, k.err
	}
	answer := p.flight.DoChan(url, func() (any, error) {
		if k := p.kept(url); k != nil { // by a fetch that ended since
			return k, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pictureTimeout)
		defer cancel()
		k := &keptPicture{url: url, expires: p.now().Add(pictureKept)}
		k.picture, k.err = p.make(ctx, url)
		if k.err != nil {
			k.expires = p.now().Add(failureKept)
		}
		p.keep(k)
		return k, nil
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case made := <-answer:
		k := made.Val.(*keptPicture)
		return k.picture, k.err
	}
}

// make fetches an image and makes it small. A decoder that panics says no more than that it cannot read the image.
func (p *pictures) make(ctx context.Context, url string) (small *picture, err error) {
	defer func() {
		if recover() != nil {
			small, err = nil, errPicture
		}
	}()
	page, err := p.fetch(ctx, url)
	if err == nil && page == nil {
		err = errors.New("no image")
	}
	if err != nil {
		return nil, err
	}
	return p.small.thumbnail(ctx, page)
}

func (p *pictures) kept(url string) *keptPicture {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.at[url]
	if e == nil {
		return nil
	}
	k := e.Value.(*keptPicture)
	if !p.now().Before(k.expires) {
		p.drop(e)
		return nil
	}
	p.recent.MoveToFront(e)
	return k
}

func (p *pictures) keep(k *keptPicture) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.at[k.url]; e != nil {
		p.drop(e)
	}
	p.at[k.url] = p.recent.PushFront(k)
	for p.size += k.weight(); p.size > p.limit; {
		p.drop(p.recent.Back())
	}
}

func (p *pictures) drop(e *list.Element) {
	k := p.recent.Remove(e).(*keptPicture)
	delete(p.at, k.url)
	p.size -= k.weight()
}
