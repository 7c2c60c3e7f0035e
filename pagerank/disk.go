package pagerank

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"unsafe"
)

// A diskGraph is a graph that exceeds memory, laid out in pieces. Each piece has the slots of its links,
// and an area for the contributions of its remote nodes: those of other pieces that link into it. The
// table of a piece is its own nodes by position, and then the remote ones. A piece is also a range of
// sources, whose contributions to each other piece are one section of the area of that piece. This is
// propagation blocking (Beamer, Asanović, Patterson, IPDPS 2017) with one value for a source and a piece
// instead of one for an edge (Lakhotia, Kannan, Prasanna, USENIX ATC 2018). So an iteration reads the
// slots from front to end and writes and reads a value for each source and piece: 4 bytes a link, and on
// the web about 16 bytes for three links.
//
// Memory has a piece for each worker, and where the sections begin: 4 bytes for each pair of pieces.
// All files are scratch files in the byte order of the machine, and vanish with the process.
type diskGraph struct {
	nodes, links int
	pieces       []diskPiece
	sources      *os.File // order, slots and runs by piece, see diskPiece.layout
	remote       *os.File // remote nodes, by their own piece and then by the piece that they link to
	out          *os.File // out-degree of each node, uint32
}

// A diskPiece is a range of targets, with the offsets of its parts in the files.
type diskPiece struct {
	from, to uint32
	links    int
	runs     int
	layout   int64    // offset in sources of order, slots and runs: 4, 4 and runBytes each
	remoteAt int64    // where its area begins, in values
	cuts     []uint32 // the section of source piece i begins at cuts[i]
	outAt    int64    // its first node in diskGraph.remote, in nodes
	outCount int      // number of its nodes there
}

// runBytes is the size of a run.
const runBytes = int(unsafe.Sizeof(targetRun{}))

// maxDiskPieces bounds the memory for sections, of which each pair of pieces has one.
const maxDiskPieces = 2048

// diskWork returns the size of a piece in links plus nodes, so that one for each worker fits the
// budget: 24 bytes for each while it is laid out.
func diskWork(links, nodes int, memory int64, workers int) uint64 {
	work := min(1<<20, memory/int64(24*workers))
	return uint64(max(work, 1<<10, int64(links+nodes)/maxDiskPieces))
}

// newDiskGraph lays out the graph of a store, which it closes. If seen is not nil, it maps the
// nodes of the links to those of the graph.
func newDiskGraph(
	ctx context.Context, store *linkStore, nodes int, seen *idSet, workers int,
) (_ *diskGraph, err error) {
	defer store.close()
	if err := store.spill(); err != nil {
		return nil, err
	}
	if err := store.disk.out.Flush(); err != nil {
		return nil, fmt.Errorf("write links: %w", err)
	}
	l := &diskLayout{
		diskGraph: &diskGraph{nodes: nodes}, ctx: ctx, raw: store.disk.file, dir: store.dir, total: store.links,
		selfLinks: store.selfLinks, seen: seen, workers: workers, memory: store.memory,
	}
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
	for _, f := range []*os.File{g.sources, g.remote, g.out} {
		if f != nil {
			f.Close()
		}
	}
}

// rangeBits is the size of the ranges of targets that are counted; pieces consist of ranges.
const rangeBits = 8

// A diskLayout is a diskGraph under construction.
type diskLayout struct {
	*diskGraph
	ctx       context.Context // of newDiskGraph
	raw       *os.File        // links in the order in which they came
	dir       string
	total     int  // number of links in raw
	selfLinks bool // links may lead from a node to itself
	seen      *idSet
	workers   int
	memory    int64

	ranges  []uint32 // of each range of 2^rangeBits targets, the number of its piece
	begins  []int64  // where the links to each piece begin in sorted, in links
	sorted  *os.File // links by piece of the target
	unsent  *os.File // remote nodes by the piece that they link to
	amounts *os.File // number of links from each node in unsent to the piece
}

