package pagerank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

// A diskGraph is a graph that is larger than memory, laid out as [blocks] are: in pieces, each with
// the places of its links, and with room for what the sources that it wants give. A piece is also a
// range of sources: what it gives to each other piece is one section of that piece's room.
// So an iteration reads the places from front to end, and reads and writes a value for each source
// and piece: 4 bytes a link, and about 16 bytes for each three links of a web.
//
// In memory are a piece for each worker and where the sections begin: 4 bytes for each two pieces.
// All files are scratch: they are native to the machine and gone with the process.
type diskGraph struct {
	nodes, links int
	pieces       []diskPiece
	sources      *os.File // each as a piece and its place, by piece: what diskPiece says
	wanted       *os.File // the nodes that give, by piece that gives and then by piece that wants
	out          *os.File // links that leave each node, uint32
	fingerprint  uint64
}

// A diskPiece is a range of targets with the place of its parts in the files.
type diskPiece struct {
	from, to uint32
	links    int
	runs     int
	layout   int64    // order, places, runs in sources: 4, 4 and 12 bytes each
	heard    int64    // the first value of its room, in values
	cuts     []uint32 // the section of what piece i gives begins at cuts[i]
	gives    int64    // the first node in wanted that it gives for, in nodes
	giving   int      // and how many
}

// maxDiskPieces bounds the sections, of which there are as many as pairs of pieces.
const maxDiskPieces = 2048

// diskWork is the size of a piece in links and nodes, so that each worker has room for one within
// the budget: 24 bytes for each while it is laid out.
func diskWork(links, nodes int, memory int64, workers int) uint64 {
	work := min(1<<20, memory/int64(24*workers))
	return uint64(max(work, 1<<10, int64(links+nodes)/maxDiskPieces))
}

// newDiskGraph lays out links, whose nodes seen numbers, if it is not nil. It closes the store.
func newDiskGraph(ctx context.Context, store *linkStore, nodes int, seen *idSet, workers int) (_ *diskGraph, err error) {
	defer store.close()
	if err := store.spill(); err != nil {
		return nil, err
	}
	if err := store.disk.out.Flush(); err != nil {
		return nil, fmt.Errorf("pagerank: write links: %w", err)
	}
	l := &diskLayout{diskGraph: &diskGraph{nodes: nodes}, ctx: ctx, raw: store.disk.file, dir: store.dir, total: store.links, selfLinks: store.selfLinks, seen: seen, workers: workers, memory: store.memory}
	defer l.close()
	defer func() {
		if err != nil {
			l.diskGraph.close()
		}
	}()
	for _, step := range []func() error{l.count, l.distribute, l.layOut, l.turn} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return l.diskGraph, nil
}

func (g *diskGraph) close() {
	for _, f := range []*os.File{g.sources, g.wanted, g.out} {
		if f != nil {
			f.Close()
		}
	}
}

// binBits is the size of the ranges that targets are counted by: pieces begin at multiples of it.
const binBits = 8

// A diskLayout is the work on a diskGraph.
type diskLayout struct {
	*diskGraph
	ctx       context.Context // of this work alone
	raw       *os.File        // links as they came
	dir       string
	total     int  // links in raw
	selfLinks bool // of them may be some
	seen      *idSet
	workers   int
	memory    int64

	bins    []uint32 // links to each range of 2^binBits targets; then its piece
	begins  []int64  // of the links to each piece in sorted, in links
	sorted  *os.File // links by piece
	unsent  *os.File // wanted by the piece that wants
	amounts *os.File // how many links each of unsent has to the piece
}

func (l *diskLayout) close() {
	for _, f := range []*os.File{l.sorted, l.unsent, l.amounts} {
		if f != nil {
			f.Close()
		}
	}
}

// chunkLinks is how many links are read at once.
const chunkLinks = 1 << 14

type link struct{ source, target uint32 }

