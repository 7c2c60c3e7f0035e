package engine

import (
	"bytes"
	"context"

	"anatomy/disk/docindex"
	"anatomy/indexer"
	"anatomy/topic"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// judge passes a parsed page to the focus, and returns the odds that its targets are relevant, or
// nil unless the crawl has a topic.
func (s *stages) judge(doc *indexer.Document) (odds []float64) {
	if s.focus == nil {
		return nil
	}
	u, err := weburl.Parse(doc.Info.URL)
	if err != nil {
		return nil
	}
	links := make([]topic.Link, len(doc.Targets))
	for i, text := range doc.TargetTexts() {
		links[i] = topic.Link{URL: doc.Targets[i].URL, Text: text}
	}
	odds, changed := s.focus.Add(&u, doc.Hits(), links)
	scored := make([]urlserver.Found, len(changed))
	for i, c := range changed {
		scored[i] = urlserver.Found{URL: c.URL, Quality: c.Odds, Rescored: true}
	}
	s.urls.Add(scored) // a failed URL server keeps its error, which dispatch returns
	return odds
}

// refocus trains the focus with the latest stored pages, and with the examples among the older
// ones.
func (s *stages) refocus(ctx context.Context, pdf func([]byte) ([]byte, error)) error {
	if s.focus == nil {
		return nil
	}
	pages := s.urls.Stats().Pages
	buffer := &indexer.Buffer{PDF: pdf}
	return s.urls.Each(1, func(r docindex.Record) error {
		if !r.IsPage() {
			return ctx.Err()
		}
		if pages--; pages >= topic.MaxPages && !s.focus.Names(r.URL) {
			return ctx.Err()
		}
		record, err := s.repo.Read(r.Fetch.Address)
		if err != nil {
			return nil // anatomy check reports it
		}
		page := record.Page
		page.Doc, page.Body = r.Doc, bytes.Clone(page.Body)
		doc, err := indexer.Parse(&page, buffer)
		if err != nil {
			return nil // skipped, as when it was fetched
		}
		s.rescore(doc, s.judge(doc))
		return ctx.Err()
	})
}

// rescore sets the odds of the targets of a page that was stored before.
func (s *stages) rescore(doc *indexer.Document, odds []float64) {
	scored := make([]urlserver.Found, len(odds))
	for i, o := range odds {
		scored[i] = urlserver.Found{URL: doc.Targets[i].URL, Quality: o, Rescored: true}
	}
	s.urls.Add(scored)
}

// harvest returns the harvest of the focused crawl, or nil.
func (s *stages) harvest() *vocab.Harvest {
	if s.focus == nil {
		return nil
	}
	h := s.focus.Harvest()
	return &h
}
