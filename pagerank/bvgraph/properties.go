package bvgraph

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// A code is a way to write a natural number as bits.
type code uint8

const (
	gamma code = iota
	delta
	unary
	zeta
	nibble
)

var codeNames = map[string]code{"GAMMA": gamma, "DELTA": delta, "UNARY": unary, "ZETA": zeta, "NIBBLE": nibble}

// Properties describe a graph and how its lists are compressed.
type Properties struct {
	Nodes, Arcs int64
	Window      int // how many nodes back a reference may lead; 0: no references
	MaxRefCount int // references that may have to be followed for a list; -1: no bound
	MinInterval int // least length of an interval; 0: no intervals
	ZetaK       int

	graphBits uint64 // size of the graph file, if it was written

	outdegrees, blocks, blockCounts, residuals, references code
}

// DefaultProperties are WebGraph's defaults.
func DefaultProperties() Properties {
	return Properties{
		Window: 7, MaxRefCount: 3, MinInterval: 4, ZetaK: 3,
		outdegrees: gamma, blocks: gamma, blockCounts: gamma, residuals: zeta, references: unary,
	}
}

// ReadProperties reads a properties file. It fails if the graph is of another class than BVGraph.
func ReadProperties(r io.Reader) (p Properties, err error) {
	p = DefaultProperties()
	p.Nodes, p.Arcs = -1, -1
	lines := bufio.NewScanner(io.LimitReader(r, 1<<20))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if err := p.set(strings.TrimSpace(key), strings.TrimSpace(value)); err != nil {
			return p, fmt.Errorf("BV graph: properties: line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return p, fmt.Errorf("BV graph: properties: %w", err)
	}
	if p.Nodes < 0 || p.Arcs < 0 {
		return p, fmt.Errorf("BV graph: properties: nodes or arcs are missing")
	}
	return p, nil
}

func (p *Properties) set(key, value string) (err error) {
	number := func(most int64) (n int64) {
		if n, err = strconv.ParseInt(value, 10, 64); err == nil && (n < 0 || n > most) {
			err = fmt.Errorf("%s is %d, it must be 0 to %d", key, n, most)
		}
		return n
	}
	switch key {
	case "graphclass":
		if class := value[strings.LastIndexByte(value, '.')+1:]; class != "BVGraph" {
			return fmt.Errorf("the graph is a %.80q, not a BVGraph", value)
		}
	case "version":
		number(0)
	case "nodes":
		p.Nodes = number(MaxNodes)
	case "arcs":
		p.Arcs = number(math.MaxInt64)
	case "windowsize":
		p.Window = int(number(maxWindow))
	case "maxrefcount":
		if value != "-1" {
			p.MaxRefCount = int(number(math.MaxInt32))
		}
	case "minintervallength":
		p.MinInterval = int(number(maxInterval))
	case "zetak":
		if p.ZetaK = int(number(maxZetaK)); p.ZetaK == 0 && err == nil {
			err = fmt.Errorf("zetak is 0")
		}
	case "compressionflags":
		return p.setCodes(value)
	}
	return err
}

// setCodes sets the codes that differ from the default, such as "OUTDEGREES_DELTA | RESIDUALS_GAMMA".
func (p *Properties) setCodes(flags string) error {
	for flag := range strings.SplitSeq(flags, "|") {
		if flag = strings.TrimSpace(flag); flag == "" {
			continue
		}
		at := strings.LastIndexByte(flag, '_')
		c, known := codeNames[flag[at+1:]]
		parts := map[string]*code{
			"OUTDEGREES": &p.outdegrees, "BLOCKS": &p.blocks, "BLOCK_COUNT": &p.blockCounts,
			"RESIDUALS": &p.residuals, "REFERENCES": &p.references, "OFFSETS": new(code),
		}
		part := parts[flag[:max(at, 0)]]
		if !known || part == nil {
			return fmt.Errorf("unknown compression flag %.40q", flag)
		}
		*part = c
	}
	return nil
}

// Write writes a properties file.
func (p *Properties) Write(w io.Writer) error {
	perLink := 0.0
	if p.Arcs > 0 {
		perLink = float64(p.graphBits) / float64(p.Arcs)
	}
	_, err := fmt.Fprintf(w, "#BVGraph properties\ngraphclass=it.unimi.dsi.webgraph.BVGraph\nversion=0\n"+
		"nodes=%d\narcs=%d\nwindowsize=%d\nmaxrefcount=%d\nminintervallength=%d\nzetak=%d\n"+
		"compressionflags=\nbitsperlink=%.3f\n",
		p.Nodes, p.Arcs, p.Window, p.MaxRefCount, p.MinInterval, p.ZetaK, perLink)
	return err
}
