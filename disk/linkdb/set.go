package linkdb

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"anatomy/vocab"
)

// A Set reads several runs as one database, with aliases followed and documents that do not exist
// left out. It holds eight bytes a document in memory, and the anchors of aliased documents while
// they are walked.
type Set struct {
	runs  []*Run
	canon []uint32 // by document: 0 itself, nowhere, else the document that it is, as the newest run has it
	owner []uint16 // by source: 1 + the newest run that has its links

	hidden map[vocab.DocID]bool
}

const nowhere = math.MaxUint32

// OpenSet opens runs, oldest first.
func OpenSet(paths []string) (*Set, error) {
	if len(paths) >= math.MaxUint16 {
		return nil, fmt.Errorf("links: %d runs are too many to read as one", len(paths))
	}
	s := &Set{hidden: map[vocab.DocID]bool{}}
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

// load takes in a run behind those before it. A source is a page of its own again, whatever older runs
// say of it, unless this run says otherwise.
func (s *Set) load(run uint16, r *Run) error {
	c := r.cursor(links)
	for source, ok := c.next(); ok; source, ok = c.next() {
		if source >= nowhere {
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
	for doc, err := range r.Dropped() {
		if err != nil {
			return err
		}
		if err := s.setCanon(doc, nowhere); err != nil {
			return err
		}
	}
	for doc, err := range r.Hidden() {
		if err != nil {
			return err
		}
		s.hidden[doc] = true
	}
	return nil
}

func (s *Set) setCanon(doc, of vocab.DocID) error {
	if doc >= nowhere || of > nowhere {
		return fmt.Errorf("links: alias %d of %d: a shard holds at most %d documents", doc, of, nowhere-1)
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

// IsSource says whether a document is a page whose links the set has, if only none.
func (s *Set) IsSource(doc vocab.DocID) bool {
	return doc < vocab.DocID(len(s.owner)) && s.owner[doc] != 0 && s.Same(doc)
}

// CountLinks is how many links the runs hold, those that newer runs replace among them.
func (s *Set) CountLinks() (n uint64) {
	for _, r := range s.runs {
		n += r.CountLinks()
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

// maxHops bounds a chain of aliases; a longer one, or a circle, leads nowhere.
const maxHops = 16

// Canonical gives the document that doc is, after redirects and duplicates, and false where it does
// not exist.
func (s *Set) Canonical(doc vocab.DocID) (vocab.DocID, bool) {
	doc, ok := s.end(doc)
	if !ok {
		doc = 0
	}
	return doc, ok
}

// end is the last document of a chain of aliases, 0 for a circle, and whether it exists.
func (s *Set) end(doc vocab.DocID) (vocab.DocID, bool) {
	for range maxHops {
		if doc >= vocab.DocID(len(s.canon)) || s.canon[doc] == 0 {
			return doc, true
		}
		if s.canon[doc] == nowhere {
			return doc, false
		}
		doc = vocab.DocID(s.canon[doc])
	}
	return 0, false
}

// Said gives what the newest run that speaks of doc says of it, aliases not followed: the document that
// it is another URL of, or that it does not exist; 0 and false where it is itself.
func (s *Set) Said(doc vocab.DocID) (of vocab.DocID, gone bool) {
	if doc >= vocab.DocID(len(s.canon)) {
		return 0, false
	}
	if s.canon[doc] == nowhere {
		return 0, true
	}
	return vocab.DocID(s.canon[doc]), false
}

// Same says whether doc is a document of its own: no alias, and not gone.
func (s *Set) Same(doc vocab.DocID) bool {
	of, ok := s.Canonical(doc)
	return ok && of == doc
}

// Hidden says whether a document asks not to be shown. Its links count all the same.
func (s *Set) Hidden(doc vocab.DocID) bool { return s.hidden[doc] }

// Names walks the URLs of all documents, ascending.
func (s *Set) Names() iter.Seq2[Name, error] {
	return merge(s.runs, (*Run).Names, func(n Name) vocab.DocID { return n.Doc }, func(same []Name, _ []int) Name { return same[len(same)-1] })
}

// Links walks the link graph: sources ascending, targets as Canonical gives them, ascending and
// distinct, without links of a document to itself.
func (s *Set) Links() iter.Seq2[Source, error] { return s.resolved(false) }

// AllLinks walks the link graph as Links does, with the links to documents that do not exist: those
// for which Canonical gives false. They stand under the document that the last alias leads to.
func (s *Set) AllLinks() iter.Seq2[Source, error] { return s.resolved(true) }

func (s *Set) resolved(broken bool) iter.Seq2[Source, error] {
	return func(yield func(Source, error) bool) {
		for source, err := range s.Written() {
			if err == nil {
				source.Targets = s.resolve(source.Doc, source.Targets, broken)
			}
			if !yield(source, err) {
				return
			}
		}
	}
}

// Written walks the newest links of each source that is a document of its own as they stand on its page, no
// alias followed, targets ascending.
func (s *Set) Written() iter.Seq2[Source, error] {
	all := merge(s.runs, (*Run).Sources, func(x Source) vocab.DocID { return x.Doc }, func(same []Source, _ []int) Source { return same[len(same)-1] })
	return func(yield func(Source, error) bool) {
		for source, err := range all {
			if err == nil && !s.Same(source.Doc) {
				continue
			}
			if !yield(source, err) {
				return
			}
		}
	}
}

// resolve follows the aliases of targets, and keeps those that do not exist if broken says so.
func (s *Set) resolve(source vocab.DocID, targets []Target, broken bool) []Target {
	kept := targets[:0]
	for _, t := range targets {
		of, ok := s.end(t.Doc)
		if (ok || broken && of != 0) && of != source {
			kept = append(kept, Target{Doc: of, Flags: t.Flags})
		}
	}
	// A followed link counts where there is a nofollow one to the same document too.
	slices.SortFunc(kept, func(a, b Target) int {
		return cmp.Or(cmp.Compare(a.Doc, b.Doc), cmp.Compare(a.Flags, b.Flags))
	})
	return slices.CompactFunc(kept, func(a, b Target) bool { return a.Doc == b.Doc })
}

// Anchors walks the wordings of the links to each document, ascending; those to its aliases are
// among them, those from the document itself and from sources that are no pages are not.
func (s *Set) Anchors() iter.Seq2[Anchors, error] { return s.AnchorsOf(everything) }

// AnchorsOf is Anchors for the documents that want says yes to. To pass over the others costs a fraction of reading them.
func (s *Set) AnchorsOf(want func(vocab.DocID) bool) iter.Seq2[Anchors, error] {
	return func(yield func(Anchors, error) bool) {
		aliased, err := s.aliased(want)
		if err != nil {
			yield(Anchors{}, err)
			return
		}
		extra := make([]vocab.DocID, 0, len(aliased))
		for doc := range aliased {
			extra = append(extra, doc)
		}
		slices.Sort(extra)
		// emit gives what was linked to under aliases alone, up to doc.
		emit := func(before vocab.DocID) bool {
			for len(extra) > 0 && extra[0] < before {
				if !yield(Anchors{Doc: extra[0], Texts: join(aliased[extra[0]])}, nil) {
					return false
				}
				extra = extra[1:]
			}
			return true
		}
		for a, err := range s.ownAnchors(func(doc vocab.DocID) bool { return want(doc) && s.Same(doc) }) {
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

// aliased collects the anchors of documents that are another one, by that one, if that is wanted.
func (s *Set) aliased(want func(vocab.DocID) bool) (map[vocab.DocID][]AnchorText, error) {
	found := map[vocab.DocID][]AnchorText{}
	aliases := func(doc vocab.DocID) bool {
		of, ok := s.Canonical(doc)
		return ok && of != doc && want(of)
	}
	for a, err := range s.ownAnchors(aliases) {
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

// ownAnchors walks anchors under the documents that they were written for, where they are wanted. A source counts in its
// newest run alone, and where it is a page.
func (s *Set) ownAnchors(want func(vocab.DocID) bool) iter.Seq2[Anchors, error] {
	section := func(r *Run) iter.Seq2[Anchors, error] { return recordsOf(r, anchors, (*cursor).anchors, want) }
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

// counting are the texts of a record of a run, with the sources that count: pages whose links are
// in that run.
func (s *Set) counting(a Anchors, run int) []AnchorText {
	kept := a.Texts[:0]
	for _, t := range a.Texts {
		t.Sources = slices.DeleteFunc(t.Sources, func(source vocab.DocID) bool {
			return source == a.Doc || !s.Same(source) || source < vocab.DocID(len(s.owner)) && int(s.owner[source]) != run+1
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

// join makes one of equal texts, and orders them.
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

// merge walks one section of several runs by ascending document. Records of one document are given
// to choose together, oldest first, with the numbers of their runs.
func merge[T any](runs []*Run, section func(*Run) iter.Seq2[T, error], doc func(T) vocab.DocID, choose func([]T, []int) T) iter.Seq2[T, error] {
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

// Merge writes the runs at paths, oldest first, as one run at out: links and anchors of replaced pages are
// left behind. Aliases stay beside what was said of them, and are not followed for good: a page that was
// gone may come back, and one that was a duplicate get a text of its own, while the pages that link to it
// stay as they are.
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
		w.Abandon()
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
		if of != 0 && of != nowhere {
			w.Alias(Alias{Doc: vocab.DocID(doc), Of: vocab.DocID(of)})
		}
	}
	for doc, of := range s.canon {
		if of == nowhere {
			w.Drop(vocab.DocID(doc))
		}
	}
	for _, doc := range slices.Sorted(maps.Keys(s.hidden)) {
		w.Hide(doc)
	}
	for source, err := range s.Written() {
		if err != nil {
			return err
		}
		w.Links(source)
	}
	for a, err := range s.ownAnchors(everything) {
		if err != nil {
			return err
		}
		if len(a.Texts) > 0 {
			w.Anchors(a)
		}
	}
	return nil
}
