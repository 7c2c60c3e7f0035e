// Package sorter turns the index round (BP98 §4.4, §4.2.7): from the words of batches of documents, in
// barrels, to all words with their documents, in a segment. The texts of links join the hits of the
// documents that they lead to (§2.2).
//
// One merge does it all, the first sort and every later one. Its inputs are files of barrels
// and older segments. Documents are put in the order of their URLs and written; then the inputs'
// words are merged, and under each word the postings by document. Of a file there is one barrel in memory
// at a time. What comes out depends on the documents alone: however they were spread over inputs, the lists
// are the same.
package sorter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"anatomy/disk/segment"
	"anatomy/disk/texts"
	"anatomy/vocab"
)

// Options of Build.
type Options struct {
	Dir    string  // the segment's folder, which must not exist
	Inputs []Input // oldest first: a document in several is taken from the last one

	// Anchors visits the documents that links lead to, in ascending DocID, and may leave out those that want says no to. Nil
	// means no anchors at all, since those of old segments are never kept.
	Anchors func(want func(vocab.DocID) bool, visit func(Anchored) error) error

	// Uncrawled makes a document of each one visited that no input holds, so that it is found by the
	// texts of its links (BP98 §2.2). Those of old segments are never kept.
	Uncrawled bool

	// Removed are documents that older segments hold and that are gone: the new segment says so, unless
	// an input holds them.
	Removed []vocab.DocID

	// Place gives the place of a document in the repository where it is another by now. Nil means that
	// all are where they were.
	Place func(vocab.Place) vocab.Place

	// Compact is that of segment.Options.
	Compact bool

	// Yield is called between documents and between words, and may wait while something is more urgent. Nil never does.
	Yield func()

	// MemoryBytes bounds what anchors take in memory, some 20 bytes a word: Build fails if it is not
	// enough. Default 512 MB.
	MemoryBytes int64
}

// Stats tell what Build did.
type Stats struct {
	Segment   segment.Stats
	Dropped   int           // documents in inputs that later inputs hold too
	Uncrawled int           // documents made of anchors alone
	Anchored  int           // documents with anchor texts
	Anchors   int           // texts that were taken
	Unknown   int           // documents that Anchors visited and that are not in the segment
	Documents time.Duration // to find, order and write documents
	Words     time.Duration // to merge words
	Publish   time.Duration // to close, sync and rename the folder
}

// Build merges the inputs into a segment. If it fails or is cancelled, no folder is left.
func Build(ctx context.Context, o Options) (Stats, error) {
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = 512 << 20
	}
	if o.Yield == nil {
		o.Yield = func() {}
	}
	b := &builder{options: o, held: map[vocab.DocID]holder{}, anchors: newAnchors(o.MemoryBytes)}
	if err := segment.Guard(func() error { return b.build(ctx) }); err != nil {
		return Stats{}, fmt.Errorf("sorter: build %s: %w", o.Dir, err)
	}
	return b.stats, nil
}

type builder struct {
	options Options
	out     *segment.Writer
	held    map[vocab.DocID]holder
	remaps  [][]vocab.Ordinal // by input: its ordinals to those of the segment, or noOrdinal
	texts   []*textMover      // by input
	ordinal vocab.Ordinal     // of the next document
	anchors *anchors
	stats   Stats
}

// A holder is the input that a document is taken from, and its place once it is written.
type holder struct {
	input   int // len(Inputs) for the anchors
	ordinal vocab.Ordinal
}

// noOrdinal is that of a document that is not taken.
const noOrdinal = vocab.Ordinal(math.MaxUint32)

