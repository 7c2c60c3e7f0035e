package segment

import (
	"errors"
	"math"
	"slices"

	"anatomy/disk/segment/internal/mapfile"
	"anatomy/disk/segment/internal/postings"
	"anatomy/vocab"
)

// A listWriter writes the lists of one kind, term by term. It holds the postings of the current
// term in memory, about 2 bytes per posting, and its pending hits: all hits of a short list, and
// the last 64 KB of a full one.
type listWriter struct {
	list     List
	entries  dictionaryWriter
	postings *mapfile.Writer
	hitsFile *mapfile.Writer

	// The current block.
	block  postings.Block
	counts [postings.BlockSize]uint32 // number of hits by posting
	all    []vocab.Hit                // hits of all postings

	// The current term.
	term      []byte
	entry     postings.Entry
	before    uint32 // last ordinal of the last full block
	directory postings.DirectoryWriter
	blocks    []byte
	hits      []byte // pending bytes
	written   uint64 // number of bytes of hits written
	packer    postings.HitPacker
	value     []byte
	inline    []byte

	stats ListStats
}

// maxPendingHits is the size in bytes at which the pending hits of a full list are written.
const maxPendingHits = 64 << 10

func (l *listWriter) startTerm(term []byte) {
	l.term = append(l.term[:0], term...)
	l.entry, l.before, l.written = postings.Entry{}, postings.NoOrdinal, 0
	l.directory.Reset()
	l.blocks, l.hits = l.blocks[:0], l.hits[:0]
}

// add adds the next posting of the term.
func (l *listWriter) add(ord vocab.Ordinal, impact uint8, hits []vocab.Hit) error {
	b := &l.block
	l.all = append(l.all, hits...)
	l.counts[b.N], b.Ordinals[b.N], b.Impacts[b.N] = uint32(len(hits)), uint32(ord), impact
	b.N++
	l.entry.DF++
	l.entry.Hits += uint64(len(hits))
	l.entry.MaxImpact = max(l.entry.MaxImpact, impact)
	if b.N < postings.BlockSize {
		return nil
	}
	return l.closeBlock()
}

var errTooLong = errors.New("the postings of a list are over 4 GB long")

func (l *listWriter) closeBlock() error {
	b := &l.block
	l.hits = l.packer.Append(l.hits, l.counts[:b.N], l.all)
	l.blocks = postings.AppendBlock(l.blocks, b.Ordinals[:b.N], b.Impacts[:b.N], l.before)
	if len(l.blocks) > math.MaxUint32 {
		return errTooLong
	}
	l.before = b.Ordinals[b.N-1]
	l.directory.Add(l.before, slices.Max(b.Impacts[:b.N]), uint64(len(l.blocks)), l.written+uint64(len(l.hits)))
	l.all, b.N = l.all[:0], 0
	if l.list == Full && len(l.hits) >= maxPendingHits {
		l.writeHits()
	}
	return nil
}

func (l *listWriter) writeHits() {
	l.hitsFile.Write(l.hits)
	l.written += uint64(len(l.hits))
	l.hits = l.hits[:0]
}

// endTerm writes the list and its dictionary entry. It writes nothing for a term without postings.
func (l *listWriter) endTerm() error {
	e := &l.entry
	if e.DF == 0 {
		return nil
	}
	if e.DF < postings.BlockSize && l.encodeInline() {
		l.all, l.block.N = l.all[:0], 0
	} else if err := l.writeList(); err != nil {
		return err
	}
	l.value = e.Append(l.value[:0])
	l.stats.Terms++
	l.stats.Postings += uint64(e.DF)
	l.stats.Hits += e.Hits
	l.stats.EntryBytes += int64(1 + len(l.term) + len(l.value))
	return l.entries.add(l.term, l.value)
}

// encodeInline encodes the list for the dictionary. It reports whether the list is short enough.
func (l *listWriter) encodeInline() bool {
	b, e := &l.block, &l.entry
	dst := l.inline[:0]
	if b.N > 1 {
		dst = postings.AppendInlineOrdinals(dst, b.Ordinals[:b.N])
	}
	e.First = b.Ordinals[0]
	dst = postings.AppendInlineHits(dst, l.counts[:b.N], l.all, len(dst)+postings.MaxInlineHits)
	if dst == nil {
		return false
	}
	l.inline, e.Inline = dst, dst
	return true
}

// writeList writes the list to the files.
func (l *listWriter) writeList() error {
	if l.block.N > 0 {
		if err := l.closeBlock(); err != nil {
			return err
		}
	}
	l.writeHits()
	e := &l.entry
	e.HitBytes = mapfile.Extent{Offset: l.hitsFile.Offset() - l.written, Len: l.written}
	e.Postings.Offset = l.postings.Offset()
	for _, part := range [][]byte{l.directory.Entries, l.directory.Groups, l.blocks} {
		l.postings.Write(part)
	}
	e.Postings.Len = l.postings.Offset() - e.Postings.Offset
	l.stats.PostingBytes += int64(e.Postings.Len)
	l.stats.HitBytes += int64(e.HitBytes.Len)
	return nil
}
