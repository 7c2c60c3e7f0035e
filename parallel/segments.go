package parallel

import (
	"context"
	"errors"
	"slices"
	"strings"

	"anatomy/disk/datadir"
	"anatomy/disk/repository"
	"anatomy/disk/segment"
	"anatomy/disk/shards"
	"anatomy/disk/translations"
	"anatomy/indexer/structure"
	"anatomy/parallel/align"
	"anatomy/vocab"
)

// A Segment is a text in two languages.
type Segment struct{ A, B string }

// SegmentOptions configure EachSegments. The zero value means the blocks of all pairs.
type SegmentOptions struct {
	Sentences bool     // of blocks, instead of whole blocks
	Languages []string // of both pages of a pair, BCP 47; any if there are none
}

// EachSegments calls fn with the pairs of the data folder dir, or of all shards, whose pages have
// texts that correspond, and with these texts in their order. It omits pages whose publisher
// forbids cached copies or snippets, and text without a counterpart.
func EachSegments(ctx context.Context, dir string, o SegmentOptions, fn func(Pair, []Segment) error) error {
	dirs, err := shards.Folders(dir)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		// Files are opened before the first call of fn, so that no pair occurs twice.
		var s *segmenter
		if err := datadir.ReadFiles(dir, func(m datadir.Manifest) (err error) {
			s, err = openSegmenter(dir, m, o)
			return err
		}); err != nil {
			return err
		}
		if s == nil {
			continue
		}
		err := s.run(ctx, fn)
		if err := errors.Join(err, s.repo.Close()); err != nil {
			return err
		}
	}
	return nil
}

// A segmenter makes the segments of one data folder.
type segmenter struct {
	options SegmentOptions
	table   *translations.Table
	pages   map[vocab.DocID]textPage
	repo    *repository.Reader
	texts   map[vocab.DocID][]align.Piece // of the current group
}

type textPage struct {
	url     string
	address vocab.Address
}

// openSegmenter opens a data folder. It returns nil if the folder has no translations.
func openSegmenter(dir string, m datadir.Manifest, o SegmentOptions) (*segmenter, error) {
	table, err := translations.Read(dir)
	if table == nil || err != nil {
		return nil, err
	}
	s := &segmenter{options: o, table: table, pages: map[vocab.DocID]textPage{}}
	if err := eachPage(dir, m, func(seg *segment.Segment, ord vocab.Ordinal, info vocab.DocInfo) {
		if table.Of(info.Doc) == nil {
			return
		}
		if c := seg.Controls(ord); !c.NoArchive && !c.Bounded {
			s.pages[info.Doc] = textPage{strings.Clone(info.URL), info.Address}
		}
	}); err != nil {
		return nil, err
	}
	s.repo, err = repository.OpenReader(datadir.Repository(dir))
	return s, err
}

func (s *segmenter) run(ctx context.Context, fn func(Pair, []Segment) error) (err error) {
	for _, g := range s.table.Groups {
		s.texts = map[vocab.DocID][]align.Piece{}
		g.Pairs(func(p translations.Pair) {
			if err == nil && s.includes(p) {
				err = s.pair(p, fn)
			}
		})
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// includes reports whether the options include the languages of a pair.
func (s *segmenter) includes(p translations.Pair) bool {
	all := s.options.Languages
	return len(all) == 0 || slices.Contains(all, p.A.Lang) && slices.Contains(all, p.B.Lang)
}

// pair calls fn with the segments of a pair, if it has any.
func (s *segmenter) pair(p translations.Pair, fn func(Pair, []Segment) error) error {
	a, b := s.read(p.A.Doc), s.read(p.B.Doc)
	segments := segmentsOf(a, b)
	if s.options.Sentences {
		segments = sentencesOf(segments)
	}
	if len(segments) == 0 {
		return nil
	}
	return fn(newPair(p, s.pages[p.A.Doc].url, s.pages[p.B.Doc].url), segments)
}

// read returns the blocks of a page, or nil if it cannot be read.
func (s *segmenter) read(doc vocab.DocID) []align.Piece {
	if pieces, ok := s.texts[doc]; ok {
		return pieces
	}
	var pieces []align.Piece
	if page, ok := s.pages[doc]; ok {
		record, err := s.repo.Read(page.address)
		if err == nil && record.Kind == repository.PageRecord && record.Page.Doc == doc {
			texts, _ := structure.Texts(record.Page.Body, record.Page.ContentType)
			for _, t := range texts {
				pieces = append(pieces, align.Piece{Tag: uint32(t.Tag) + 1, Text: t.Text})
			}
		}
	}
	s.texts[doc] = pieces
	return pieces
}

// segmentsOf aligns two texts.
func segmentsOf(a, b []align.Piece) (all []Segment) {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	for _, l := range align.Align(a, b) {
		if s := (Segment{joined(a[l.A[0]:l.A[1]]), joined(b[l.B[0]:l.B[1]])}); s.A != "" && s.B != "" {
			all = append(all, s)
		}
	}
	return all
}

func joined(pieces []align.Piece) string {
	var texts []string
	for _, p := range pieces {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, " ")
}

// sentencesOf aligns the sentences of each segment.
func sentencesOf(segments []Segment) (all []Segment) {
	for _, s := range segments {
		all = append(all, segmentsOf(sentences(s.A), sentences(s.B))...)
	}
	return all
}

func sentences(text string) (all []align.Piece) {
	for _, s := range align.Sentences(text) {
		all = append(all, align.Piece{Text: s})
	}
	return all
}
