package linkdb

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"

	"anatomy/vocab"
)

// A Set reads several runs as one database: with aliases resolved, and without documents that were
// not found. It takes eight bytes of memory per document and, during an iteration over Anchors, the
// anchor texts of aliases.
type Set struct {
	runs  []*Run
	canon []uint32 // by document, from the newest run: 0, notFound, or the document that it is an alias of
	owner []uint16 // by source: 1 + the newest run with its links

	hidden map[vocab.DocID]bool

	byEnd func() []alias // the aliases, by the documents that they lead to; computed by the first call
}

// An alias is a document that leads to another one, over any number of aliases.
type alias struct{ doc, end uint32 }

const notFound = math.MaxUint32

// OpenSet opens runs, oldest first.
func OpenSet(paths []string) (*Set, error) {
	if len(paths) >= math.MaxUint16 {
		return nil, fmt.Errorf("links: %d runs are too many to read as one", len(paths))
	}
	s := &Set{hidden: map[vocab.DocID]bool{}}
	s.byEnd = sync.OnceValue(s.sortAliases)
	for _, path := range paths {
		r, err := Open(path)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.runs = append(s.runs, r)
	}
	for i, r := range s.runs {
		if err := s.load(uint16(i+1), r); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// load adds a run that is newer than the loaded ones. A source is a page, regardless of older runs,
// unless this run has it as an alias or not found.
func (s *Set) load(run uint16, r *Run) error {
	c := r.cursor(links)
	for source, ok := c.next(); ok; source, ok = c.next() {
		if source >= notFound {
			return r.corrupt(c.began, "document number too large")
		}
		s.owner = grow(s.owner, source)
		s.owner[source] = run
		if source < vocab.DocID(len(s.canon)) {
			s.canon[source] = 0
		}
		delete(s.hidden, source)
		c.skip()
	}
	if c.err != nil {
		return c.err
	}
	for a, err := range r.Aliases() {
		if err != nil {
			return err
		}
		if err := s.setCanon(a.Doc, a.Of); err != nil {
			return err
		}
	}
	for doc, err := range r.NotFound() {
		if err != nil {
			return err
		}
		if err := s.setCanon(doc, notFound); err != nil {
			return err
		}
	}
	for doc, err := range r.NoIndex() {
		if err != nil {
			return err
		}
		s.hidden[doc] = true
	}
	return nil
}

func (s *Set) setCanon(doc, of vocab.DocID) error {
	if doc >= notFound || of > notFound {
		return fmt.Errorf("links: alias %d of %d: a shard holds at most %d documents", doc, of, notFound-1)
	}
	s.canon = grow(s.canon, doc)
	s.canon[doc] = uint32(of)
	return nil
}

func grow[T any](table []T, doc vocab.DocID) []T {
	if need := int(doc) + 1 - len(table); need > 0 {
		table = append(table, make([]T, need)...)
	}
	return table
}

// IsSource reports whether the set has doc's links, even if it has none.
func (s *Set) IsSource(doc vocab.DocID) bool {
	return doc < vocab.DocID(len(s.owner)) && s.owner[doc] != 0 && s.IsCanonical(doc)
}

// CountLinks returns the number of links in all runs, including superseded ones.
func (s *Set) CountLinks() (n uint64) {
	for _, r := range s.runs {
		n += r.CountLinks()
	}
	return n
}

// CountChanges returns the sum of [Run.CountChanges] over the runs.
func (s *Set) CountChanges() (n uint64) {
	for _, r := range s.runs {
		n += r.CountChanges()
	}
	return n
}

// Close closes the runs.
func (s *Set) Close() error {
	var err error
	for _, r := range s.runs {
		err = errors.Join(err, r.Close())
	}
	return err
}

// maxHops bounds a chain of aliases. A longer one, or a cycle, has no canonical document.
const maxHops = 16

// Canonical returns the canonical document of doc, following redirects and duplicates, or false if
// that was not found.
func (s *Set) Canonical(doc vocab.DocID) (vocab.DocID, bool) {
	doc, ok := s.follow(doc)
	if !ok {
		doc = 0
	}
	return doc, ok
}

// follow returns the last document of a chain of aliases, or 0 for a cycle, and whether it was
// found.
func (s *Set) follow(doc vocab.DocID) (vocab.DocID, bool) {
	for range maxHops {
		if doc >= vocab.DocID(len(s.canon)) || s.canon[doc] == 0 {
			return doc, true
		}
		if s.canon[doc] == notFound {
			return doc, false
		}
		doc = vocab.DocID(s.canon[doc])
	}
	return 0, false
}

// AliasOf returns the state of doc in the newest run with it: the document that it is an alias of,
// without following further aliases, or that it was not found; 0 and false if it is a page.
func (s *Set) AliasOf(doc vocab.DocID) (of vocab.DocID, missing bool) {
	if doc >= vocab.DocID(len(s.canon)) {
		return 0, false
	}
	if s.canon[doc] == notFound {
		return 0, true
	}
	return vocab.DocID(s.canon[doc]), false
}

// IsCanonical reports whether doc is neither an alias nor not found.
func (s *Set) IsCanonical(doc vocab.DocID) bool {
	of, ok := s.Canonical(doc)
	return ok && of == doc
}

// NoIndex reports whether doc is noindex. Its links still count.
func (s *Set) NoIndex(doc vocab.DocID) bool { return s.hidden[doc] }

// Names iterates over the URLs of all documents, ascending by document.
func (s *Set) Names() iter.Seq2[Name, error] {
	return merge(s.runs, (*Run).Names, func(n Name) vocab.DocID { return n.Doc }, func(same []Name, _ []int) Name { return same[len(same)-1] })
}

// Links iterates over the link graph: sources ascending, with canonical targets, ascending and
// distinct, without links of a document to itself.
func (s *Set) Links() iter.Seq2[Source, error] { return s.resolved(false) }

// AllLinks iterates over the link graph like Links, but includes broken links: those to documents
// for which Canonical returns false. Their target is the document that the last alias leads to.
func (s *Set) AllLinks() iter.Seq2[Source, error] { return s.resolved(true) }

func (s *Set) resolved(broken bool) iter.Seq2[Source, error] {
	return func(yield func(Source, error) bool) {
		for source, err := range s.RawLinks() {
			if err == nil {
				source.Targets = s.resolve(source.Doc, source.Targets, broken)
			}
			if !yield(source, err) {
				return
			}
		}
	}
}

// RawLinks iterates over the newest links of each page as they are on the page: targets are
// ascending, and may be aliases.
func (s *Set) RawLinks() iter.Seq2[Source, error] { return s.rawLinks(func([]Source, []int) {}) }

// rawLinks is RawLinks. It also calls versions with the links of each document in all runs, oldest
// first, and the numbers of the runs.
func (s *Set) rawLinks(versions func([]Source, []int)) iter.Seq2[Source, error] {
	all := merge(s.runs, (*Run).Sources, func(x Source) vocab.DocID { return x.Doc }, func(same []Source, runs []int) Source {
		versions(same, runs)
		return same[len(same)-1]
	})
	return func(yield func(Source, error) bool) {
		for source, err := range all {
			if err == nil && !s.IsCanonical(source.Doc) {
				continue
			}
			if !yield(source, err) {
				return
			}
		}
	}
}

// resolve replaces targets by their canonical documents. It keeps broken links if broken is set.
func (s *Set) resolve(source vocab.DocID, targets []Target, broken bool) []Target {
	kept, isSorted := targets[:0], true
	for _, t := range targets {
		of, ok := s.follow(t.Doc)
		if (ok || broken && of != 0) && of != source {
			kept = append(kept, Target{Doc: of, Flags: t.Flags})
			isSorted = isSorted && of == t.Doc
		}
	}
	if isSorted { // no target is an alias
		return kept
	}
	// A followed link takes precedence over a nofollow link to the same document.
	slices.SortFunc(kept, func(a, b Target) int {
		return cmp.Or(cmp.Compare(a.Doc, b.Doc), cmp.Compare(a.Flags, b.Flags))
	})
	return slices.CompactFunc(kept, func(a, b Target) bool { return a.Doc == b.Doc })
}

// Anchors iterates over the anchor texts of each document, ascending by document. They include
// those of links to its aliases, and exclude links from the document itself and from sources that
// are not pages.
func (s *Set) Anchors() iter.Seq2[Anchors, error] { return s.AnchorsOf(everything) }

// AnchorsOf is Anchors for the documents for which match returns true. Skipping the others is fast.
func (s *Set) AnchorsOf(match func(vocab.DocID) bool) iter.Seq2[Anchors, error] {
	return func(yield func(Anchors, error) bool) {
		aliased, err := s.aliased(match)
		if err != nil {
			yield(Anchors{}, err)
			return
		}
		extra := make([]vocab.DocID, 0, len(aliased))
		for doc := range aliased {
			extra = append(extra, doc)
		}
		slices.Sort(extra)
		// emit yields the documents before a given one that have only anchors of aliases.
		emit := func(before vocab.DocID) bool {
			for len(extra) > 0 && extra[0] < before {
				if !yield(Anchors{Doc: extra[0], Texts: join(aliased[extra[0]])}, nil) {
					return false
				}
				extra = extra[1:]
			}
			return true
		}
		for a, err := range s.RawAnchors(func(doc vocab.DocID) bool { return match(doc) && s.IsCanonical(doc) }) {
			if err != nil {
				yield(a, err)
				return
			}
			if !emit(a.Doc) {
				return
			}
			if len(extra) > 0 && extra[0] == a.Doc {
				a.Texts = join(append(aliased[a.Doc], a.Texts...))
				extra = extra[1:]
			}
			if len(a.Texts) > 0 && !yield(a, nil) {
				return
			}
		}
		emit(math.MaxUint64)
	}
}

// aliased returns the anchor texts of aliases, by their canonical documents, if these match.
func (s *Set) aliased(match func(vocab.DocID) bool) (map[vocab.DocID][]AnchorText, error) {
	found := map[vocab.DocID][]AnchorText{}
	aliases := func(doc vocab.DocID) bool {
		of, ok := s.Canonical(doc)
		return ok && of != doc && match(of)
	}
	for a, err := range s.RawAnchors(aliases) {
		if err != nil {
			return nil, err
		}
		of, _ := s.Canonical(a.Doc)
		if texts := withoutSource(a.Texts, of); len(texts) > 0 {
			found[of] = append(found[of], texts...)
		}
	}
	return found, nil
}

// RawAnchors iterates over the anchor texts of links to the URLs of the documents for which match returns
// true: those of an alias apart from those of its canonical document, and those of missing documents.
// A source counts only in its newest run, and only if it is a page.
func (s *Set) RawAnchors(match func(vocab.DocID) bool) iter.Seq2[Anchors, error] {
	section := func(r *Run) iter.Seq2[Anchors, error] { return recordsOf(r, anchors, (*cursor).anchors, match) }
	return merge(s.runs, section, func(a Anchors) vocab.DocID { return a.Doc }, func(same []Anchors, runs []int) Anchors {
		all := Anchors{Doc: same[0].Doc}
		for i, a := range same {
			all.Texts = append(all.Texts, s.counting(a, runs[i])...)
		}
		if len(same) > 1 {
			all.Texts = join(all.Texts)
		}
		return all
	})
}

// counting returns the texts of a record of a run, with only the sources whose newest links are in
// that run.
func (s *Set) counting(a Anchors, run int) []AnchorText {
	kept := a.Texts[:0]
	for _, t := range a.Texts {
		t.Sources = slices.DeleteFunc(t.Sources, func(source vocab.DocID) bool {
			return source == a.Doc || !s.IsCanonical(source) || source < vocab.DocID(len(s.owner)) && int(s.owner[source]) != run+1
		})
		if len(t.Sources) > 0 {
			kept = append(kept, t)
		}
	}
	return kept
}

func withoutSource(texts []AnchorText, source vocab.DocID) []AnchorText {
	var kept []AnchorText
	for _, t := range texts {
		t.Sources = slices.DeleteFunc(t.Sources, func(s vocab.DocID) bool { return s == source })
		if len(t.Sources) > 0 {
			kept = append(kept, t)
		}
	}
	return kept
}

// join merges equal texts and sorts all texts.
func join(texts []AnchorText) []AnchorText {
	slices.SortStableFunc(texts, func(a, b AnchorText) int {
		if c := cmp.Compare(a.Text, b.Text); c != 0 || a.OffSite == b.OffSite {
			return c
		}
		if a.OffSite {
			return 1
		}
		return -1
	})
	joined := texts[:0]
	for _, t := range texts {
		if n := len(joined); n > 0 && joined[n-1].Text == t.Text && joined[n-1].OffSite == t.OffSite {
			all := append(slices.Clone(joined[n-1].Sources), t.Sources...)
			slices.Sort(all)
			joined[n-1].Sources = slices.Compact(all)
			continue
		}
		joined = append(joined, t)
	}
	return joined
}

// merge iterates over one section of several runs, ascending by document. For each document it
// calls choose with the records of all runs, oldest first, and the numbers of the runs.
func merge[T any](runs []*Run, section func(*Run) iter.Seq2[T, error], doc func(T) vocab.DocID, choose func([]T, []int) T) iter.Seq2[T, error] {
	if len(runs) == 1 {
		return single(section(runs[0]), choose)
	}
	return func(yield func(T, error) bool) {
		type head struct {
			next func() (T, error, bool)
			at   T
			run  int
		}
		var heads []*head
		var none T
		advance := func(h *head) (bool, error) {
			record, err, ok := h.next()
			h.at = record
			return ok && err == nil, err
		}
		for i, r := range runs {
			next, stop := iter.Pull2(section(r))
			defer stop()
			h := &head{next: next, run: i}
			more, err := advance(h)
			if err != nil {
				yield(none, err)
				return
			}
			if more {
				heads = append(heads, h)
			}
		}
		var same []T
		var from []int
		for len(heads) > 0 {
			least := doc(heads[0].at)
			for _, h := range heads[1:] {
				least = min(least, doc(h.at))
			}
			same, from = same[:0], from[:0]
			for i := 0; i < len(heads); {
				h := heads[i]
				if doc(h.at) != least {
					i++
					continue
				}
				same, from = append(same, h.at), append(from, h.run)
				more, err := advance(h)
				if err != nil {
					yield(none, err)
					return
				}
				if !more {
					heads = slices.Delete(heads, i, i+1)
					continue
				}
				i++
			}
			if !yield(choose(same, from), nil) {
				return
			}
		}
	}
}

// single is merge for one run.
func single[T any](records iter.Seq2[T, error], choose func([]T, []int) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		same, from := make([]T, 1), make([]int, 1)
		for record, err := range records {
			if err == nil {
				same[0] = record
				record = choose(same, from)
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// Merge writes the runs at paths, oldest first, as one run at out, without superseded links and
// anchors. It does not resolve aliases: a page that was not found may come back, and a duplicate
// may get a text of its own, while the pages that link to it do not change.
func Merge(paths []string, out string) error {
	s, err := OpenSet(paths)
	if err != nil {
		return err
	}
	defer s.Close()
	w, err := Create(out)
	if err != nil {
		return err
	}
	if err := s.writeTo(w); err != nil {
		w.Abort()
		return err
	}
	return w.Finish()
}

func (s *Set) writeTo(w *Writer) error {
	for n, err := range s.Names() {
		if err != nil {
			return err
		}
		w.Name(n)
	}
	for doc, of := range s.canon {
		if of != 0 && of != notFound {
			w.Alias(Alias{Doc: vocab.DocID(doc), Of: vocab.DocID(of)})
		}
	}
	for doc, of := range s.canon {
		if of == notFound {
			w.NotFound(vocab.DocID(doc))
		}
	}
	for _, doc := range slices.Sorted(maps.Keys(s.hidden)) {
		w.NoIndex(doc)
	}
	changes := uint64(0)
	for source, err := range s.rawLinks(func(versions []Source, runs []int) { changes += s.changed(versions, runs) }) {
		if err != nil {
			return err
		}
		w.Links(source)
	}
	if len(s.runs) > 0 {
		w.merged = s.runs[0].changes + changes
	}
	for a, err := range s.RawAnchors(everything) {
		if err != nil {
			return err
		}
		if len(a.Texts) > 0 {
			w.Anchors(a)
		}
	}
	return nil
}

// changed returns the number of links that the runs after the first one changed on a page, given
// its links in all runs, oldest first, and the numbers of the runs.
func (s *Set) changed(versions []Source, runs []int) (n uint64) {
	var before []Target
	for i, v := range versions {
		if runs[i] > 0 {
			n += countChanged(before, v.Targets)
		}
		before = v.Targets
	}
	if !s.IsCanonical(versions[0].Doc) { // all its links are gone
		n += uint64(len(before))
	}
	return n
}

// countChanged returns the number of links that changed between two versions of a page. A new link
// and one that is gone count as one.
func countChanged(before, after []Target) uint64 {
	both := 0
	for i, j := 0, 0; i < len(before) && j < len(after); {
		switch c := cmp.Compare(before[i].Doc, after[j].Doc); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			if before[i] == after[j] {
				both++
			}
			i++
			j++
		}
	}
	return uint64(max(len(before), len(after)) - both)
}
