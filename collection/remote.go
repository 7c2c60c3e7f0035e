package collection

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"anatomy/disk/datadir"
	"anatomy/searcher"
	"anatomy/vocab"
)

// A machine may have light copies of some shards, without stored pages. It reads these from a machine
// that has the shard whole, by the calls that queries use: see [searcher.Options].Remote.

// pageCallPrefix begins calls for a page, and distinguishes them from those of queries.
const pageCallPrefix = `{"Page":`

// A pageCall requests a stored page.
type pageCall struct {
	Page struct {
		Doc vocab.DocID
		At  vocab.Address
	}
}

// maxPageJSON bounds a page from another machine, as JSON.
const maxPageJSON = 64 << 20 // bytes

// storedPage returns the page of a document at an address in the repository of its shard.
func storedPage(ctx context.Context, s *Site, doc vocab.DocID, at vocab.Address) (*vocab.Page, error) {
	shard, _ := doc.Shard()
	if !datadir.IsLight(s.folders[shard]) {
		record, err := s.stored[shard].repo.Read(at)
		return &record.Page, err
	}
	remote := s.Searcher.Remote()
	if remote == nil {
		return nil, fmt.Errorf("document %d: no page is stored on this machine: %w", doc, ErrNotFound)
	}
	var c pageCall
	c.Page.Doc, c.Page.At = doc, at
	call, err := json.Marshal(&c)
	if err != nil {
		return nil, err
	}
	reply, err := remote(ctx, shard, call)
	if err != nil {
		return nil, fmt.Errorf("document %d: no page is stored on this machine, and no other answers (%w): %w", doc, err, ErrNotFound)
	}
	page, err := decodePage(reply)
	if _, inner := doc.Shard(); err == nil && page.Doc != inner {
		err = errors.New("it is of another document")
	}
	if err != nil {
		return nil, fmt.Errorf("document %d: the page that another machine sent is damaged: %w", doc, err)
	}
	return page, nil
}

// answerPage answers a call for a page.
func answerPage(s *Site, shard int, call []byte) ([]byte, error) {
	var c pageCall
	if err := json.Unmarshal(call, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", searcher.ErrCall, err)
	}
	if of, _ := c.Page.Doc.Shard(); of != shard || shard >= len(s.folders) || datadir.IsLight(s.folders[shard]) {
		return nil, searcher.ErrShard
	}
	page, err := s.pageAt(c.Page.Doc, c.Page.At)
	if errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", searcher.ErrState, err)
	}
	if err != nil {
		return nil, err
	}
	return encodePage(page)
}

func encodePage(p *vocab.Page) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	err := errors.Join(json.NewEncoder(w).Encode(p), w.Close())
	return b.Bytes(), err
}

func decodePage(b []byte) (*vocab.Page, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	p := &vocab.Page{}
	return p, json.NewDecoder(io.LimitReader(r, maxPageJSON)).Decode(p)
}
