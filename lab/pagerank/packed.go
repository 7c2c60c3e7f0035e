package main

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strings"

	"anatomy/pagerank"
	"anatomy/pagerank/bvgraph"
)

func read(in io.Reader, to any) error { return binary.Read(in, binary.LittleEndian, to) }

// readPacked reads the in-edges of a graph in GAPBS's format.
func readPacked(file string) (*plainGraph, error) {
	p, err := openPacked(file)
	if err != nil {
		return nil, err
	}
	defer p.file.Close()
	offsets := make([]int64, p.nodes+1)
	if err := read(p.in, offsets); err != nil {
		return nil, err
	}
	g := &plainGraph{first: offsets, out: make([]uint32, p.nodes)}
	for i := range g.out {
		g.out[i] = uint32(offsets[i+1] - offsets[i])
	}
	if p.directed {
		if _, err := p.in.Discard(4 * int(offsets[p.nodes])); err != nil {
			return nil, err
		}
		g.first = make([]int64, p.nodes+1)
		err = read(p.in, g.first)
	}
	g.sources = make([]uint32, g.first[p.nodes])
	return g, cmp.Or(err, read(p.in, g.sources))
}

// addPacked adds the links of a graph in GAPBS's format to b.
func addPacked(b *pagerank.Builder, file string) error {
	p, err := openPacked(file)
	if err != nil {
		return err
	}
	defer p.file.Close()
	b.Grow(int(p.nodes))
	offsets := make([]int64, p.nodes+1)
	if err := read(p.in, offsets); err != nil {
		return err
	}
	var room []byte
	var targets []uint32
	for node := range int(p.nodes) {
		n := int(offsets[node+1] - offsets[node])
		room = append(room[:0], make([]byte, 4*n)...)
		if _, err := io.ReadFull(p.in, room); err != nil {
			return err
		}
		targets = targets[:0]
		for i := range n {
			targets = append(targets, binary.LittleEndian.Uint32(room[4*i:]))
		}
		b.Add(uint32(node), targets)
	}
	return nil
}

// writePacked writes a graph in GAPBS's format.
func writePacked(g *pagerank.Graph, file string) error {
	n := g.Nodes()
	first, offsets := make([]int64, n+1), make([]int64, n+1)
	for t := range n {
		first[t+1] = first[t] + int64(len(g.In(uint32(t))))
		offsets[t+1] = offsets[t] + int64(g.Out(uint32(t)))
	}
	targets, next := make([]uint32, g.Links()), append([]int64(nil), offsets...)
	sources := make([]uint32, 0, g.Links())
	for t := range n {
		for _, s := range g.In(uint32(t)) {
			targets[next[s]] = uint32(t)
			next[s]++
			sources = append(sources, s)
		}
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	out.WriteByte(1) // directed
	for _, part := range []any{int64(g.Links()), int64(n), offsets, targets, first, sources} {
		if err := binary.Write(out, binary.LittleEndian, part); err != nil {
			return cmp.Or(err, f.Close())
		}
	}
	return cmp.Or(out.Flush(), f.Close())
}

func writeValues(file string, values []float64) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	return cmp.Or(binary.Write(out, binary.LittleEndian, values), out.Flush(), f.Close())
}

func readValues(file string, n int) ([]float64, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	values := make([]float64, n)
	return values, read(bufio.NewReaderSize(f, 1<<20), values)
}

// eachBV calls do with the lists of a BV graph, a file NAME.graph beside NAME.properties.
func eachBV(file string, do func(node uint32, successors []uint32)) error {
	properties, err := os.Open(strings.TrimSuffix(file, ".graph") + ".properties")
	if err != nil {
		return err
	}
	defer properties.Close()
	p, err := bvgraph.ReadProperties(properties)
	if err != nil {
		return err
	}
	graph, err := os.Open(file)
	if err != nil {
		return err
	}
	defer graph.Close()
	r := bvgraph.NewReader(p, graph)
	for node := uint32(0); ; node++ {
		switch successors, err := r.Next(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", file, err)
		default:
			do(node, successors)
		}
	}
}