func (b *builder) build(ctx context.Context) (err error) {
	start := time.Now()
	lap := func(d *time.Duration) {
		now := time.Now()
		*d, start = now.Sub(start), now
	}
	if err := b.findDocs(ctx); err != nil {
		return err
	}
	if b.out, err = segment.Create(b.options.Dir, segment.Options{Compact: b.options.Compact}); err != nil {
		return err
	}
	defer b.out.Abort()
	if err := b.writeDocs(ctx); err != nil {
		return err
	}
	lap(&b.stats.Documents)
	if err := b.writeWords(ctx); err != nil {
		return err
	}
	lap(&b.stats.Words)
	b.stats.Segment, err = b.out.Finish()
	lap(&b.stats.Publish)
	return err
}

// inputs are those of the options and the anchors.
func (b *builder) inputs() []Input {
	return append(b.options.Inputs[:len(b.options.Inputs):len(b.options.Inputs)], b.anchors)
}

// findDocs decides which input each document is taken from.
func (b *builder) findDocs(ctx context.Context) error {
	for i, in := range b.options.Inputs {
		err := in.eachID(func(doc vocab.DocID) {
			if _, ok := b.held[doc]; ok {
				b.stats.Dropped++
			}
			b.held[doc] = holder{i, noOrdinal}
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

// readAnchors takes the texts into memory, and makes documents of those that no input holds.
func (b *builder) readAnchors(ctx context.Context) error {
	removed := make(map[vocab.DocID]bool, len(b.options.Removed))
	for _, doc := range b.options.Removed {
		removed[doc] = true
	}
	want := func(doc vocab.DocID) bool {
		_, held := b.held[doc]
		return held || b.options.Uncrawled && !removed[doc]
	}
	last := vocab.DocID(0)
	return b.options.Anchors(want, func(a Anchored) error {
		b.options.Yield()
		if a.Doc <= last {
			return fmt.Errorf("anchors of document %d came after those of %d", a.Doc, last)
		}
		last = a.Doc
		_, held := b.held[a.Doc]
		switch {
		case !held && (!b.options.Uncrawled || removed[a.Doc]):
			b.stats.Unknown++
			return ctx.Err()
		case !held:
			b.held[a.Doc] = holder{len(b.options.Inputs), noOrdinal}
			b.stats.Uncrawled++
		}
		if len(a.Texts) > 0 {
			b.stats.Anchored++
		}
		n, err := b.anchors.add(&a, !held)
		b.stats.Anchors += n
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
		mover, err := b.moveTexts(i, in, unpacker)
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
		ok, err := s.next(b.held)
		if err != nil {
			return err
		}
		if ok {
			merge.push(s)
		}
	}
	for !merge.empty() {
		b.options.Yield()
		s := merge.top()
		if err := b.writeDoc(s); err != nil {
			return err
		}
		ok, err := s.next(b.held)
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		merge.fix(ok)
	}
	for _, doc := range b.options.Removed {
		if _, held := b.held[doc]; held {
			continue
		}
		if err := b.out.Remove(doc); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) writeDoc(s *docStream) error {
	b.remaps[s.input][s.ord] = b.ordinal
	b.held[s.info.Doc] = holder{s.input, b.ordinal}
	b.ordinal++
	if s.info.Place != 0 && b.options.Place != nil {
		s.info.Place = b.options.Place(s.info.Place)
	}
	text, err := b.texts[s.input].move(s.text)
	if err != nil {
		return err
	}
	return b.out.AddRecord(s.info, text)
}

// writeWords merges the words of all inputs.
func (b *builder) writeWords(ctx context.Context) error {
	b.anchors.place(b.held)
	words := heap[*queued]{less: byWord}
	for i, in := range b.inputs() {
		src, err := in.source(b.remaps[i])
		if err != nil {
			return err
		}
		defer src.close()
		q := &queued{source: src}
		ok, err := q.nextWord()
		if err != nil {
			return err
		}
		if ok {
			words.push(q)
		}
	}
	m := merger{out: b.out}
	for !words.empty() {
		b.options.Yield()
		if err := errors.Join(ctx.Err(), m.mergeWord(&words)); err != nil {
			return err
		}
	}
	return nil
}
