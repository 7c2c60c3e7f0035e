package pagerank

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strconv"
)

// maxLine bounds a line of an edge list, in bytes.
const maxLine = 4096

// ReadEdges reads a graph from lines of source and target, two numbers from 0 to [MaxNode] with
// white space between them; empty lines and those that begin with # are passed over. The input
// may be compressed with gzip. The nodes of the graph are the numbers that occur, in ascending
// order: node i is ids[i]. Links come as [Builder] describes. An error names the line.
func ReadEdges(r io.Reader, selfLinks bool) (g *Graph, ids []uint32, err error) {
	in, err := plain(r)
	if err != nil {
		return nil, nil, fmt.Errorf("pagerank: edge list: %w", err)
	}
	var l edgeList
	if err := l.read(in); err != nil {
		return nil, nil, fmt.Errorf("pagerank: edge list: line %d: %w", l.line, err)
	}
	l.seen.count()
	b := Builder{SelfLinks: selfLinks}
	for i := range l.sources {
		l.targets[i] = l.seen.rank(l.targets[i])
		b.Add(l.seen.rank(l.sources[i]), l.targets[i:i+1])
	}
	g, err = b.Graph()
	return g, l.seen.all(), err
}

// plain undoes gzip, if r is compressed.
func plain(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, 1<<20)
	if head, _ := in.Peek(2); !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return in, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(z, 1<<20), nil
}

type edgeList struct {
	line             int
	sources, targets []uint32
	seen             idSet
}

func (l *edgeList) read(in *bufio.Reader) error {
	for {
		line, err := in.ReadSlice('\n')
		if len(line) == 0 && err == io.EOF {
			return nil
		}
		l.line++
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return err
		}
		if len(line) > maxLine {
			return fmt.Errorf("longer than %d bytes", maxLine)
		}
		if err := l.edge(line); err != nil {
			return err
		}
	}
}

func (l *edgeList) edge(line []byte) error {
	source, rest := field(line)
	if len(source) == 0 || source[0] == '#' {
		return nil
	}
	target, rest := field(rest)
	if more, _ := field(rest); len(target) == 0 || len(more) > 0 {
		return errors.New("there must be two numbers, source and target")
	}
	s, err := node(source)
	if err != nil {
		return err
	}
	t, err := node(target)
	if err != nil {
		return err
	}
	l.sources, l.targets = append(l.sources, s), append(l.targets, t)
	l.seen.add(s)
	l.seen.add(t)
	return nil
}

// field parts the first word of a line from the rest.
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

// An idSet is a set of numbers that gives each its rank among them: 8 KiB for each 65,536 numbers
// of which one occurs, where a map would take some 40 bytes a number.
type idSet struct {
	pages [1 << 16]*idPage
}

type idPage struct {
	words  [1 << 10]uint64
	before [1 << 10]uint32 // how many of all are below the word, once counted
}

func (s *idSet) add(id uint32) {
	p := s.pages[id>>16]
	if p == nil {
		p = new(idPage)
		s.pages[id>>16] = p
	}
	p.words[id>>6&1023] |= 1 << (id & 63)
}

// count prepares rank; nothing may be added after it.
func (s *idSet) count() {
	n := uint32(0)
	for _, p := range s.pages {
		if p == nil {
			continue
		}
		for i, w := range p.words {
			p.before[i] = n
			n += uint32(bits.OnesCount64(w))
		}
	}
}

func (s *idSet) rank(id uint32) uint32 {
	p := s.pages[id>>16]
	i := id >> 6 & 1023
	return p.before[i] + uint32(bits.OnesCount64(p.words[i]&(1<<(id&63)-1)))
}

// all returns the numbers in ascending order.
func (s *idSet) all() []uint32 {
	var ids []uint32
	for high, p := range s.pages {
		if p == nil {
			continue
		}
		for i, w := range p.words {
			for ; w != 0; w &= w - 1 {
				ids = append(ids, uint32(high<<16|i<<6|bits.TrailingZeros64(w)))
			}
		}
	}
	return ids
}

// RankEdges ranks the graph of an edge list (see [ReadEdges]) and writes a line of node and rank
// for each node, in ascending order of the nodes.
func RankEdges(ctx context.Context, in io.Reader, out io.Writer, o Options) (*Result, error) {
	g, ids, err := ReadEdges(in, o.SelfLinks)
	if err != nil {
		return nil, err
	}
	if g.Nodes() == 0 {
		return nil, errors.New("pagerank: the edge list is empty")
	}
	result, err := Compute(ctx, g, o)
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(out, 1<<16)
	var line []byte
	for i, id := range ids {
		line = strconv.AppendUint(line[:0], uint64(id), 10)
		line = append(line, '\t')
		line = strconv.AppendFloat(line, result.Ranks[i], 'e', 12, 64)
		line = append(line, '\n')
		if _, err := w.Write(line); err != nil {
			return nil, fmt.Errorf("pagerank: write ranks: %w", err)
		}
	}
	if err := w.Flush(); err != nil {
		return nil, fmt.Errorf("pagerank: write ranks: %w", err)
	}
	return result, nil
}
