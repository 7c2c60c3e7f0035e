package collection

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"anatomy/disk/icons"
	"anatomy/disk/repository"
	"anatomy/indexer"
	"anatomy/lru"
	"anatomy/searcher"
	"anatomy/vocab"
)

// Images returns images of the pages that match a request. It reads them from the stored pages, see
// decision 0075.
func (s *Site) Images(ctx context.Context, r searcher.Request) (*searcher.ImageResponse, error) {
	return s.Searcher.Images(ctx, r, s.imagesOf)
}

// Image returns the image with an ID on the page of a document. The error wraps ErrNotFound if it
// does not exist.
func (s *Site) Image(ctx context.Context, doc vocab.DocID, id string) (*vocab.Image, error) {
	info, err := s.Document(ctx, doc)
	if err != nil && !errors.Is(err, searcher.ErrNotIndexed) {
		return nil, err
	}
	var images []vocab.Image
	if err == nil && info.Address != 0 {
		if images, err = s.imagesOf(&info); err != nil {
			return nil, err
		}
	}
	for _, m := range images {
		if m.ID() == id {
			return &m, nil
		}
	}
	return nil, fmt.Errorf("document %d: image %q: %w", doc, id, ErrNotFound)
}

// imagesOf returns the images of a stored page. A damaged page, and one that another machine has and
// does not send, have no images.
func (s *Site) imagesOf(info *vocab.DocInfo) ([]vocab.Image, error) {
	at := imagesAt{info.Doc, info.Address}
	if images, ok := s.images.Get(at); ok {
		return images, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), imagePageTime)
	defer cancel()
	page, err := storedPage(ctx, s, info.Doc, info.Address)
	switch damage := new(*repository.DamageError); {
	case errors.As(err, damage):
		s.noted(err)
		return nil, nil
	case errors.Is(err, ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	buf := parseBuffers.Get().(*indexer.Buffer)
	images, err := indexer.Images(page, buf)
	parseBuffers.Put(buf)
	if err != nil { // the page cannot be parsed
		images = nil
	}
	s.images.Put(at, images)
	return images, nil
}

// imagePageTime bounds the time to read a page from another machine for its images.
const imagePageTime = time.Second

var parseBuffers = sync.Pool{New: func() any { return new(indexer.Buffer) }}

// maxImageLists bounds the images in memory; each page counts as one more. An image takes about 300
// bytes.
const maxImageLists = 20_000

// imageLists caches the images of pages by document and address; the page at an address never
// changes. The next page of results needs the same images, and so does each request for one of
// them.
type imageLists = lru.Cache[imagesAt, []vocab.Image]

type imagesAt struct {
	doc vocab.DocID
	at  vocab.Address
}

func newImageLists() *imageLists {
	return lru.New(maxImageLists, func(_ imagesAt, images []vocab.Image) int { return 1 + len(images) })
}

// HasIcon reports whether a crawl has kept the icon of a host.
func (s *Site) HasIcon(host string) bool {
	for _, dir := range s.folders {
		if icons.Has(dir, host) {
			return true
		}
	}
	return false
}

// Icon returns the icon of a host as its site sent it. The error wraps ErrNotFound if there is none.
func (s *Site) Icon(host string) ([]byte, error) {
	for _, dir := range s.folders {
		if icon, err := icons.Read(dir, host); !errors.Is(err, fs.ErrNotExist) {
			return icon, err
		}
	}
	return nil, fmt.Errorf("icon of %s: %w", host, ErrNotFound)
}
