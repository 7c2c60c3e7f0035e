package pagerank

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"sync"
)

// maxLine bounds a line of an edge list, in bytes.
const maxLine = 4096

// partSize bounds the part of an edge list that one worker parses at a time, in bytes.
const partSize = 4 << 20

// ReadEdges reads a graph from lines of source and target with white space between them: numbers from 0 to
// [MaxNode], or names if the first line has a name. Further columns, empty lines, and lines that begin
// with # or % are skipped, but a line "# node N" adds a node, which may have no links. SNAP's and KONECT's
// lists are of this form, and so are Matrix Market's files in coordinates after their head, which has the
// numbers of nodes and entries; a symmetric list has each line as links in both directions. The input may
// be compressed with gzip or zstd.
//
// The nodes of the graph are the numbers that occur, or all of a Matrix Market file, in ascending order:
// node i is ids[i]. Names are numbered in the order of their first occurrence, and kept in memory even if
// they exceed Memory. For parallel links see [Builder]. An error has the number of the line. ReadEdges uses
// the options SelfLinks, Workers and Reading.
func ReadEdges(ctx context.Context, r io.Reader, o Options) (g *Graph, ids []uint32, err error) {
	o.Memory = 0
	store, seen, nodes, _, err := readEdges(ctx, r, o)
	if err != nil {
		return nil, nil, err
	}
	return store.graph(nodes, seen.names(), cmp.Or(o.Workers, runtime.GOMAXPROCS(0))), seen.all(), nil
}

// readEdges returns the links of a list, the set of their nodes, its size, and their names by number if
// they have names.
func readEdges(
	ctx context.Context, r io.Reader, o Options,
) (_ *linkStore, seen *idSet, nodes int, names []string, err error) {
	workers := cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	in, err := openEdges(r)
	if err != nil {
		return nil, nil, 0, nil, &ListError{fmt.Errorf("edge list: %w", err)}
	}
	l := &edgeList{
		selfLinks: o.SelfLinks, both: in.both, rows: in.rows, reading: o.Reading, seen: make([]idSet, workers), part: partSize,
	}
	if o.Memory > 0 { // each worker has up to six parts, which take twice their text
		l.part = int(min(partSize, max(o.Memory/64/int64(workers), 4*maxLine)))
	}
	l.store.memory, l.store.dir, l.store.selfLinks = o.Memory, o.Dir, o.SelfLinks
	if err := l.read(ctx, in); err != nil {
		l.store.close()
		return nil, nil, 0, nil, &ListError{fmt.Errorf("edge list: %w", err)}
	}
	if in.names != nil {
		names = in.names.names
	}
	seen = &l.seen[0]
	for i := range l.seen[1:] {
		seen.merge(&l.seen[i+1])
	}
	for id := uint32(1); id <= in.rows; id++ {
		seen.add(id)
	}
	return &l.store, seen, seen.count(), names, nil
}

// An edgeList is the part of an edge list that was read.
type edgeList struct {
	selfLinks bool
	both      bool   // links go there and back
	rows      uint32 // nodes are 1 to rows, or any numbers if it is 0
	reading   func(links int)
	store     linkStore
	seen      []idSet // nodes, by worker
	part      int     // bytes that one worker parses at a time
}

// An edgePart is some whole lines of an edge list, and their links.
type edgePart struct {
	text  []byte
	lines int // read, including the one with the error
	edges int // lines with two nodes
	links *linkList
	err   error
	done  chan struct{}
}