// chunks calls do with all links of a range of a file, some at a time.
func chunks(f *os.File, from, to int64, room []link, do func([]link) error) error {
	for from < to {
		some := room[:min(int64(len(room)), to-from)]
		if err := readAt(f, some, from); err != nil {
			return err
		}
		if err := do(some); err != nil {
			return err
		}
		from += int64(len(some))
	}
	return nil
}

// eachRaw has workers read the links as they came, with the numbers of nodes.
func (l *diskLayout) eachRaw(do func(worker int, links []link) error) error {
	rooms := make([][]link, l.workers)
	n := (l.total + chunkLinks - 1) / chunkLinks
	return l.share(n, func(worker, i int) error {
		if rooms[worker] == nil {
			rooms[worker] = make([]link, chunkLinks)
		}
		from := int64(i) * chunkLinks
		return chunks(l.raw, from, min(from+chunkLinks, int64(l.total)), rooms[worker], func(links []link) error {
			if l.seen != nil {
				for j, k := range links {
					links[j] = link{l.seen.rank(k.source), l.seen.rank(k.target)}
				}
			}
			return do(worker, links)
		})
	})
}

func (l *diskLayout) share(n int, do func(worker, i int) error) error {
	return shareErr(l.ctx, l.workers, n, do)
}

// shareErr is share until something fails or the context ends.
func shareErr(ctx context.Context, workers, n int, do func(worker, i int) error) error {
	errs := make([]error, workers)
	var failed atomic.Bool
	share(workers, n, func(worker, i int) {
		if failed.Load() || ctx.Err() != nil {
			return
		}
		if errs[worker] = do(worker, i); errs[worker] != nil {
			failed.Store(true)
		}
	})
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("pagerank: graph on disk: %w", err)
	}
	return ctx.Err()
}

