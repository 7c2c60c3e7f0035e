package bvgraph

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
)

// A Reader reads the successor lists of a graph from front to end. It keeps the lists of a window.
type Reader struct {
	p    Properties
	in   bitReader
	node int64
	arcs int64      // in the lists so far
	past [][]uint32 // the last lists, that of node x at x mod len
	rest []uint32   // successors that are not copied
}

// NewReader returns a reader of a graph file with these properties.
func NewReader(p Properties, graph io.Reader) *Reader {
	return &Reader{
		p: p, in: bitReader{in: bufio.NewReaderSize(graph, 1<<16)}, past: make([][]uint32, p.Window+1),
	}
}

// Next returns the successors of the next node, ascending, valid until the next call, or io.EOF after
// those of the last node. An error names the node.
func (r *Reader) Next() ([]uint32, error) {
	if r.node == r.p.Nodes {
		if r.arcs != r.p.Arcs {
			return nil, fmt.Errorf("BV graph: the lists have %d links, the properties say %d", r.arcs, r.p.Arcs)
		}
		return nil, io.EOF
	}
	list := &r.past[r.node%int64(len(r.past))]
	err := r.list(list)
	if err == nil {
		err = r.in.err
	}
	if err != nil {
		return nil, fmt.Errorf("BV graph: node %d: %w", r.node, err)
	}
	r.node++
	r.arcs += int64(len(*list))
	return *list, nil
}

var errDegree = errors.New("the list has more successors than the properties allow")

// list reads the next list.
func (r *Reader) list(list *[]uint32) error {
	in, x := &r.in, r.node
	*list = (*list)[:0]
	degree := in.read(r.p.outdegrees, r.p.ZetaK)
	if degree > uint64(r.p.Nodes) || int64(degree) > r.p.Arcs-r.arcs {
		return errDegree
	}
	left := int64(degree)
	if left == 0 {
		return nil
	}
	if r.p.Window > 0 {
		ref := in.read(r.p.references, r.p.ZetaK)
		if ref > uint64(min(int64(r.p.Window), x)) {
			return fmt.Errorf("a reference to the list %d nodes before", ref)
		}
		if ref > 0 {
			if err := r.copy(list, r.past[(x-int64(ref))%int64(len(r.past))]); err != nil {
				return err
			}
		}
	}
	if left -= int64(len(*list)); left < 0 {
		return errors.New("more is copied than the list has")
	}
	r.rest = r.rest[:0]
	if err := r.intervals(left); err != nil {
		return err
	}
	if err := r.residuals(left - int64(len(r.rest))); err != nil {
		return err
	}
	if *list = append(*list, r.rest...); !slices.IsSorted(*list) {
		slices.Sort(*list)
	}
	for i := 1; i < len(*list); i++ {
		if (*list)[i] == (*list)[i-1] {
			return fmt.Errorf("successor %d occurs twice", (*list)[i])
		}
	}
	return nil
}

// copy appends blocks of the list of another node.
func (r *Reader) copy(list *[]uint32, from []uint32) error {
	count := r.in.read(r.p.blockCounts, r.p.ZetaK)
	if count > uint64(len(from)) {
		return fmt.Errorf("%d blocks of a list of %d", count, len(from))
	}
	for i := range count {
		size := r.in.read(r.p.blocks, r.p.ZetaK)
		if i > 0 {
			size++
		}
		if size > uint64(len(from)) {
			return fmt.Errorf("a block of %d of a list of which %d are left", size, len(from))
		}
		if i%2 == 0 {
			*list = append(*list, from[:size]...)
		}
		from = from[size:]
	}
	if count%2 == 0 {
		*list = append(*list, from...)
	}
	return nil
}

// intervals appends the runs of consecutive successors to rest, at most left successors.
func (r *Reader) intervals(left int64) error {
	if left == 0 || r.p.MinInterval == 0 {
		return nil
	}
	end := int64(0) // of the last interval, plus 1
	for i := range r.in.gamma() {
		var from int64
		if code := r.in.gamma(); i == 0 {
			from = r.node + unzigzag(code)
		} else {
			from = end + 1 + int64(min(code, MaxNodes))
		}
		size := int64(min(r.in.gamma(), MaxNodes)) + int64(r.p.MinInterval)
		end = from + size
		if r.in.err != nil {
			return r.in.err
		}
		if left -= size; left < 0 || from < 0 || end > r.p.Nodes {
			return fmt.Errorf("an interval of %d from %d", size, from)
		}
		for s := from; s < end; s++ {
			r.rest = append(r.rest, uint32(s))
		}
	}
	return nil
}

// residuals appends count successors to rest.
func (r *Reader) residuals(count int64) error {
	s := int64(-1)
	for i := range count {
		if code := r.in.read(r.p.residuals, r.p.ZetaK); i == 0 {
			s = r.node + unzigzag(code)
		} else {
			s += int64(min(code, MaxNodes)) + 1
		}
		if r.in.err != nil {
			return r.in.err
		}
		if s < 0 || s >= r.p.Nodes {
			return fmt.Errorf("successor %d of a graph of %d nodes", s, r.p.Nodes)
		}
		r.rest = append(r.rest, uint32(s))
	}
	return nil
}
