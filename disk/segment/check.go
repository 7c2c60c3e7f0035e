package segment

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"anatomy/vocab"
	"anatomy/weburl"
	"anatomy/words"
)

// Check reads all of a segment and proves it whole: every block's checksum, documents in the order of
// their keys and equal to the columns, words and ordinals ascending, totals true, each impact the
// Impact of its hits, block and list maxima the largest in them, the short list exactly the
// projection of the full one, and nothing in the files of lists that no list holds.
func Check(dir string) error {
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
	if avg := averageWords(s.lengths); avg != s.totals.avgWords {
		return s.wrap(fmt.Errorf("average length %g, the totals say %g", avg, s.totals.avgWords))
	}
	if err := s.checkLists(); err != nil {
		return err
	}
	return errors.Join(s.wrapFile(postingsFile, s.postings.checkAll()), s.wrapFile(hitsFile, s.hits.checkAll()), s.wrapFile(textsFile, s.texts.checkAll()))
}

func (s *Segment) checkDocs() error {
	last, next := "", 0
	var tokenizer words.Tokenizer
	err := s.EachDoc(func(ord vocab.Ordinal, info vocab.DocInfo) error {
		u, err := weburl.Parse(info.URL)
		if err != nil {
			return s.wrap(fmt.Errorf("document %q: %w", info.URL, err))
		}
		if s.Depth(ord) != min(u.Depth(), math.MaxUint8) {
			return s.wrap(fmt.Errorf("document %d (%s): its depth is not %d", ord, info.URL, s.Depth(ord)))
		}
		if title := titleOf(&tokenizer, info.Title); s.Title(ord) != title {
			return s.wrap(fmt.Errorf("document %d (%s): its title has words and letters %d, the column says %d", ord, info.URL, title, s.Title(ord)))
		}
		key := u.Key()
		if host := hostOf(key); s.Host(ord) != host {
			return s.wrap(fmt.Errorf("document %d: its host is %q, the column says %q", ord, host, s.Host(ord)))
		}
		if s.langs[ord] != LanguageOf(info.Lang) {
			return s.wrap(fmt.Errorf("document %d (%s): its language is %q, the column says another", ord, info.URL, info.Lang))
		}
		if key < last {
			return s.wrap(fmt.Errorf("document %d (%s) is out of order", ord, info.URL))
		}
		if next < len(s.blocks) && s.blocks[next].first == ord {
			if s.blocks[next].key != key {
				return s.wrap(fmt.Errorf("document %d: its key is %q, the directory says %q", ord, key, s.blocks[next].key))
			}
			next++
		}
		last = key
		return nil
	})
	if err != nil {
		return err
	}
	docs := slices.Concat(s.docIDs, s.removed)
	slices.Sort(docs)
	for i := 1; i < len(docs); i++ {
		if docs[i] == docs[i-1] {
			return s.wrap(fmt.Errorf("document ID %d comes twice", docs[i]))
		}
	}
	return s.checkKeys(kindDocs, len(s.blocks))
}

// checkKeys counts the keys of a kind.
func (s *Segment) checkKeys(kind byte, want int) error {
	it, err := s.keysOf(kind)
	if err != nil {
		return s.wrap(err)
	}
	defer it.Close()
	n := 0
	for it.next() {
		n++
	}
	if err := it.Error(); err != nil {
		return s.wrap(err)
	}
	if n != want {
		return s.wrap(fmt.Errorf("%d keys of kind %c, there should be %d", n, kind, want))
	}
	return nil
}

// A checkedList is one of the two scans of checkLists, with what it met.
type checkedList struct {
	*Scan
	seg    *Segment
	last   int64
	df     int
	hits   uint64
	max    uint8
	words  uint64
	totals [2]uint64 // postings, hits
}

// A filled tells how far the lists that were met fill the files, which they do in the order of words, the full
// list of a word before its short one.
type filled struct{ postings, hits uint64 }

