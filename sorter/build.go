// Package sorter inverts the index (BP98 §4.4, §4.2.7): it merges barrels, which have the terms of
// batches of documents, to a segment, which has the posting list of each term. The hits of anchor
// texts are added to the documents that the links lead to (§2.2).
//
// One merge serves for the first sort and every later one. Its inputs are files of barrels and older
// segments. It writes the documents in the order of their URLs' keys, then merges the terms of the
// inputs and, of each term, the postings by document. One barrel of each file is in memory at a time.
// The segment depends on the documents and the average length alone, not on how they are spread over
// the inputs.
package sorter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"anatomy/disk/segment"
	"anatomy/disk/texts"
	"anatomy/vocab"
)

// Options configure Build.
type Options struct {
	Dir    string  // the segment's folder, which must not exist
	Inputs []Input // oldest first: a document in several of them is taken from the last

	// Anchors calls visit with the targets of links, in ascending order of DocID. It may
	// skip documents for which want returns false. If it is nil, the segment has no anchor hits: those
	// of older segments are not kept.
	Anchors func(want func(vocab.DocID) bool, visit func(Anchored) error) error

	// Uncrawled adds each document that no input has and that other sites link to, so that searches
	// find it by the texts of these links (BP98 §2.2). Links from the document's own site do not
	// count. The uncrawled documents of older segments are not kept.
	Uncrawled bool

	// Tombstones are deleted documents of older segments. The new segment has a tombstone for each that
	// no input has.
	Tombstones []vocab.DocID

	// NewAddress returns the current repository address of a record. If it is nil, no record has moved.
	NewAddress func(vocab.Address) vocab.Address

	// NewDocID returns the DocID that the segment has of a document. If it is nil, DocIDs stay.
	NewDocID func(vocab.DocID) vocab.DocID

	// Compact and Average are as in segment.Options.
	Compact bool
	Average float64

	// Yield is called between documents and between terms. It can block while more urgent work
	// runs. It may be nil.
	Yield func()

	// Progress is called wherever Yield is, with the share of the work that is done, from 0 to 1.
	// It may be nil.
	Progress func(share float64)

	// MemoryBytes bounds the memory of anchor texts, some 20 bytes per hit. Build fails if it does not
	// suffice. Default 512 MB.
	MemoryBytes int64
}

// Stats describe a build.
type Stats struct {
	Segment     segment.Stats
	Superseded  int           // documents that a later input has, too
	Uncrawled   int           // documents that no input has
	Anchored    int           // documents with anchor texts
	AnchorTexts int           // anchor texts that were used
	Unknown     int           // documents of Anchors that are not in the segment
	Documents   time.Duration // spent to find, sort and write documents
	Terms       time.Duration // spent to merge terms
	Publish     time.Duration // spent to close, sync and rename the folder
}

// Build merges the inputs into a segment. If it fails or ctx is cancelled, no folder is left.
func Build(ctx context.Context, o Options) (Stats, error) {
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = 512 << 20
	}
	if o.Yield == nil {
		o.Yield = func() {}
	}
	if o.Progress == nil {
		o.Progress = func(float64) {}
	}
	b := &builder{options: o, origins: origins{}, anchors: newAnchors(o.MemoryBytes)}
	if err := segment.Guard(func() error { return b.build(ctx) }); err != nil {
		return Stats{}, fmt.Errorf("build segment %s: %w", o.Dir, err)
	}
	return b.stats, nil
}

type builder struct {
	options Options
	out     *segment.Writer
	origins origins
	remaps  [][]vocab.Ordinal // by input: its ordinals to those of the new segment
	texts   []*textMover      // by input
	ordinal vocab.Ordinal     // of the next document
	anchors *anchors
	stats   Stats
}

func (b *builder) build(ctx context.Context) (err error) {
	start := time.Now()
	lap := func(d *time.Duration) {
		now := time.Now()
		*d, start = now.Sub(start), now
	}
	if err := b.findDocs(ctx); err != nil {
		return err
	}
	if b.out, err = segment.Create(b.options.Dir, segment.Options{
		Compact: b.options.Compact, Average: b.options.Average, OldTerms: slices.ContainsFunc(b.options.Inputs, Input.oldTerms),
	}); err != nil {
		return err
	}
	defer b.out.Abort()
	if err := b.writeDocs(ctx); err != nil {
		return err
	}
	lap(&b.stats.Documents)
	if err := b.writeTerms(ctx); err != nil {
		return err
	}
	lap(&b.stats.Terms)
	b.stats.Segment, err = b.out.Finish()
	lap(&b.stats.Publish)
	return err
}

// inputs returns the inputs of the options and the anchors.
func (b *builder) inputs() []Input {
	return append(b.options.Inputs[:len(b.options.Inputs):len(b.options.Inputs)], b.anchors)
}