// count cuts the targets into pieces.
func (l *diskLayout) count() error {
	counts := make([][]uint32, l.workers)
	err := l.eachRaw(func(worker int, links []link) error {
		if counts[worker] == nil {
			counts[worker] = make([]uint32, l.nodes>>binBits+1)
		}
		for _, k := range links {
			counts[worker][k.target>>binBits]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.bins = make([]uint32, l.nodes>>binBits+1)
	work := diskWork(l.total, l.nodes, l.memory, l.workers)
	from, begin, done := uint32(0), int64(0), int64(0)
	for bin := range l.bins {
		to := min(uint32(bin+1)<<binBits, uint32(l.nodes))
		for _, c := range counts {
			if c != nil {
				done += int64(c[bin])
			}
		}
		l.bins[bin] = uint32(len(l.pieces))
		if uint64(done-begin)+uint64(to-from) >= work || bin == len(l.bins)-1 {
			l.pieces = append(l.pieces, diskPiece{from: from, to: to})
			l.begins = append(l.begins, begin)
			from, begin = to, done
		}
	}
	l.begins = append(l.begins, done)
	return nil
}

// distribute sorts the links by piece.
func (l *diskLayout) distribute() (err error) {
	if l.sorted, err = scratch(l.dir); err != nil {
		return err
	}
	next := make([]atomic.Int64, len(l.pieces))
	for i := range next {
		next[i].Store(l.begins[i])
	}
	flush := func(piece uint32, links []link) error {
		n := int64(len(links))
		return writeAt(l.sorted, links, next[piece].Add(n)-n)
	}
	room := max(64, min(4096, int(l.memory)/8/l.workers/8/len(l.pieces)))
	buffers := make([][][]link, l.workers)
	err = l.eachRaw(func(worker int, links []link) error {
		if buffers[worker] == nil {
			buffers[worker] = make([][]link, len(l.pieces))
		}
		for _, k := range links {
			piece := l.bins[k.target>>binBits]
			b := buffers[worker][piece]
			if b == nil {
				b = make([]link, 0, room)
			}
			b = append(b, k)
			if len(b) == room {
				if err := flush(piece, b); err != nil {
					return err
				}
				b = b[:0]
			}
			buffers[worker][piece] = b
		}
		return nil
	})
	for _, pieces := range buffers {
		for piece, b := range pieces {
			err = cmp.Or(err, flush(uint32(piece), b))
		}
	}
	return err
}

// A pieceMaker is what one worker lays pieces out with.
type pieceMaker struct {
	placer  placer
	room    []link
	graph   Graph // of the targets of the piece alone, numbered from 0
	places  []uint32
	amounts []uint32 // how many links have each place
	out     []uint32 // of them, those that leave targets of the piece
}

// layOut makes the pieces.
func (l *diskLayout) layOut() (err error) {
	for _, f := range []**os.File{&l.sources, &l.unsent, &l.amounts, &l.diskGraph.out} {
		if *f, err = scratch(l.dir); err != nil {
			return err
		}
	}
	var layout, heard, links atomic.Int64
	hashes := make([]uint64, len(l.pieces))
	makers := make([]pieceMaker, l.workers)
	err = l.share(len(l.pieces), func(worker, i int) error {
		m, d := &makers[worker], &l.pieces[i]
		if err := l.gather(m, i); err != nil {
			return err
		}
		g := &m.graph
		g.selfLinks = l.selfLinks
		p := piece{to: d.to - d.from, places: m.places}
		if m.placer.set == nil {
			m.placer.set = make([]placed, l.nodes>>6+1)
		}
		p.arrange(g, d.from, nil)
		m.placer.first, m.placer.positions = d.from, sized(m.placer.positions, len(p.order))
		p.positions(m.placer.positions)
		p.want(g, &m.placer, nil)
		p.fill(g, &m.placer, nil)
		m.places = p.places
		d.links, d.runs = len(g.sources), len(p.runs)
		links.Add(int64(d.links))
		size := int64(4*len(p.order) + 12*len(p.runs) + 4*len(m.places))
		d.layout = layout.Add(size) - size
		d.heard = heard.Add(int64(len(p.wanted))) - int64(len(p.wanted))
		d.cut(p.wanted, l.pieces)
		m.amounts = sized(m.amounts, len(p.order)+len(p.wanted))
		clear(m.amounts)
		for _, place := range m.places {
			m.amounts[place]++
		}
		m.out = sized(m.out, len(p.order))
		for i, t := range p.order {
			m.out[t] = m.amounts[i]
		}
		others := m.amounts[len(p.order):]
		hashes[i] = hashOf(p.order, m.places, p.wanted)
		return cmp.Or(l.writeLayout(d, &p, m.places), writeAt(l.unsent, p.wanted, d.heard), writeAt(l.amounts, others, d.heard), writeAt(l.diskGraph.out, m.out, int64(d.from)))
	})
	l.diskGraph.links = int(links.Load())
	l.fingerprint = hashOf(hashes)
	l.sorted.Close() // its room on disk is free for the rest
	l.sorted = nil
	return err
}

func (l *diskLayout) writeLayout(d *diskPiece, p *piece, places []uint32) error {
	at := d.layout
	for _, part := range [][]uint32{p.order, places} {
		if err := writeBytes(l.sources, part, at); err != nil {
			return err
		}
		at += int64(4 * len(part))
	}
	return writeBytes(l.sources, p.runs, at)
}

// cut finds where the sections of what each piece gives begin.
func (d *diskPiece) cut(wanted []uint32, pieces []diskPiece) {
	d.cuts = make([]uint32, len(pieces)+1)
	for i := range pieces {
		at, _ := slices.BinarySearch(wanted[d.cuts[i]:], pieces[i].to)
		d.cuts[i+1] = d.cuts[i] + uint32(at)
	}
}

// gather makes the graph of the targets of a piece.
func (l *diskLayout) gather(m *pieceMaker, i int) error {
	d := &l.pieces[i]
	from, to := l.begins[i], l.begins[i+1]
	if m.room == nil {
		m.room = make([]link, chunkLinks)
	}
	n, g := int(d.to-d.from), &m.graph
	g.out = sized(g.out, n) // where the next source of each target goes
	g.first = sized(g.first, n+1)
	clear(g.first)
	err := chunks(l.sorted, from, to, m.room, func(links []link) error {
		for _, k := range links {
			g.first[k.target-d.from+1]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	for t := range n {
		g.out[t] = uint32(g.first[t])
		g.first[t+1] += g.first[t]
	}
	g.sources = sized(g.sources, int(to-from))
	err = chunks(l.sorted, from, to, m.room, func(links []link) error {
		for _, k := range links {
			at := &g.out[k.target-d.from]
			g.sources[*at] = k.source
			*at++
		}
		return nil
	})
	kept := g.collapse(0, n)
	g.first[n] = kept
	g.sources = g.sources[:kept]
	return err
}

// turn writes the wanted nodes by the piece that gives, and counts the links that leave each node.
func (l *diskLayout) turn() (err error) {
	if l.wanted, err = scratch(l.dir); err != nil {
		return err
	}
	at := int64(0)
	for i := range l.pieces {
		d := &l.pieces[i]
		d.gives = at
		for j := range l.pieces {
			d.giving += l.pieces[j].section(i)
		}
		at += int64(d.giving)
	}
	rooms := make([]struct{ wanted, amounts, out []uint32 }, l.workers)
	return l.share(len(l.pieces), func(worker, i int) error {
		d, room := &l.pieces[i], &rooms[worker]
		room.wanted = sized(room.wanted, d.giving)
		room.out = sized(room.out, int(d.to-d.from))
		if err := readAt(l.diskGraph.out, room.out, int64(d.from)); err != nil {
			return err
		}
		done := 0
		for j := range l.pieces {
			other := &l.pieces[j]
			n := other.section(i)
			wanted := room.wanted[done : done+n]
			done += n
			room.amounts = sized(room.amounts, n)
			begin := other.heard + int64(other.cuts[i])
			if err := cmp.Or(readAt(l.unsent, wanted, begin), readAt(l.amounts, room.amounts, begin)); err != nil {
				return err
			}
			for k, node := range wanted {
				room.out[node-d.from] += room.amounts[k]
			}
		}
		return cmp.Or(writeAt(l.wanted, room.wanted, d.gives), writeAt(l.diskGraph.out, room.out, int64(d.from)))
	})
}

// section is how many values a piece hears from piece i.
func (d *diskPiece) section(i int) int { return int(d.cuts[i+1] - d.cuts[i]) }

// wants is how many values a piece hears.
func (d *diskPiece) wants() int { return int(d.cuts[len(d.cuts)-1]) }

// plainOld is what is written as it lies in memory: scratch is read by the process that wrote it.
type plainOld interface {
	link | equals | uint32 | uint64 | float32 | float64
}

func bytesOf[T plainOld](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), uintptr(len(values))*unsafe.Sizeof(values[0]))
}

// readAt and writeAt count in values, readBytes and writeBytes in bytes.
func readAt[T plainOld](f io.ReaderAt, values []T, at int64) error {
	var value T
	return readBytes(f, values, at*int64(unsafe.Sizeof(value)))
}

func writeAt[T plainOld](f io.WriterAt, values []T, at int64) error {
	var value T
	return writeBytes(f, values, at*int64(unsafe.Sizeof(value)))
}

func readBytes[T plainOld](f io.ReaderAt, values []T, at int64) error {
	if len(values) == 0 {
		return nil
	}
	_, err := f.ReadAt(bytesOf(values), at)
	return err
}

func writeBytes[T plainOld](f io.WriterAt, values []T, at int64) error {
	if len(values) == 0 {
		return nil
	}
	_, err := f.WriteAt(bytesOf(values), at)
	return err
}

func hashOf[T plainOld](all ...[]T) uint64 {
	h := xxhash.New()
	for _, values := range all {
		h.Write(bytesOf(values)) // never fails
	}
	return h.Sum64()
}
