package engine

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"

	"anatomy/disk/repository"
	"anatomy/indexer"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web"
)

// Images answers a request with images of the pages that match it. They are read from the stored pages: see
// doc/decisions.md.
func (s *Site) Images(ctx context.Context, r searcher.Request) (*searcher.ImageResponse, error) {
	return s.Searcher.Images(ctx, r, s.imagesOf)
}

// Image is one that the page of a document shows, by its ID. The error wraps web.ErrNotFound where there
// is none.
func (s *Site) Image(ctx context.Context, doc vocab.DocID, id string) (*vocab.Image, error) {
	info, err := s.Document(ctx, doc)
	if err != nil && !errors.Is(err, searcher.ErrNotIndexed) {
		return nil, err
	}
	var images []vocab.Image
	if err == nil && info.Place != 0 {
		if images, err = s.imagesOf(&info); err != nil {
			return nil, err
		}
	}
	for _, m := range images {
		if m.ID() == id {
			return &m, nil
		}
	}
	return nil, fmt.Errorf("document %d: image %q: %w", doc, id, web.ErrNotFound)
}

// imagesOf gives the images of a stored page. A page that is damaged has none.
func (s *Site) imagesOf(info *vocab.DocInfo) ([]vocab.Image, error) {
	if images, ok := s.images.get(info.Place); ok {
		return images, nil
	}
	record, err := s.repo.Read(info.Place)
	var damage *repository.DamageError
	if errors.As(err, &damage) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	buf := parseBuffers.Get().(*indexer.Buffer)
	images, err := indexer.Images(&record.Page, buf)
	parseBuffers.Put(buf)
	if err != nil { // it was no page of text after all
		images = nil
	}
	s.images.put(info.Place, images)
	return images, nil
}

var parseBuffers = sync.Pool{New: func() any { return new(indexer.Buffer) }}

// imageLists keep the images of the pages that were looked through last: the next page of results asks for the same ones,
// and so does each image that is shown. What is at a place never changes.
type imageLists struct {
	mu     sync.Mutex
	at     map[vocab.Place]*list.Element
	recent list.List // of *imageList, the latest first
	weight int
}

type imageList struct {
	place  vocab.Place
	images []vocab.Image
}

// maxImageLists bounds what is kept: images, a page counting as one itself. An image takes some 300 bytes.
const maxImageLists = 20_000

func (l *imageList) weight() int { return 1 + len(l.images) }

func (c *imageLists) get(place vocab.Place) ([]vocab.Image, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.at[place]
	if e == nil {
		return nil, false
	}
	c.recent.MoveToFront(e)
	return e.Value.(*imageList).images, true
}

func (c *imageLists) put(place vocab.Place, images []vocab.Image) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		c.at = map[vocab.Place]*list.Element{}
	}
	if c.at[place] != nil {
		return
	}
	l := &imageList{place, images}
	c.at[place] = c.recent.PushFront(l)
	for c.weight += l.weight(); c.weight > maxImageLists; {
		old := c.recent.Remove(c.recent.Back()).(*imageList)
		delete(c.at, old.place)
		c.weight -= old.weight()
	}
}