// checkLists walks both lists at once: the short one comes along where the full one has its hits.
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
	f := filled{uint64(len(fileMagic)), uint64(len(fileMagic))}
	shortWord := short.nextWord()
	for full.nextWord() {
		has := shortWord && bytes.Equal(short.Word(), full.Word())
		if err := full.compare(short, has); err != nil {
			return err
		}
		if err := f.add(full); err != nil {
			return err
		}
		if has {
			if err := short.endWord(); err != nil {
				return err
			}
			if err := f.add(short); err != nil {
				return err
			}
			shortWord = short.nextWord()
		}
	}
	if err := cmp.Or(full.Err(), short.Err()); err != nil {
		return err
	}
	if shortWord {
		return short.fault("the word is not in the full list")
	}
	if f.postings != s.postings.end || f.hits != s.hits.end {
		return s.wrap(fmt.Errorf("lists fill %d and %d bytes of files of %d and %d", f.postings, f.hits, s.postings.end, s.hits.end))
	}
	return errors.Join(full.end(), short.end())
}

func (f *filled) add(c *checkedList) error {
	e := &c.list.entry
	if e.inside != nil {
		return nil
	}
	if e.postings.at != f.postings || e.hitsAt.at != f.hits {
		return c.fault("it lies at %d and %d of the files, not at %d and %d", e.postings.at, e.hitsAt.at, f.postings, f.hits)
	}
	f.postings += e.postings.n
	f.hits += e.hitsAt.n
	return nil
}

// compare walks the postings of a word, and those of its short list beside them.
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
	if err := c.endWord(); err != nil {
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

func (c *checkedList) nextWord() bool {
	if !c.NextWord() {
		return false
	}
	c.last, c.df, c.hits, c.max = -1, 0, 0, 0
	c.words++
	return true
}

// posting checks the current posting and gives its hits.
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
		return nil, c.fault("document %d has the impact %d, its hits give %d", ord, c.Impact(), want)
	}
	if p := &c.list; !p.inside() && p.i == 0 {
		if err := c.block(p); err != nil {
			return nil, err
		}
	}
	c.df++
	c.hits += uint64(len(hits))
	c.max = max(c.max, c.Impact())
	return hits, nil
}

// block checks what the directory says of the current block.
func (c *checkedList) block(p *Postings) error {
	p.unpackImpacts()
	if got, want := p.directory.max(p.at), slices.Max(p.impacts[:p.n]); got != want {
		return c.fault("block %d has the largest impact %d, the directory says %d", p.at, want, got)
	}
	run := p.at / topBlocks
	if got, want := p.directory.tops[run], p.directory.highest(run, p.entry.blocks()); got != want {
		return c.fault("run %d of blocks has the largest impact %d, the directory says %d", run, want, got)
	}
	return nil
}

// highest is the largest impact of a run of blocks, block by block.
func (d *directory) highest(run, blocks int) (highest uint8) {
	for i := run * topBlocks; i < min((run+1)*topBlocks, blocks); i++ {
		highest = max(highest, d.max(i))
	}
	return highest
}

func (c *checkedList) endWord() error {
	if err := c.Err(); err != nil {
		return err
	}
	if e := &c.list.entry; c.df != e.df || c.hits != e.hits || c.max != e.max {
		return c.fault("%d documents, %d hits, largest impact %d; the dictionary says %d, %d, %d", c.df, c.hits, c.max, e.df, e.hits, e.max)
	}
	c.totals[0] += uint64(c.df)
	c.totals[1] += c.hits
	return nil
}

// end compares with the totals, after the last word.
func (c *checkedList) end() error {
	t, list := &c.seg.totals, c.list.list
	if c.totals[0] != t.postings[list] || c.totals[1] != t.hits[list] || list == Full && c.words != t.different {
		return c.seg.wrap(fmt.Errorf("%s list: %d words, %d postings, %d hits; the totals say otherwise", list, c.words, c.totals[0], c.totals[1]))
	}
	return nil
}
