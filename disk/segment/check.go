package segment

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"anatomy/analysis"
	"anatomy/disk/segment/internal/mapfile"
	"anatomy/disk/segment/internal/postings"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Check reads an entire segment. It verifies every checksum; that documents are in the order of
// their keys and equal to the columns; that terms and ordinals ascend; that each impact is the
// Impact of its hits, with the average length in the totals, and each maximum the largest impact;
// that each short list has exactly the hits of the full list that belong to it; that the totals are
// right; and that the lists fill their files. The error wraps [ErrLight] if the segment is light.
func Check(dir string) error {
	s, err := OpenWhole(dir, nil)
	if err != nil {
		return err
	}
	return errors.Join(Guard(s.check), s.Close())
}

// CheckLight is Check for a segment that may be light. Of a light one it checks documents, the
// entries of the dictionary and inline lists.
func CheckLight(dir string) error {
	s, err := Open(dir, nil)
	if err != nil {
		return err
	}
	return errors.Join(Guard(s.check), s.Close())
}

func (s *Segment) check() error {
	if err := s.checkDocs(); err != nil {
		return err
	}
	if own, avg := averageWords(s.lengths), s.totals.avgWords; avg != own && avg != math.Trunc(avg) {
		return s.wrap(fmt.Errorf("the average length %g of the totals is neither that of the documents, %g, nor a whole number", avg, own))
	}
	if s.Light() {
		return errors.Join(s.checkEntries(Full), s.checkEntries(Short))
	}
	if err := s.checkLists(); err != nil {
		return err
	}
	return errors.Join(s.checkFile(PostingsName, s.postings), s.checkFile(hitsFile, s.hits), s.checkFile(textsFile, s.texts.File))
}

func (s *Segment) checkFile(name string, f *mapfile.File) error {
	if err := f.CheckAll(); err != nil {
		return s.wrap(fmt.Errorf("file %s: %w", name, err))
	}
	return nil
}

func (s *Segment) checkDocs() error {
	last, next := "", 0
	var tokenizer analysis.Tokenizer
	err := s.eachHeld()(func(ord vocab.Ordinal, info vocab.DocInfo) error {
		u, err := weburl.Parse(info.URL)
		if err != nil {
			return s.wrap(fmt.Errorf("document %q: %w", info.URL, err))
		}
		if s.Depth(ord) != min(u.Depth(), math.MaxUint8) {
			return s.wrap(fmt.Errorf("document %d (%s): its depth is not %d", ord, info.URL, s.Depth(ord)))
		}
		if title := titleOf(&tokenizer, info.Title); s.Title(ord) != title && !s.OldTerms() {
			return s.wrap(fmt.Errorf("document %d (%s): its title has words and letters %d, the column has %d", ord, info.URL, title, s.Title(ord)))
		}
		key := u.Key()
		if host := hostOf(key); s.Host(ord) != host {
			return s.wrap(fmt.Errorf("document %d: its host is %q, the column has %q", ord, host, s.Host(ord)))
		}
		if s.languages[ord] != LanguageOf(info.Lang) {
			return s.wrap(fmt.Errorf("document %d (%s): its language is %q, the column has another", ord, info.URL, info.Lang))
		}
		if key < last {
			return s.wrap(fmt.Errorf("document %d (%s) is out of order", ord, info.URL))
		}
		if next < len(s.blocks) && s.blocks[next].first == ord {
			if s.blocks[next].key != key {
				return s.wrap(fmt.Errorf("document %d: its key is %q, the directory has %q", ord, key, s.blocks[next].key))
			}
			next++
		}
		last = key
		return nil
	})
	if err != nil {
		return err
	}
	docs := slices.Concat(s.docIDs, s.tombstones)
	slices.Sort(docs)
	for i := 1; i < len(docs); i++ {
		if docs[i] == docs[i-1] {
			return s.wrap(fmt.Errorf("document ID %d occurs twice", docs[i]))
		}
	}
	return s.checkKeys(kindDocs, len(s.blocks))
}

// checkKeys checks the number of keys of a kind.
func (s *Segment) checkKeys(kind byte, want int) error {
	n := 0
	if err := s.eachKey(kind, func(_, _ []byte) error { n++; return nil }); err != nil {
		return s.wrap(err)
	}
	if n != want {
		return s.wrap(fmt.Errorf("%d keys of kind %c, want %d", n, kind, want))
	}
	return nil
}

// A checkedList is one of the two scans of checkLists, with sums of what it read.
type checkedList struct {
	*Scan
	seg    *Segment
	last   int64
	df     int
	hits   uint64
	max    uint8
	terms  uint64
	totals [2]uint64 // postings, hits
}

// A filled has the offsets up to which the lists read so far fill the files. Lists are in the order
// of terms, the full list of a term before its short one.
type filled struct{ postings, hits uint64 }

// checkLists checks the full and the short list of each term together.
func (s *Segment) checkLists() error {
	var both [lists]*checkedList
	for l := range lists {
		scan, err := s.Scan(l)
		if err != nil {
			return err
		}
		defer scan.Close()
		both[l] = &checkedList{Scan: scan, seg: s}
	}
	full, short := both[Full], both[Short]
	f := filled{uint64(mapfile.HeaderSize), uint64(mapfile.HeaderSize)}
	hasShort := short.nextTerm()
	for full.nextTerm() {
		has := hasShort && bytes.Equal(short.Term(), full.Term())
		if err := full.compare(short, has); err != nil {
			return err
		}
		if err := f.Add(full); err != nil {
			return err
		}
		if has {
			if err := short.endTerm(); err != nil {
				return err
			}
			if err := f.Add(short); err != nil {
				return err
			}
			hasShort = short.nextTerm()
		}
	}
	if err := cmp.Or(full.Err(), short.Err()); err != nil {
		return err
	}
	if hasShort {
		return short.fault("the term has no full list")
	}
	if f.postings != s.postings.End() || f.hits != s.hits.End() {
		return s.wrap(fmt.Errorf("the lists end at %d and %d, their files at %d and %d", f.postings, f.hits, s.postings.End(), s.hits.End()))
	}
	return errors.Join(full.end(), short.end())
}

