package shard

import (
	"anatomy/analysis"
	"anatomy/disk/segment"
	"anatomy/searcher/internal/presentation"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// A PresentRequest configures the presentation of pages.
type PresentRequest struct {
	Root    *query.Node // for snippets
	Exact   *ExactRequest
	Explain bool
}

// A Presented page has what a result shows.
type Presented struct {
	Info        vocab.DocInfo // without Text
	Passage     presentation.Passage
	Explanation *Explanation // with PresentRequest.Explain
	Unread      bool         // it cannot be read
}

// Present fills in the pages of the shard.
func (q *Query) Present(r *PresentRequest, pages []scoring.Candidate, presented []Presented) error {
	snippets := presentation.NewSnippeter(r.Root, r.Exact.Terms, &q.arena.shown.Snippets)
	snippets.Explain = r.Explain
	docs := segment.DocReader{}
	defer docs.Close()
	for _, at := range q.arena.inDiskOrder(pages, q.snap.Base) { // texts of neighbours are in one block
		c, page := &pages[at], &presented[at]
		part := q.snap.Parts[c.Part]
		info, err := docs.Read(part.Segment, c.Ord, presentation.SnippetBytes)
		if err != nil {
			if err := q.Unreadable(part, err, nil); err != nil {
				return err
			}
			page.Unread = true
			continue
		}
		page.Passage = snippets.Passage(info.Title, info.Text, info.Description, info.Controls)
		page.Info, page.Info.Text = info, ""
		if r.Explain {
			if page.Explanation, err = q.Explain(r.Exact, c.Part, c.Ord, info.URL); err != nil {
				return err
			}
		}
	}
	return nil
}

// Options counts, for each of some words, the pages of the shard whose texts contain it, and those
// that contain it after a minus.
func (q *Query) Options(pages []scoring.Candidate, words []string) (have, show []int, err error) {
	have, show = make([]int, len(words)), make([]int, len(words))
	for _, at := range q.arena.inDiskOrder(pages, q.snap.Base) {
		part := q.snap.Parts[pages[at].Part]
		info, err := part.Segment.Info(pages[at].Ord)
		if err != nil {
			if err := q.Unreadable(part, err, nil); err != nil {
				return nil, nil, err
			}
			continue
		}
		text := vocab.WithoutSectionMarks(info.Text)
		for k, word := range words {
			if analysis.HasToken(text, word) {
				have[k]++
			}
			if analysis.HasToken(text, "-"+word) {
				show[k]++
			}
		}
	}
	return have, show, nil
}
