package segment

import (
	"encoding/binary"

	"anatomy/vocab"
)

// A listWriter codes the list of one word after the other. Chunks of postings wait for the end of the
// word, since the first one tells its totals: some 2 bytes a document. Hits do not wait.
type listWriter struct {
	list    List
	set     func(kind byte, key, value []byte) error // key without its kind
	key     []byte
	keyStem int // of key: word 00

	// The block and the chunk that are being filled.
	block     block
	lengths   [blockSize]uint32
	blockHits []byte
	directory []byte
	blocks    []byte
	hits      []byte
	first     vocab.Ordinal // of the chunk
	n         int           // postings in the chunk, full blocks
	before    uint32        // last ordinal of the last full block
	chunkMax  uint8         // impact of its full blocks

	waiting []waitingChunk
	arena   []byte // of the waiting chunks

	// Totals of the word, and of all.
	df       int
	wordHits uint64
	max      uint8
	stats    ListStats
}

type waitingChunk struct {
	first    vocab.Ordinal
	n        int
	max      uint8
	from, to int // directory and blocks, in the arena
}

func (l *listWriter) startWord(word []byte) {
	l.key = append(append(l.key[:0], word...), 0)
	l.keyStem = len(l.key)
	l.df, l.wordHits, l.max = 0, 0, 0
	l.waiting, l.arena = l.waiting[:0], l.arena[:0]
}

// add takes the next posting of the word.
func (l *listWriter) add(ord vocab.Ordinal, impact uint8, hits []vocab.Hit) error {
	if l.n+l.block.n == 0 {
		l.first, l.before = ord, uint32(ord)-1
	}
	b := &l.block
	length := len(l.blockHits)
	l.blockHits = appendHits(l.blockHits, hits)
	l.lengths[b.n] = uint32(len(l.blockHits) - length)
	b.ordinals[b.n], b.impacts[b.n] = uint32(ord), impact
	b.n++
	l.df++
	l.wordHits += uint64(len(hits))
	l.max = max(l.max, impact)
	if b.n < blockSize {
		return nil
	}
	l.closeBlock()
	if len(l.blocks) < chunkPostings && len(l.hits) < chunkHits {
		return nil
	}
	return l.closeChunk()
}

func (l *listWriter) closeBlock() {
	b := &l.block
	ordinals, impacts := b.ordinals[:b.n], b.impacts[:b.n]
	if b.n == 1 {
		l.hits = append(l.hits, l.blockHits...)
	} else {
		l.hits = append(appendLengths(l.hits, l.lengths[:b.n]), l.blockHits...)
	}
	highest := uint8(0)
	for _, impact := range impacts {
		highest = max(highest, impact)
	}
	if l.n+b.n == 1 {
		l.blocks = append(l.blocks, impacts[0])
	} else {
		l.blocks = appendBlock(l.blocks, ordinals, impacts, l.before)
	}
	l.chunkMax = max(l.chunkMax, highest)
	l.before = ordinals[b.n-1]
	l.n += b.n
	l.directory = binary.LittleEndian.AppendUint32(l.directory, l.before)
	l.directory = append(l.directory, highest)
	l.directory = binary.LittleEndian.AppendUint16(l.directory, uint16(len(l.blocks)))
	l.directory = binary.LittleEndian.AppendUint32(l.directory, uint32(len(l.hits)))
	l.blockHits, b.n = l.blockHits[:0], 0
}

// closeChunk writes the hits of a chunk and lets its postings wait.
func (l *listWriter) closeChunk() error {
	if err := l.set(l.list.hitKind(), l.chunkKey(l.first), l.hits); err != nil {
		return err
	}
	l.stats.HitBytes += int64(len(l.hits))
	l.wait()
	return nil
}

func (l *listWriter) wait() {
	w := waitingChunk{first: l.first, n: l.n, max: l.chunkMax, from: len(l.arena)}
	if l.n > blockSize {
		l.arena = append(l.arena, l.directory...)
	}
	l.arena = append(l.arena, l.blocks...)
	w.to = len(l.arena)
	l.waiting = append(l.waiting, w)
	l.directory, l.blocks, l.hits, l.n, l.chunkMax = l.directory[:0], l.blocks[:0], l.hits[:0], 0, 0
}

func (l *listWriter) chunkKey(first vocab.Ordinal) []byte {
	l.key = binary.BigEndian.AppendUint32(l.key[:l.keyStem], uint32(first))
	return l.key
}

// endWord writes the waiting chunks. A word without postings leaves nothing.
func (l *listWriter) endWord() error {
	if l.df == 0 {
		return nil
	}
	if l.block.n > 0 {
		l.closeBlock()
	}
	var inside []byte
	if l.n > 0 {
		if len(l.waiting) == 0 && l.n <= blockSize && len(l.hits) <= inlineHits {
			inside = l.hits
			l.stats.HitBytes += int64(len(inside))
			l.wait()
		} else if err := l.closeChunk(); err != nil {
			return err
		}
	}
	for i, w := range l.waiting {
		if err := l.write(i, w, inside); err != nil {
			return err
		}
	}
	l.stats.Words++
	l.stats.Postings += uint64(l.df)
	l.stats.Hits += l.wordHits
	return nil
}

func (l *listWriter) write(i int, w waitingChunk, inside []byte) error {
	flags := byte(0)
	if i == 0 {
		flags |= firstChunk
	}
	if i == len(l.waiting)-1 {
		flags |= lastChunk
	}
	if len(inside) > 0 {
		flags |= hitsInside
	}
	// The hits' memory is free again, its content is not: inside may lie in it, so the value is put
	// together behind it.
	value := append(l.blockHits[:0], flags)
	value = binary.AppendUvarint(value, uint64(w.n))
	if i == 0 {
		if len(l.waiting) > 1 {
			value = binary.AppendUvarint(value, uint64(l.df))
		}
		value = binary.AppendUvarint(value, l.wordHits)
		if w.n > 1 {
			value = append(value, l.max)
		}
		if len(l.waiting) > 1 {
			value = l.appendTable(value)
		}
	}
	value = append(value, l.arena[w.from:w.to]...)
	l.stats.PostingBytes += int64(len(value) + len(l.chunkKey(w.first)) + 1)
	value = append(value, inside...)
	l.blockHits = value[:0]
	return l.set(l.list.postingKind(), l.chunkKey(w.first), value)
}

// appendTable tells where the chunks of the word begin and what impacts they reach.
func (l *listWriter) appendTable(value []byte) []byte {
	value = binary.AppendUvarint(value, uint64(len(l.waiting)))
	for _, w := range l.waiting {
		value = append(binary.LittleEndian.AppendUint32(value, uint32(w.first)), w.max)
	}
	return value
}