// read starts one goroutine that reads and decompresses and one for each worker that parses, and
// adds the parsed parts to the store in the order of the list.
func (l *edgeList) read(ctx context.Context, in *openList) error {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	var inErr error
	toParse := make(chan *edgePart)
	inOrder := make(chan *edgePart, 2*len(l.seen)) // bounds the parts in memory
	running.Go(func() {
		defer close(inOrder)
		defer close(toParse)
		inErr = cutLines(in, l.part, func(text []byte) bool {
			p := &edgePart{text: text, links: &linkList{}, done: make(chan struct{})}
			select {
			case inOrder <- p:
			case <-ctx.Done():
				return false
			}
			toParse <- p // does not block forever: the workers end after this goroutine
			return true
		})
	})
	for i := range l.seen {
		running.Go(func() {
			for p := range toParse {
				p.parse(&l.seen[i], l)
				close(p.done)
			}
		})
	}
	lines, edges, links := in.lines, uint64(0), 0
	for p := range inOrder {
		<-p.done
		lines += p.lines
		if p.err != nil {
			return fmt.Errorf("line %d: %w", lines, p.err)
		}
		edges += uint64(p.edges)
		links += len(p.links.targets)
		if err := l.store.add(p.links); err != nil {
			return err
		}
		if l.reading != nil {
			l.reading(links)
		}
	}
	switch err := context.Cause(ctx); {
	case err != nil:
		return fmt.Errorf("stopped after line %d: %w", lines, err)
	case inErr != nil:
		return fmt.Errorf("after line %d: %w", lines, inErr)
	case in.rows > 0 && edges != in.entries:
		return fmt.Errorf("line %d: the list ends after %d entries; its head says %d", lines, edges, in.entries)
	}
	return nil
}

