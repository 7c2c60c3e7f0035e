package segment

import (
	"errors"
	"math"
	"slices"

	"anatomy/vocab"
)

// A listWriter codes the list of one word after the other. The postings of a word wait for its end, some 2 bytes
// a document, and so do the hits of a short list. Those of a full one go to their file as they come.
type listWriter struct {
	list     List
	put      func(word, entry []byte) error
	postings *fileWriter
	hitsFile *fileWriter

	// The block that is being filled.
	block  block
	counts [blockSize]uint32 // hits of each posting
	all    []vocab.Hit       // of all of them

	// The word.
	word      []byte
	entry     entry
	before    uint32 // last ordinal of the last full block
	directory directoryWriter
	blocks    []byte
	hits      []byte // not written yet
	written   uint64 // bytes of hits that are
	packer    hitPacker
	value     []byte
	inside    []byte

	stats ListStats
}

// hitsWait is how many bytes of hits of a full list wait before they are written.
const hitsWait = 64 << 10

func (l *listWriter) startWord(word []byte) {
	l.word = append(l.word[:0], word...)
	l.entry, l.before, l.written = entry{}, noOrdinal, 0
	l.directory.reset()
	l.blocks, l.hits = l.blocks[:0], l.hits[:0]
}

// add takes the next posting of the word.
func (l *listWriter) add(ord vocab.Ordinal, impact uint8, hits []vocab.Hit) error {
	b := &l.block
	l.all = append(l.all, hits...)
	l.counts[b.n], b.ordinals[b.n], b.impacts[b.n] = uint32(len(hits)), uint32(ord), impact
	b.n++
	l.entry.df++
	l.entry.hits += uint64(len(hits))
	l.entry.max = max(l.entry.max, impact)
	if b.n < blockSize {
		return nil
	}
	return l.closeBlock()
}

var errTooLong = errors.New("a list is over 4 GB long, without its hits")

func (l *listWriter) closeBlock() error {
	b := &l.block
	l.hits = l.packer.append(l.hits, l.counts[:b.n], l.all)
	l.blocks = appendBlock(l.blocks, b.ordinals[:b.n], b.impacts[:b.n], l.before)
	if len(l.blocks) > math.MaxUint32 {
		return errTooLong
	}
	l.before = b.ordinals[b.n-1]
	l.directory.add(l.before, slices.Max(b.impacts[:b.n]), uint64(len(l.blocks)), l.written+uint64(len(l.hits)))
	l.all, b.n = l.all[:0], 0
	if l.list == Full && len(l.hits) >= hitsWait {
		l.writeHits()
	}
	return nil
}

func (l *listWriter) writeHits() {
	l.hitsFile.write(l.hits)
	l.written += uint64(len(l.hits))
	l.hits = l.hits[:0]
}

// endWord writes the word's entry. A word without postings leaves nothing.
func (l *listWriter) endWord() error {
	e := &l.entry
	if e.df == 0 {
		return nil
	}
	if e.df < blockSize && l.fitsInside() {
		l.all, l.block.n = l.all[:0], 0
	} else {
		if l.block.n > 0 {
			if err := l.closeBlock(); err != nil {
				return err
			}
		}
		l.writeHits()
		e.hitsAt = extent{l.hitsFile.at - l.written, l.written}
		e.postings = extent{l.postings.at, uint64(len(l.directory.entries) + len(l.directory.tops) + len(l.blocks))}
		l.postings.write(l.directory.entries)
		l.postings.write(l.directory.tops)
		l.postings.write(l.blocks)
		l.stats.PostingBytes += int64(e.postings.n)
		l.stats.HitBytes += int64(e.hitsAt.n)
	}
	l.value = e.append(l.value[:0])
	l.stats.Words++
	l.stats.Postings += uint64(e.df)
	l.stats.Hits += e.hits
	l.stats.EntryBytes += int64(1 + len(l.word) + len(l.value))
	return l.put(l.word, l.value)
}

// fitsInside codes the list for the dictionary, if it is short enough.
func (l *listWriter) fitsInside() bool {
	b, e := &l.block, &l.entry
	dst := l.inside[:0]
	if b.n > 1 {
		dst = appendInside(dst, b.ordinals[:b.n])
	}
	e.first = b.ordinals[0]
	if dst = appendInlineHits(dst, l.counts[:b.n], l.all, len(dst)+inlineHits); dst == nil {
		return false
	}
	l.inside, e.inside = dst, dst
	return true
}
