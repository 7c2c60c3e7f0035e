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
)

// Check reads all of a segment and proves it whole: every block's checksum, documents in the order of
// their keys and equal to the columns, words and ordinals ascending, totals true, each impact the
// Impact of its hits, block and list maxima the largest in them, the short list exactly the
// projection of the full one, and no hits without postings.
func Check(dir string) error {
	s, err := Open(dir, nil)
	if err != nil {
		return err
	}
	return errors.Join(s.check(), s.Close())
}

func (s *Segment) check() error {
	if err := s.checkDocs(); err != nil {
		return err
	}
	if avg := averageWords(s.lengths); avg != s.totals.avgWords {
		return s.wrap(fmt.Errorf("average length %g, the totals say %g", avg, s.totals.avgWords))
	}
	return s.checkLists()
}

func (s *Segment) checkDocs() error {
	last, next := "", 0
	err := s.EachDoc(func(ord vocab.Ordinal, info vocab.DocInfo) error {
		u, err := weburl.Parse(info.URL)
		if err != nil {
			return s.wrap(fmt.Errorf("document %q: %w", info.URL, err))
		}
		if s.Depth(ord) != min(u.Depth(), math.MaxUint8) {
			return s.wrap(fmt.Errorf("document %d (%s): its depth is not %d", ord, info.URL, s.Depth(ord)))
		}
		key := u.Key()
		if host := hostOf(key); s.Host(ord) != host {
			return s.wrap(fmt.Errorf("document %d: its host is %q, the column says %q", ord, host, s.Host(ord)))
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
	word   []byte
	last   int64
	df     int
	hits   uint64
	max    uint8
	words  uint64
	totals [2]uint64 // postings, hits
	chunks int       // with hits of their own
	at     *chunk
}

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
	shortWord := short.nextWord()
	for full.nextWord() {
		has := shortWord && bytes.Equal(short.word, full.word)
		if err := full.compare(short, has); err != nil {
			return err
		}
		if has {
			if err := short.endWord(); err != nil {
				return err
			}
			shortWord = short.nextWord()
		}
	}
	if err := cmp.Or(full.Err(), short.Err()); err != nil {
		return err
	}
	if shortWord {
		return s.damaged(Short, short.word, short.chunk.first, errors.New("the word is not in the full list"))
	}
	return errors.Join(full.end(), short.end())
}

// compare walks the postings of a word, and those of its short list beside them.
func (c *checkedList) compare(short *checkedList, has bool) error {
	var selected []vocab.Hit
	for c.next() {
		hits, err := c.posting()
		if err != nil {
			return err
		}
		if selected = appendShort(selected[:0], hits); len(selected) == 0 {
			continue
		}
		if !has || !short.next() || short.Ord() != c.Ord() {
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
	if has && short.next() {
		return short.fault("document %d is not in the full list", short.Ord())
	}
	return nil
}

func (c *checkedList) fault(format string, args ...any) error {
	return c.seg.damaged(c.list, c.word, c.chunk.first, fmt.Errorf(format, args...))
}

func (c *checkedList) nextWord() bool {
	if !c.NextWord() {
		return false
	}
	c.word = append(c.word[:0], c.Word()...)
	c.last, c.df, c.hits, c.max, c.at = -1, 0, 0, 0, nil
	c.words++
	return true
}

func (c *checkedList) next() bool { return c.Next() }

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
	if len(c.chunk.directory) > 0 && c.i == 0 {
		if got, want := c.chunk.maxOf(c.Scan.at), slices.Max(c.block.impacts[:c.block.n]); got != want {
			return nil, c.fault("block %d has the largest impact %d, the directory says %d", c.Scan.at, want, got)
		}
	}
	if len(c.table) > 0 && c.i == 0 && c.Scan.at == 0 {
		if got, want := c.table.max(c.number), c.chunk.highest(&c.block); got != want {
			return nil, c.fault("its largest impact is %d, the table of chunks says %d", want, got)
		}
	}
	c.df++
	c.hits += uint64(len(hits))
	c.max = max(c.max, c.Impact())
	return hits, nil
}

// highest is the largest impact of a chunk, of which one block is decoded.
func (c *chunk) highest(only *block) (highest uint8) {
	if len(c.directory) == 0 {
		return slices.Max(only.impacts[:only.n])
	}
	for i := range c.count() {
		highest = max(highest, c.maxOf(i))
	}
	return highest
}

func (c *checkedList) endWord() error {
	if err := c.Err(); err != nil {
		return err
	}
	if c.df != c.Scan.df || c.hits != c.Scan.total || c.max != c.Scan.max {
		return c.fault("%d documents, %d hits, largest impact %d; the first chunk says %d, %d, %d", c.df, c.hits, c.max, c.Scan.df, c.Scan.total, c.Scan.max)
	}
	c.totals[0] += uint64(c.df)
	c.totals[1] += c.hits
	return nil
}

// end compares with the totals, after the last word.
func (c *checkedList) end() error {
	t := &c.seg.totals
	if c.totals[0] != t.postings[c.list] || c.totals[1] != t.hits[c.list] || c.list == Full && c.words != t.different {
		return c.seg.wrap(fmt.Errorf("%s list: %d words, %d postings, %d hits; the totals say otherwise", c.list, c.words, c.totals[0], c.totals[1]))
	}
	if c.Scan.hits.next() {
		return c.seg.wrap(fmt.Errorf("%s list: hits of %q have no postings", c.list, c.Scan.hits.Key()))
	}
	return c.seg.wrap(c.Scan.hits.Error())
}