// cutLines calls part with whole lines of the input, about size bytes at a time, until it returns
// false. A line that is too long ends the input; its beginning is the last part.
func cutLines(in io.Reader, size int, part func([]byte) bool) error {
	var rest []byte
	for {
		text := make([]byte, size)
		n := copy(text, rest)
		var err error
		for n < len(text) && err == nil { // io.ReadFull has one error for the end and for a cut archive
			var m int
			m, err = in.Read(text[n:])
			n += m
		}
		text = text[:n]
		ended := err == io.EOF
		end := len(text)
		if !ended {
			end = bytes.LastIndexByte(text, '\n') + 1
		}
		rest = text[end:]
		tooLong := len(rest) > maxLine
		if tooLong {
			end = len(text)
		}
		if end > 0 && !part(text[:end:end]) || ended || tooLong {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (p *edgePart) parse(seen *idSet, l *edgeList) {
	text := p.text
	p.text = nil
	p.links.targets = make([]uint32, 0, len(text)/12)
	for len(text) > 0 {
		s, t, rest, ok := plainEdge(text)
		p.lines++
		var line []byte
		if !ok {
			line, rest, _ = bytes.Cut(text, []byte{'\n'})
			if s, t, ok, p.err = edge(line); p.err != nil {
				return
			}
		}
		text = rest
		if !ok {
			if id, ok := loneNode(line); ok {
				seen.add(id)
			}
			continue
		}
		if l.rows > 0 && (s-1 >= l.rows || t-1 >= l.rows) {
			p.err = fmt.Errorf("%d %d is not an entry of a matrix of %d rows", s, t, l.rows)
			return
		}
		p.edges++
		seen.add(s)
		seen.add(t)
		if s != t || l.selfLinks {
			p.links.add(s, t)
		}
		if l.both && s != t {
			p.links.add(t, s)
		}
	}
}

// plainEdge parses a line in the common form: two numbers of at most nine digits, separated by one
// tab or blank. ok is false for any other line, which may still be valid.
func plainEdge(text []byte) (s, t uint32, rest []byte, ok bool) {
	i := 0
	for ; i < len(text) && text[i]-'0' <= 9; i++ {
		s = 10*s + uint32(text[i]-'0')
	}
	if i == 0 || i > 9 || i == len(text) || text[i] != '\t' && text[i] != ' ' {
		return 0, 0, nil, false
	}
	i++
	begin := i
	for ; i < len(text) && text[i]-'0' <= 9; i++ {
		t = 10*t + uint32(text[i]-'0')
	}
	if i == begin || i-begin > 9 || i == len(text) || text[i] != '\n' {
		return 0, 0, nil, false
	}
	return s, t, text[i+1:], true
}

// edge parses any line; ok is false for lines without an edge.
func edge(line []byte) (s, t uint32, ok bool, err error) {
	if len(line) > maxLine {
		return 0, 0, false, fmt.Errorf("longer than %d bytes", maxLine)
	}
	source, rest := field(line)
	if isComment(source) {
		return 0, 0, false, nil
	}
	target, rest := field(rest)
	if len(target) == 0 {
		return 0, 0, false, errors.New("there must be two nodes, source and target")
	}
	if weight, _ := field(rest); bytes.EqualFold(weight, []byte("nan")) {
		return 0, 0, false, fmt.Errorf("weight %q is not a number", weight)
	}
	if s, err = node(source); err != nil {
		return 0, 0, false, err
	}
	t, err = node(target)
	return s, t, err == nil, err
}

// loneNode returns the node of a comment "# node N". Of another line ok is false.
func loneNode(line []byte) (id uint32, ok bool) {
	name, ok := loneName(line)
	if !ok {
		return 0, false
	}
	id, err := node(name)
	return id, err == nil
}

// loneName returns the last word of a comment "# node NAME". Of another line ok is false.
func loneName(line []byte) (name []byte, ok bool) {
	mark, rest := field(line)
	kind, rest := field(rest)
	name, rest = field(rest)
	more, _ := field(rest)
	return name, string(mark) == "#" && string(kind) == "node" && len(name) > 0 && len(more) == 0
}

// field splits the first word of a line from the rest.
func field(line []byte) (word, rest []byte) {
	i := 0
	for i < len(line) && space(line[i]) {
		i++
	}
	j := i
	for j < len(line) && !space(line[j]) {
		j++
	}
	return line[i:j], line[j:]
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func node(word []byte) (uint32, error) {
	n := uint64(0)
	for _, c := range word {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%.40q is not the number of a node", word)
		}
		if n = 10*n + uint64(c-'0'); n > MaxNode {
			return 0, fmt.Errorf("node %.40s is above %d", word, uint32(MaxNode))
		}
	}
	return uint32(n), nil
}

// A listedGraph is a graph as read, with the nodes of the list.
type listedGraph struct {
	store *linkStore
	seen  *idSet
	nodes int
	names []string // by number, nil without names
}

// readGraph reads a graph in the format of o, and sets o.Personalize from o.Teleport and o.Warm from
// o.Earlier. It fails if there are no nodes.
func readGraph(ctx context.Context, in io.Reader, o *Options) (_ *listedGraph, err error) {
	l := &listedGraph{}
	if o.BV != nil {
		if l.store, l.seen, err = readBV(ctx, in, *o); err == nil {
			l.nodes = l.seen.count()
		}
	} else {
		l.store, l.seen, l.nodes, l.names, err = readEdges(ctx, in, *o)
	}
	if err != nil {
		return nil, err
	}
	if err = l.complete(o); err != nil {
		l.store.close()
		return nil, err
	}
	return l, nil
}

func (l *listedGraph) complete(o *Options) (err error) {
	if o.Vertices != nil {
		if l.names != nil {
			return errors.New("both the edge list and the vertices have names of nodes")
		}
		if l.names, err = readVertices(o.Vertices); err != nil {
			return err
		}
		for id := range l.names {
			l.seen.add(uint32(id))
		}
		if l.nodes = l.seen.count(); l.nodes > len(l.names) {
			return fmt.Errorf("%d nodes have links, and the vertices have %d names", l.nodes, len(l.names))
		}
	}
	if l.nodes == 0 {
		return errEmptyList
	}
	if o.Teleport != nil {
		if o.Personalize, err = l.seen.weights(o.Teleport, l.names); err != nil {
			return err
		}
	}
	if o.Earlier != nil {
		o.Warm, err = l.seen.readRanks(o.Earlier, l.names)
	}
	return err
}

// nodeNames returns a function from nodes to their names or numbers in the list.
func (l *listedGraph) nodeNames() func(node int) string {
	ids := l.seen.all()
	return func(node int) string {
		if l.names != nil {
			return l.names[ids[node]]
		}
		return strconv.FormatUint(uint64(ids[node]), 10)
	}
}

// RankEdges ranks the graph of an edge list (see [ReadEdges]), or of a BV graph if o.BV is set, and writes
// a line of node and rank for each node, in ascending order, with its name if it has one. A graph that
// exceeds Memory is ranked from disk.
func RankEdges(ctx context.Context, in io.Reader, out io.Writer, o Options) (*Result, error) {
	l, err := readGraph(ctx, in, &o)
	if err != nil {
		return nil, err
	}
	w := newRankWriter(out, l.seen, l.names)
	var kept []float64
	r, err := rank(ctx, l.store, l.nodes, l.seen.names(), o, func(some []float64) error {
		if o.Keep {
			kept = append(kept, some...)
		}
		return w.write(some)
	})
	if err != nil {
		return nil, err
	}
	r.Ranks = kept
	return r, l.written(r, o, w.flush())
}

// written sets the names of a result if o.Keep is set and err, that of writing, is nil. It returns err.
func (l *listedGraph) written(r *Result, o Options, err error) error {
	if o.Keep && err == nil {
		r.Name = l.nodeNames()
	}
	return err
}

// ErrNoSuchNode is the error of [RankEdges] for a teleport to a node that the graph does not have, and for
// earlier ranks of such nodes alone.
var ErrNoSuchNode = errors.New("the graph has no such node")

// A ListError is the error for an edge list that cannot be read or has no nodes.
type ListError struct{ err error }

func (e *ListError) Error() string { return e.err.Error() }

func (e *ListError) Unwrap() error { return e.err }

var errEmptyList error = &ListError{errors.New("the edge list is empty")}

// weights returns weights by node of the graph whose nodes are the set, and have these names if they
// have any.
func (s *idSet) weights(byName map[string]float64, names []string) (map[uint32]float64, error) {
	ids := make(map[string]uint32, len(byName))
	for id, name := range names {
		if _, ok := byName[name]; ok {
			ids[name] = uint32(id)
		}
	}
	weights := make(map[uint32]float64, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		id, known := ids[name]
		if names == nil {
			number, err := node([]byte(name))
			id, known = number, err == nil && s.has(number)
		}
		if !known {
			return nil, fmt.Errorf("%w: %.100q", ErrNoSuchNode, name)
		}
		weights[s.rank(id)] += byName[name]
	}
	return weights, nil
}

// A rankWriter writes a line for each node: its number or name, and its rank.
type rankWriter struct {
	out   *bufio.Writer
	ids   idCursor
	names []string
	line  []byte
}

func newRankWriter(out io.Writer, seen *idSet, names []string) *rankWriter {
	return &rankWriter{out: bufio.NewWriterSize(out, 1<<16), ids: idCursor{set: seen}, names: names}
}

// write writes the ranks of the next nodes. It returns nil: flush returns the error of all writes.
func (w *rankWriter) write(ranks []float64) error {
	for _, rank := range ranks {
		w.name()
		w.rank(rank)
		w.end()
	}
	return nil
}

// name begins the line of the next node.
func (w *rankWriter) name() {
	id, _ := w.ids.next()
	if w.names != nil {
		w.line = append(w.line[:0], w.names[id]...)
	} else {
		w.line = strconv.AppendUint(w.line[:0], uint64(id), 10)
	}
}

func (w *rankWriter) rank(rank float64) {
	w.line = append(w.line, '\t')
	w.line = strconv.AppendFloat(w.line, rank, 'e', 12, 64)
}

func (w *rankWriter) end() { w.out.Write(append(w.line, '\n')) }

func (w *rankWriter) flush() error {
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("write ranks: %w", err)
	}
	return nil
}
