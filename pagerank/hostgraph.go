package pagerank

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"unicode/utf8"
)

// The files of Common Crawl's host and domain graphs: vertices are lines of number and name, from 0 on,
// and edges lines of two numbers. Names are reversed, such as org.example.www. Rank files begin with a
// line of titles, each with a #; then each line has a node's position and value by harmonic centrality
// and by PageRank, and its name.
const hostRankTitles = "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\n"

// eachRecord calls do with the words of each line of a list that may be compressed, without comments.
func eachRecord(r io.Reader, what string, do func(line []byte) error) error {
	in, err := decompressed(r)
	for lines := 1; err == nil; lines++ {
		var line []byte
		line, err = in.ReadSlice('\n')
		if len(line) > maxLine || errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("%s: line %d: longer than %d bytes", what, lines, maxLine)
		}
		if word, _ := field(line); !isComment(word) {
			if err := do(line); err != nil {
				return fmt.Errorf("%s: line %d: %w", what, lines, err)
			}
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: after line %d: %w", what, lines-1, err)
		}
	}
	if err == io.EOF {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// readVertices returns the names of the nodes 0, 1, …, in this order.
func readVertices(r io.Reader) (names []string, err error) {
	err = eachRecord(r, "vertices", func(line []byte) error {
		number, rest := field(line)
		name, _ := field(rest)
		id, err := node(number)
		switch {
		case err != nil:
			return err
		case len(name) == 0:
			return errors.New("there must be a number and a name")
		case int(id) != len(names):
			return fmt.Errorf("node %d comes where %d should", id, len(names))
		}
		names = append(names, string(name))
		return nil
	})
	return names, err
}

// readRanks returns ranks by node of the graph, from lines of node and rank or from a rank file of
// Common Crawl. Nodes without a line get the minimum of all ranks; lines of other nodes are
// skipped. It fails with [ErrNoSuchNode] if all lines are.
func (s *idSet) readRanks(r io.Reader, names []string) ([]float32, error) {
	ids := make(map[string]uint32, len(names))
	for id, name := range names {
		ids[name] = uint32(id)
	}
	ranks := make([]float32, s.size)
	least := math.Inf(1)
	err := eachRecord(r, "earlier ranks", func(line []byte) error {
		words := bytes.FieldsFunc(line, func(c rune) bool { return c < utf8.RuneSelf && space(byte(c)) })
		name, value := words[0], []byte(nil) // there is a word, or the line would be a comment
		switch {
		case len(words) >= 5: // of Common Crawl
			name, value = words[4], words[3]
		case len(words) == 2:
			value = words[1]
		default:
			return errors.New("there must be a node and its rank")
		}
		rank, err := strconv.ParseFloat(string(value), 64)
		if err != nil || !(rank >= 0) || math.IsInf(rank, 1) {
			return fmt.Errorf("%.40q is not a rank", value)
		}
		id, known := ids[string(name)]
		if names == nil {
			number, err := node(name)
			id, known = number, err == nil && s.has(number)
		}
		if known {
			ranks[s.rank(id)] = float32(rank)
			least = min(least, rank)
		}
		return nil
	})
	if err == nil && math.IsInf(least, 1) {
		err = fmt.Errorf("no earlier rank can be used: %w", ErrNoSuchNode)
	}
	if err != nil {
		return nil, err
	}
	for i, rank := range ranks {
		if rank == 0 {
			ranks[i] = float32(least)
		}
	}
	return ranks, nil
}

// HostRanks ranks the graph of an edge list by harmonic centrality and by PageRank, and writes a rank
// file as Common Crawl has them. It holds the graph in memory.
func HostRanks(ctx context.Context, in io.Reader, out io.Writer, o Options) (*Result, error) {
	o.Memory = 0
	l, err := readGraph(ctx, in, &o)
	if err != nil {
		return nil, err
	}
	g := l.store.graph(l.nodes, l.seen.names(), cmp.Or(o.Workers, runtime.GOMAXPROCS(0)))
	sums, err := Harmonic(ctx, g, HarmonicOptions{Workers: o.Workers})
	if err != nil {
		return nil, err
	}
	r, err := Compute(ctx, g, o)
	if err != nil {
		return nil, err
	}
	return r, l.written(r, o, writeHostRanks(out, l, sums, r.Ranks))
}

func writeHostRanks(out io.Writer, l *listedGraph, harmonic, ranks []float64) error {
	byHarmonic, position := byValue(harmonic), make([]int, len(ranks))
	for i, node := range byValue(ranks) {
		position[node] = i + 1
	}
	ids := l.seen.all()
	w := bufio.NewWriterSize(out, 1<<16) // keeps the first error for Flush
	w.WriteString(hostRankTitles)
	for i, node := range byHarmonic {
		name := strconv.FormatUint(uint64(ids[node]), 10)
		if l.names != nil {
			name = l.names[ids[node]]
		}
		fmt.Fprintf(w, "%d\t%v\t%d\t%v\t%s\n", i+1, harmonic[node], position[node], ranks[node], name)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write ranks: %w", err)
	}
	return nil
}

// byValue returns the nodes, those with the highest values first, and among equals the lower number.
func byValue(values []float64) []int {
	nodes := make([]int, len(values))
	for i := range nodes {
		nodes[i] = i
	}
	slices.SortStableFunc(nodes, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	return nodes
}
