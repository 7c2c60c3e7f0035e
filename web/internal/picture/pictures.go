package picture

import (
	"context"
	"errors"
	"time"

	"anatomy/lru"
	"anatomy/vocab"

	"golang.org/x/sync/singleflight"
)

// Limits of the cache.
const (
	maxPictures    = 64 << 20         // bytes, in memory
	failureWeight  = 512              // bytes of an entry besides the image
	failureKept    = 10 * time.Minute // before a failed image is fetched again
	pictureKept    = 24 * time.Hour   // before an image is fetched again
	pictureTimeout = 20 * time.Second // to fetch an image and make it small
)

// Pictures fetches images, makes them small, and keeps the most recently used. It fetches an image
// once for concurrent requests.
type Pictures struct {
	fetch func(ctx context.Context, url string) (*vocab.Page, error)
	small *thumbnailer
	now   func() time.Time
	kept  *lru.Cache[string, *keptPicture] // by URL; the weight is bytes

	flight singleflight.Group
}

// A keptPicture is an image, or the error of fetching it.
type keptPicture struct {
	picture *picture
	err     error
	expires time.Time
}

func weight(url string, k *keptPicture) int {
	if k.err != nil {
		return failureWeight + len(url)
	}
	return failureWeight + len(url) + len(k.picture.Body)
}

func NewPictures(fetch func(context.Context, string) (*vocab.Page, error), now func() time.Time) *Pictures {
	return &Pictures{fetch: fetch, small: newThumbnailer(), now: now, kept: lru.New(maxPictures, weight)}
}

// Get returns the small image of a URL. It goes on fetching for other requests if ctx ends.
func (p *Pictures) Get(ctx context.Context, url string) (*picture, error) {
	if k := p.find(url); k != nil {
		return k.picture, k.err
	}
	answer := p.flight.DoChan(url, func() (any, error) {
		if k := p.find(url); k != nil { // a concurrent fetch has ended
			return k, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pictureTimeout)
		defer cancel()
		k := &keptPicture{expires: p.now().Add(pictureKept)}
		k.picture, k.err = p.make(ctx, url)
		if k.err != nil {
			k.expires = p.now().Add(failureKept)
		}
		p.kept.Put(url, k)
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

// make fetches an image and makes it small. A panic of a decoder becomes an error.
func (p *Pictures) make(ctx context.Context, url string) (small *picture, err error) {
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

// find returns what is kept of a URL, nil if that is nothing or has expired.
func (p *Pictures) find(url string) *keptPicture {
	k, ok := p.kept.Get(url)
	if !ok || !p.now().Before(k.expires) {
		return nil
	}
	return k
}