// findDocs determines the input that each document is taken from.
func (b *builder) findDocs(ctx context.Context) error {
	for i, in := range b.options.Inputs {
		err := in.eachID(func(doc vocab.DocID) {
			if _, ok := b.origins[doc]; ok {
				b.stats.Superseded++
			}
			b.origins[doc] = origin{i, noOrdinal}
		})
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
	if b.options.Anchors == nil {
		return nil
	}
	return b.readAnchors(ctx)
}

// readAnchors reads the anchor texts into memory, with the documents that no input has.
func (b *builder) readAnchors(ctx context.Context) error {
	deleted := make(map[vocab.DocID]bool, len(b.options.Tombstones))
	for _, doc := range b.options.Tombstones {
		deleted[doc] = true
	}
	want := func(doc vocab.DocID) bool {
		_, held := b.origins[doc]
		return held || b.options.Uncrawled && !deleted[doc]
	}
	last := vocab.DocID(0)
	return b.options.Anchors(want, func(a Anchored) error {
		b.options.Yield()
		if a.Doc <= last {
			return fmt.Errorf("anchors of document %d came after those of %d", a.Doc, last)
		}
		last = a.Doc
		_, held := b.origins[a.Doc]
		if !held {
			a.Texts = fromOtherSites(a.Texts)
		}
		switch {
		case !held && (!b.options.Uncrawled || deleted[a.Doc] || len(a.Texts) == 0):
			b.stats.Unknown++
			return ctx.Err()
		case !held:
			b.origins[a.Doc] = origin{len(b.options.Inputs), noOrdinal}
			b.stats.Uncrawled++
		}
		if len(a.Texts) > 0 {
			b.stats.Anchored++
		}
		n, err := b.anchors.add(&a, !held)
		b.stats.AnchorTexts += n
		return errors.Join(err, ctx.Err())
	})
}

// writeDocs merges the documents of all inputs by the keys of their URLs.
func (b *builder) writeDocs(ctx context.Context) error {
	merge := heap[*docStream]{less: func(a, b *docStream) bool {
		return a.key < b.key || a.key == b.key && a.info.Doc < b.info.Doc
	}}
	unpacker, err := texts.NewUnpacker()
	if err != nil {
		return err
	}
	defer unpacker.Close()
	for i, in := range b.inputs() {
		mover, err := newTextMover(in, b.out, unpacker, func(doc vocab.DocID) bool { return b.origins.pending(i, doc) })
		if err != nil {
			return err
		}
		b.texts = append(b.texts, mover)
		remap := make([]vocab.Ordinal, in.count())
		for ord := range remap {
			remap[ord] = noOrdinal
		}
		b.remaps = append(b.remaps, remap)
		s := streamDocs(i, in)
		defer s.stop()
		ok, err := s.next(b.origins)
		if err != nil {
			return err
		}
		if ok {
			merge.push(s)
		}
	}
	for !merge.empty() {
		b.options.Yield()
		b.options.Progress(docShare * float64(b.ordinal) / float64(len(b.origins)))
		s := merge.top()
		if err := b.writeDoc(s); err != nil {
			return err
		}
		ok, err := s.next(b.origins)
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		merge.fix(ok)
	}
	for _, doc := range b.options.Tombstones {
		if _, held := b.origins[doc]; held {
			continue
		}
		if err := b.out.AddTombstone(doc); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) writeDoc(s *docStream) error {
	b.remaps[s.input][s.ord] = b.ordinal
	b.origins[s.info.Doc] = origin{s.input, b.ordinal}
	b.ordinal++
	if s.info.Address != 0 && b.options.NewAddress != nil {
		s.info.Address = b.options.NewAddress(s.info.Address)
	}
	if b.options.NewDocID != nil {
		s.info.Doc = b.options.NewDocID(s.info.Doc)
	}
	text, err := b.texts[s.input].move(s.text)
	if err != nil {
		return err
	}
	return b.out.AddRecord(s.info, text)
}

// docShare is the share of documents in the time of a merge; the rest is that of terms.
const docShare = 0.25

// writeTerms merges the terms of all inputs.
func (b *builder) writeTerms(ctx context.Context) error {
	b.anchors.sort(b.origins)
	terms := heap[*queued]{less: byTerm}
	all := 0 // terms of all inputs
	for i, in := range b.inputs() {
		all += in.dictionary()
		src, err := in.source(b.remaps[i])
		if err != nil {
			return err
		}
		defer src.close()
		q := &queued{source: src}
		ok, err := q.nextTerm()
		if err != nil {
			return err
		}
		if ok {
			terms.push(q)
		}
	}
	m := merger{out: b.out}
	for !terms.empty() {
		b.options.Yield()
		b.options.Progress(docShare + (1-docShare)*float64(m.merged)/float64(max(all, 1)))
		if err := errors.Join(ctx.Err(), m.mergeTerm(&terms)); err != nil {
			return err
		}
	}
	b.options.Progress(1)
	return nil
}