// checkEntries checks the entries of one kind of list in a light segment, and the inline lists.
func (s *Segment) checkEntries(list List) error {
	scan, err := s.Scan(list)
	if err != nil {
		return err
	}
	defer scan.Close()
	scan.skipsMissing = true
	c := &checkedList{Scan: scan, seg: s}
	for c.nextTerm() {
		for c.Next() {
			if _, err := c.posting(); err != nil {
				return err
			}
		}
		if e := &c.list.entry; !c.list.inline() {
			c.df, c.hits, c.max = e.DF, e.Hits, e.MaxImpact
		}
		if err := c.endTerm(); err != nil {
			return err
		}
	}
	if err := c.Err(); err != nil {
		return err
	}
	return c.end()
}

func (f *filled) Add(c *checkedList) error {
	e := &c.list.entry
	if e.Inline != nil {
		return nil
	}
	if e.Postings.Offset != f.postings || e.HitBytes.Offset != f.hits {
		return c.fault("it is at %d and %d of the files, not at %d and %d", e.Postings.Offset, e.HitBytes.Offset, f.postings, f.hits)
	}
	f.postings += e.Postings.Len
	f.hits += e.HitBytes.Len
	return nil
}

// compare compares the full and the short list of a term.
func (c *checkedList) compare(short *checkedList, has bool) error {
	var selected []vocab.Hit
	for c.Next() {
		hits, err := c.posting()
		if err != nil {
			return err
		}
		if selected = appendShort(selected[:0], hits); len(selected) == 0 {
			continue
		}
		if !has || !short.Next() || short.Ord() != c.Ord() {
			return c.fault("document %d is missing from the short list", c.Ord())
		}
		got, err := short.posting()
		if err != nil {
			return err
		}
		if !slices.Equal(got, selected) {
			return short.fault("document %d has %v, the full list has %v", c.Ord(), got, selected)
		}
	}
	if err := c.endTerm(); err != nil {
		return err
	}
	if has && short.Next() {
		return short.fault("document %d is not in the full list", short.Ord())
	}
	return nil
}

func (c *checkedList) fault(format string, args ...any) error {
	return c.list.damaged(fmt.Errorf(format, args...))
}

func (c *checkedList) nextTerm() bool {
	if !c.NextTerm() {
		return false
	}
	c.last, c.df, c.hits, c.max = -1, 0, 0, 0
	c.terms++
	return true
}

// posting checks the current posting and returns its hits.
func (c *checkedList) posting() ([]vocab.Hit, error) {
	hits, err := c.Hits()
	if err != nil {
		return nil, err
	}
	ord := c.Ord()
	if int64(ord) <= c.last || int(ord) >= c.seg.Docs() {
		return nil, c.fault("document %d is out of order", ord)
	}
	c.last = int64(ord)
	if want := Impact(hits, c.seg.Words(ord), c.seg.AvgWords()); c.Impact() != want {
		return nil, c.fault("document %d has the impact %d, its hits have %d", ord, c.Impact(), want)
	}
	if p := &c.list; !p.inline() && p.i == 0 {
		if err := c.checkBlock(p); err != nil {
			return nil, err
		}
	}
	c.df++
	c.hits += uint64(len(hits))
	c.max = max(c.max, c.Impact())
	return hits, nil
}

// checkBlock checks the maxima of the current block and of its group.
func (c *checkedList) checkBlock(p *PostingIterator) error {
	p.block.UnpackImpacts()
	if got, want := p.directory.BlockMax(p.at), slices.Max(p.block.Impacts[:p.block.N]); got != want {
		return c.fault("block %d has the largest impact %d, the directory has %d", p.at, want, got)
	}
	group := p.at / postings.GroupBlocks
	if got, want := p.directory.Groups[group], p.directory.GroupMax(group, p.entry.Blocks()); got != want {
		return c.fault("group %d of blocks has the largest impact %d, the directory has %d", group, want, got)
	}
	return nil
}

func (c *checkedList) endTerm() error {
	if err := c.Err(); err != nil {
		return err
	}
	if e := &c.list.entry; c.df != e.DF || c.hits != e.Hits || c.max != e.MaxImpact {
		return c.fault("%d documents, %d hits, largest impact %d; the dictionary has %d, %d, %d", c.df, c.hits, c.max, e.DF, e.Hits, e.MaxImpact)
	}
	c.totals[0] += uint64(c.df)
	c.totals[1] += c.hits
	return nil
}

// end compares the sums with the totals.
func (c *checkedList) end() error {
	t, list := &c.seg.totals, c.list.kind
	if c.totals[0] != t.postings[list] || c.totals[1] != t.hits[list] || list == Full && c.terms != t.terms {
		return c.seg.wrap(fmt.Errorf("%s lists: %d terms, %d postings, %d hits; the totals differ", list, c.terms, c.totals[0], c.totals[1]))
	}
	return nil
}
