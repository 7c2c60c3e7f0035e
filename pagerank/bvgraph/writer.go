package bvgraph

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// A Writer compresses successor lists. Of each list it writes the shortest form among those without
// a reference and with a reference to a list of the window.
type Writer struct {
	p       Properties
	graph   bitWriter
	offsets bitWriter
	past    []pastList // that of node x at x mod len
	plan    [2]plan    // the best so far, and the current one
}

type pastList struct {
	successors []uint32
	chain      int // references that have to be followed for it
}

// A plan is a form of a list.
type plan struct {
	ref       int
	blocks    []uint64 // lengths, as written
	intervals []interval
	residuals []uint32
	rest      []uint32 // successors that are not copied
	bits      int
}

type interval struct{ from, size int64 }

// NewWriter returns a writer of a graph file and an offsets file with the default parameters.
func NewWriter(graph, offsets io.Writer) *Writer {
	p := DefaultProperties()
	w := &Writer{p: p, past: make([]pastList, p.Window+1)}
	w.graph.out, w.offsets.out = bufio.NewWriterSize(graph, 1<<16), bufio.NewWriterSize(offsets, 1<<16)
	w.offsets.gamma(0)
	return w
}

// Add adds the list of the next node: its successors, ascending, each once.
func (w *Writer) Add(successors []uint32) error {
	if w.p.Nodes == MaxNodes {
		return fmt.Errorf("BV graph: more than %d nodes", int64(MaxNodes))
	}
	for i := 1; i < len(successors); i++ {
		if successors[i] <= successors[i-1] {
			return fmt.Errorf("BV graph: node %d: the successors do not ascend", w.p.Nodes)
		}
	}
	x, before := w.p.Nodes, w.graph.total
	own := &w.past[x%int64(len(w.past))]
	own.successors, own.chain = append(own.successors[:0], successors...), 0
	w.graph.gamma(uint64(len(successors)))
	if len(successors) > 0 {
		best := w.choose(own.successors)
		if best.ref > 0 {
			own.chain = w.past[(x-int64(best.ref))%int64(len(w.past))].chain + 1
		}
		w.write(best)
	}
	w.offsets.gamma(w.graph.total - before)
	w.p.Nodes++
	w.p.Arcs += int64(len(successors))
	return nil
}

// choose returns the shortest form of a list.
func (w *Writer) choose(successors []uint32) *plan {
	best, other := &w.plan[0], &w.plan[1]
	w.fill(best, 0, nil, successors)
	for ref := 1; ref <= w.p.Window && int64(ref) <= w.p.Nodes; ref++ {
		from := &w.past[(w.p.Nodes-int64(ref))%int64(len(w.past))]
		if len(from.successors) == 0 || from.chain >= w.p.MaxRefCount {
			continue
		}
		if w.fill(other, ref, from.successors, successors); other.bits < best.bits {
			best, other = other, best
		}
	}
	return best
}

// fill sets p to the form with a reference to from.
func (w *Writer) fill(p *plan, ref int, from, successors []uint32) {
	p.ref, p.bits = ref, ref+1
	p.blocks, p.intervals, p.residuals = p.blocks[:0], p.intervals[:0], p.residuals[:0]
	rest := successors
	if ref > 0 {
		p.rest = p.copied(from, successors)
		rest = p.rest
		p.bits += gammaLen(uint64(len(p.blocks)))
		for _, b := range p.blocks {
			p.bits += gammaLen(b)
		}
	}
	if len(rest) > 0 {
		p.split(rest, w.p.MinInterval)
		p.bits += p.restBits(w.p.Nodes, &w.p)
	}
}

// copied sets blocks, and returns the successors that from lacks.
func (p *plan) copied(from, successors []uint32) []uint32 {
	rest := p.rest[:0]
	run, copying := uint64(0), true
	i := 0
	for _, s := range from {
		for i < len(successors) && successors[i] < s {
			rest = append(rest, successors[i])
			i++
		}
		has := i < len(successors) && successors[i] == s
		if has != copying {
			if len(p.blocks) > 0 {
				run-- // only the first block may be empty
			}
			p.blocks = append(p.blocks, run)
			run, copying = 0, has
		}
		run++
		if has {
			i++
		}
	} // the last run is not written: it is copied if an even number of blocks precedes it
	return append(rest, successors[i:]...)
}

// split cuts successors into intervals and residuals.
func (p *plan) split(rest []uint32, least int) {
	for i := 0; i < len(rest); {
		j := i + 1
		for j < len(rest) && rest[j] == rest[j-1]+1 {
			j++
		}
		if least > 0 && j-i >= least {
			p.intervals = append(p.intervals, interval{int64(rest[i]), int64(j - i)})
		} else {
			p.residuals = append(p.residuals, rest[i:j]...)
		}
		i = j
	}
}

// eachGap calls gamma and zeta with what is written for the intervals and residuals of node x.
func (p *plan) eachGap(x int64, o *Properties, gamma, zeta func(uint64)) {
	if o.MinInterval > 0 {
		gamma(uint64(len(p.intervals)))
		end := int64(0)
		for i, v := range p.intervals {
			if i == 0 {
				gamma(zigzag(v.from - x))
			} else {
				gamma(uint64(v.from - end - 1))
			}
			gamma(uint64(v.size - int64(o.MinInterval)))
			end = v.from + v.size
		}
	}
	for i, s := range p.residuals {
		if i == 0 {
			zeta(zigzag(int64(s) - x))
		} else {
			zeta(uint64(s - p.residuals[i-1] - 1))
		}
	}
}

func (p *plan) restBits(x int64, o *Properties) (n int) {
	p.eachGap(x, o, func(v uint64) { n += gammaLen(v) }, func(v uint64) { n += zetaLen(v, o.ZetaK) })
	return n
}

func (w *Writer) write(p *plan) {
	w.graph.unary(uint64(p.ref))
	if p.ref > 0 {
		w.graph.gamma(uint64(len(p.blocks)))
		for _, b := range p.blocks {
			w.graph.gamma(b)
		}
	}
	if len(p.intervals)+len(p.residuals) > 0 {
		p.eachGap(w.p.Nodes, &w.p, w.graph.gamma, func(v uint64) { w.graph.zeta(v, w.p.ZetaK) })
	}
}

// Close writes the rest of the two files, and returns the properties.
func (w *Writer) Close() (Properties, error) {
	w.p.graphBits = w.graph.total
	return w.p, errors.Join(w.graph.close(), w.offsets.close())
}
