package shard

import (
	"anatomy/analysis"
	"anatomy/disk/segment"
	"anatomy/searcher/internal/presentation"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// Present fills in the pages of the shard.
func (q *Query) Present(r *PresentRequest, pages []scoring.Candidate, presented []Presented) error {
	if q.remote != nil {
		return q.presentRemotely(r, pages, presented)
	}
	snippets := presentation.NewSnippeter(r.Root, r.Exact.Terms, &q.arena.shown.Snippets)
	snippets.Explain = r.Explain
	docs := segment.DocReader{}
	defer docs.Close()
	for _, at := range q.arena.inDiskOrder(pages, q.snap.Base) { // texts of neighbours are in one block
		c, page := &pages[at], &presented[at]
		part := q.snap.Parts[c.Part]
		info, passage, err := readPassage(part.Segment, c.Ord, snippets, &docs)
		if err != nil {
			if err := q.Unreadable(part, err, nil); err != nil {
				return err
			}
			page.Unread = true
			continue
		}
		page.Passage = passage
		page.Info, page.Info.Text = info, ""
		if r.Explain {
			if page.Explanation, err = q.Explain(r.Exact, c.Part, c.Ord, info.URL); err != nil {
				return err
			}
		}
	}
	return nil
}

// readPassage reads a page, and its passage from as much of its text as that needs.
func readPassage(
	s *segment.Segment, ord vocab.Ordinal, snippets *presentation.Snippeter, docs *segment.DocReader,
) (info vocab.DocInfo, p presentation.Passage, err error) {
	const first = presentation.SnippetBytes
	for n := first; n > 0; n = snippets.Wants() {
		if info, err = docs.Read(s, ord, n); err != nil {
			return info, p, err
		}
		p = snippets.Passage(info.Title, info.Text, info.Description, info.Controls)
		if n > first || len(info.Text) < first {
			break
		}
	}
	return info, p, nil
}

// Options counts, for each of some words, the pages of the shard whose texts contain it, and those
// that contain it after a minus.
func (q *Query) Options(pages []scoring.Candidate, words []string) (have, show []int, err error) {
	have, show = make([]int, len(words)), make([]int, len(words))
	if q.remote != nil {
		_, places := q.own(pages)
		if reply := q.send(&Call{Options: &optionsCall{places, words}}); q.check(len(reply.Have) == len(words) && len(reply.Show) == len(words)) {
			have, show = reply.Have, reply.Show
		}
		return have, show, nil
	}
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

func (q *Query) presentRemotely(r *PresentRequest, pages []scoring.Candidate, presented []Presented) error {
	at, places := q.own(pages)
	if len(places) == 0 {
		return nil
	}
	reply := q.send(&Call{Present: &presentCall{nodeFor(r.Root, q.snap.Base), r.Exact.call(), r.Explain, places}})
	fits := q.check(len(reply.Pages) == len(places))
	for i, k := range at {
		page, c := &presented[k], &pages[k]
		if !fits || reply.Pages[i].Unread {
			page.Unread = true
			continue
		}
		info, err := q.snap.Parts[c.Part].Segment.Record(c.Ord)
		if err != nil {
			if err := q.Unreadable(q.snap.Parts[c.Part], err, nil); err != nil {
				return err
			}
			page.Unread = true
			continue
		}
		page.Info, page.Passage, page.Explanation = info, reply.Pages[i].Passage, reply.Pages[i].Explanation
	}
	return nil
}