func (l *diskLayout) close() {
	for _, f := range []*os.File{l.sorted, l.unsent, l.amounts} {
		if f != nil {
			f.Close()
		}
	}
}

// chunkLinks is how many links are read at a time.
const chunkLinks = 1 << 14

type link struct{ source, target uint32 }

// chunks calls do with consecutive parts of the links of a range of a file.
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

// eachRaw calls do with all links, from several goroutines, with the nodes of the graph.
func (l *diskLayout) eachRaw(do func(worker int, links []link) error) error {
	rooms := make([][]link, l.workers)
	n := (l.total + chunkLinks - 1) / chunkLinks
	return l.parallel(n, func(worker, i int) error {
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

func (l *diskLayout) parallel(n int, do func(worker, i int) error) error {
	return parallelErr(l.ctx, l.workers, n, do)
}

// count counts the links to each range and divides the targets into pieces.
func (l *diskLayout) count() error {
	counts := make([][]uint32, l.workers)
	err := l.eachRaw(func(worker int, links []link) error {
		if counts[worker] == nil {
			counts[worker] = make([]uint32, l.nodes>>rangeBits+1)
		}
		for _, k := range links {
			counts[worker][k.target>>rangeBits]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.ranges = make([]uint32, l.nodes>>rangeBits+1)
	work := diskWork(l.total, l.nodes, l.memory, l.workers)
	from, begin, done := uint32(0), int64(0), int64(0)
	for i := range l.ranges {
		to := min(uint32(i+1)<<rangeBits, uint32(l.nodes))
		for _, c := range counts {
			if c != nil {
				done += int64(c[i])
			}
		}
		l.ranges[i] = uint32(len(l.pieces))
		if uint64(done-begin)+uint64(to-from) >= work || i == len(l.ranges)-1 {
			l.pieces = append(l.pieces, diskPiece{from: from, to: to})
			l.begins = append(l.begins, begin)
			from, begin = to, done
		}
	}
	l.begins = append(l.begins, done)
	return nil
}

// distribute sorts the links by piece of the target.
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
			piece := l.ranges[k.target>>rangeBits]
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

// A pieceMaker has the buffers with which one worker lays out pieces.
type pieceMaker struct {
	slotAssigner slotAssigner
	room         []link
	graph        Graph // in-edges of the piece, its targets numbered from 0
	slots        []uint32
	amounts      []uint32 // number of links with each slot
	out          []uint32 // links of each target to targets of the piece
}

// layOut lays out the pieces.
func (l *diskLayout) layOut() (err error) {
	for _, f := range []**os.File{&l.sources, &l.unsent, &l.amounts, &l.diskGraph.out} {
		if *f, err = scratch(l.dir); err != nil {
			return err
		}
	}
	var layoutEnd, remoteEnd, links atomic.Int64
	makers := make([]pieceMaker, l.workers)
	err = l.parallel(len(l.pieces), func(worker, i int) error {
		m, d := &makers[worker], &l.pieces[i]
		if err := l.gather(m, i); err != nil {
			return err
		}
		g := &m.graph
		p := piece{to: d.to - d.from}
		e := g.part(0, p.to)
		if m.slotAssigner.set == nil {
			m.slotAssigner.set = make([]nodeWord, l.nodes>>6+1)
		}
		p.arrange(e, l.selfLinks, d.from)
		m.slotAssigner.first, m.slotAssigner.positions = d.from, sized(m.slotAssigner.positions, len(p.order))
		p.positions(m.slotAssigner.positions)
		m.slotAssigner.begin()
		m.slotAssigner.add(e.sources)
		remote := m.slotAssigner.list()
		p.fill(e, m.slots, m.slotAssigner.assign)
		m.slots = p.slots
		d.links, d.runs = len(g.sources), len(p.runs)
		links.Add(int64(d.links))
		size := int64(4*len(p.order) + runBytes*len(p.runs) + 4*len(m.slots))
		d.layout = layoutEnd.Add(size) - size
		d.remoteAt = remoteEnd.Add(int64(len(remote))) - int64(len(remote))
		d.cut(remote, l.pieces)
		m.amounts = sized(m.amounts, len(p.order)+len(remote))
		clear(m.amounts)
		for _, place := range m.slots {
			m.amounts[place]++
		}
		m.out = sized(m.out, len(p.order))
		for i, t := range p.order {
			m.out[t] = m.amounts[i]
		}
		others := m.amounts[len(p.order):]
		return cmp.Or(
			l.writeLayout(d, &p, m.slots),
			writeAt(l.unsent, remote, d.remoteAt),
			writeAt(l.amounts, others, d.remoteAt),
			writeAt(l.diskGraph.out, m.out, int64(d.from)),
		)
	})
	l.diskGraph.links = int(links.Load())
	l.sorted.Close() // frees its space on disk for the next steps
	l.sorted = nil
	return err
}

func (l *diskLayout) writeLayout(d *diskPiece, p *piece, slots []uint32) error {
	at := d.layout
	for _, part := range [][]uint32{p.order, slots} {
		if err := writeBytes(l.sources, part, at); err != nil {
			return err
		}
		at += int64(4 * len(part))
	}
	return writeBytes(l.sources, p.runs, at)
}

// cut sets cuts, the beginnings of the sections.
func (d *diskPiece) cut(remote []uint32, pieces []diskPiece) {
	d.cuts = make([]uint32, len(pieces)+1)
	for i := range pieces {
		at, _ := slices.BinarySearch(remote[d.cuts[i]:], pieces[i].to)
		d.cuts[i+1] = d.cuts[i] + uint32(at)
	}
}

// gather sets the graph of m to the in-edges of piece i.
func (l *diskLayout) gather(m *pieceMaker, i int) error {
	d := &l.pieces[i]
	from, to := l.begins[i], l.begins[i+1]
	if m.room == nil {
		m.room = make([]link, chunkLinks)
	}
	n, g := int(d.to-d.from), &m.graph
	g.out = sized(g.out, n) // index of the next source of each target
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

// turn writes the remote nodes by the piece that contains them, and the out-degree of each node.
func (l *diskLayout) turn() (err error) {
	if l.remote, err = scratch(l.dir); err != nil {
		return err
	}
	at := int64(0)
	for i := range l.pieces {
		d := &l.pieces[i]
		d.outAt = at
		for j := range l.pieces {
			d.outCount += l.pieces[j].remoteFrom(i)
		}
		at += int64(d.outCount)
	}
	rooms := make([]struct{ remote, amounts, out []uint32 }, l.workers)
	return l.parallel(len(l.pieces), func(worker, i int) error {
		d, room := &l.pieces[i], &rooms[worker]
		room.remote = sized(room.remote, d.outCount)
		room.out = sized(room.out, int(d.to-d.from))
		if err := readAt(l.diskGraph.out, room.out, int64(d.from)); err != nil {
			return err
		}
		done := 0
		for j := range l.pieces {
			other := &l.pieces[j]
			n := other.remoteFrom(i)
			remote := room.remote[done : done+n]
			done += n
			room.amounts = sized(room.amounts, n)
			begin := other.remoteAt + int64(other.cuts[i])
			if err := cmp.Or(readAt(l.unsent, remote, begin), readAt(l.amounts, room.amounts, begin)); err != nil {
				return err
			}
			for k, node := range remote {
				room.out[node-d.from] += room.amounts[k]
			}
		}
		return cmp.Or(writeAt(l.remote, room.remote, d.outAt), writeAt(l.diskGraph.out, room.out, int64(d.from)))
	})
}

// remoteFrom returns the number of remote nodes of d that are in piece i.
func (d *diskPiece) remoteFrom(i int) int { return int(d.cuts[i+1] - d.cuts[i]) }

// remoteCount returns the number of remote nodes.
func (d *diskPiece) remoteCount() int { return int(d.cuts[len(d.cuts)-1]) }
