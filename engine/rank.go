package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/disk/rankvector"
	"anatomy/pagerank"
	"anatomy/vocab"
)

// RankOptions say how to compute PageRank over the link database of a data folder.
type RankOptions struct {
	pagerank.Options

	// Personalize is where all teleportation goes (BP98 §2.1.2). Empty: to every page alike.
	Personalize []RankPlace

	// Title says in a few words what Personalize is, for people; default: the place, or how many.
	Title string

	// Name is that of the vector: lower-case letters, digits and hyphens. Default: "default", which
	// the searcher uses.
	Name string
}

// DefaultRank is the name of the vector that the searcher uses unless a query names another.
const DefaultRank = rankvector.Default

// Rank computes PageRank over the link database of the data folder and puts the vector in force. A
// searcher of the folder, in whatever process, takes it up within a second or two. It needs no
// lock: it reads immutable files and replaces one by rename. Whatever stops it, the vector before
// stays in force.
func Rank(ctx context.Context, dir string, o RankOptions) (*RankReport, error) {
	began := time.Now()
	o.Name = cmp.Or(o.Name, DefaultRank)
	if err := CheckRankName(o.Name); err != nil {
		return nil, err
	}
	set, err := openLinks(dir)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	r := &RankReport{Name: o.Name}
	nodes, err := r.loadNodes(set, &o)
	if err != nil {
		return nil, err
	}
	links := &pagerank.Builder{Memory: o.Memory, Dir: cmp.Or(o.Dir, dir)}
	if err := nodes.addLinks(set, links); err != nil {
		return nil, err
	}
	path := datadir.RankNamed(dir, o.Name)
	before, err := readVector(path)
	if err != nil {
		before = nil // it is about to be replaced
	}
	if before != nil && o.Warm == nil {
		o.Warm = nodes.from(before.Ranks)
	}
	progress := o.Progress
	o.Progress = func(iteration int, residual float64) {
		r.Residuals = append(r.Residuals, residual)
		if progress != nil {
			progress(iteration, residual)
		}
	}
	ranks := make([]float32, 0, len(nodes.docs))
	result, err := pagerank.Rank(ctx, links, o.Options, func(some []float64) error {
		for _, rank := range some {
			ranks = append(ranks, float32(rank))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.Vector = nodes.vector(result, ranks, o)
	r.Vector.Recorded = set.CountLinks()
	if err := rankvector.Write(path, r.Vector); err != nil {
		return nil, err
	}
	r.Pages, r.Links, r.Dangled = len(nodes.docs), r.Vector.Links, result.Dangling
	r.Seconds = time.Since(began).Seconds()
	return r, r.compare(set, before)
}

// loadNodes numbers the documents, and puts the places that teleportation goes to into o as nodes.
func (r *RankReport) loadNodes(set *linkdb.Set, o *RankOptions) (*nodes, error) {
	places, err := newMatcher(o.Personalize)
	if err != nil {
		return nil, err
	}
	n, err := loadNodes(set, places)
	if err != nil || len(o.Personalize) == 0 {
		return n, err
	}
	o.Options.Personalize, r.Missing = places.weights()
	r.Teleport = len(o.Options.Personalize)
	if r.Teleport == 0 {
		return nil, noSuchPage(set, o.Personalize)
	}
	if o.Title == "" {
		o.Title = o.Personalize[0].Spec
		if others := len(o.Personalize) - 1; others > 0 {
			o.Title = fmt.Sprintf("%d places", others+1)
		}
	}
	return n, nil
}

// openLinks opens the link runs in force. A merge may replace them between reading the manifest and
// opening the files: then the next manifest names others.
func openLinks(dir string) (*linkdb.Set, error) {
	for tries := 0; ; tries++ {
		m, err := datadir.Read(dir)
		if err != nil {
			return nil, err
		}
		paths := make([]string, len(m.Links))
		for i, name := range m.Links {
			paths[i] = datadir.Links(dir, name)
		}
		set, err := linkdb.OpenSet(paths)
		if err == nil || tries == 3 || !errors.Is(err, fs.ErrNotExist) {
			return set, err
		}
	}
}

// readRanks reads the vector in force, nil where there is none.
func readRanks(dir string) (*rankvector.Vector, error) { return readVector(datadir.Rank(dir)) }

func readVector(path string) (*rankvector.Vector, error) {
	v, err := rankvector.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return v, err
}

// nodes numbers the documents that PageRank is computed for.
type nodes struct {
	docs []vocab.DocID // by node, ascending
	of   []uint32      // by document: its node + 1, or 0
}

func loadNodes(set *linkdb.Set, places *matcher) (*nodes, error) {
	n := &nodes{}
	for name, err := range set.Names() {
		if err != nil {
			return nil, err
		}
		if !set.Same(name.Doc) {
			continue
		}
		if len(places.places) > 0 {
			places.add(uint32(len(n.docs)), name.URL)
		}
		for vocab.DocID(len(n.of)) <= name.Doc {
			n.of = append(n.of, 0)
		}
		n.docs = append(n.docs, name.Doc)
		n.of[name.Doc] = uint32(len(n.docs))
	}
	return n, nil
}

func (n *nodes) node(doc vocab.DocID) (uint32, bool) {
	if doc >= vocab.DocID(len(n.of)) || n.of[doc] == 0 {
		return 0, false
	}
	return n.of[doc] - 1, true
}

func (n *nodes) addLinks(set *linkdb.Set, b *pagerank.Builder) error {
	b.Grow(len(n.docs))
	var targets []uint32
	for source, err := range set.Links() {
		if err != nil {
			return err
		}
		from, ok := n.node(source.Doc)
		if !ok {
			continue
		}
		targets = targets[:0]
		for _, t := range source.Targets {
			if to, ok := n.node(t.Doc); ok && t.Flags&vocab.NoFollow == 0 {
				targets = append(targets, to)
			}
		}
		b.Add(from, targets)
	}
	return nil
}

// from takes the ranks of an earlier vector as the place to start at.
func (n *nodes) from(ranks []float32) []float32 {
	warm := make([]float32, len(n.docs))
	for i, doc := range n.docs {
		if doc < vocab.DocID(len(ranks)) {
			warm[i] = ranks[doc]
		}
	}
	return warm
}

func (n *nodes) vector(r *pagerank.Result, ranks []float32, o RankOptions) *rankvector.Vector {
	v := &rankvector.Vector{
		Damping: cmp.Or(o.Damping, pagerank.DefaultDamping), Tolerance: cmp.Or(o.Tolerance, pagerank.DefaultTolerance), Iterations: r.Iterations, Residual: r.Residual, Links: uint64(r.Links),
		Personalized: o.Title, Computed: time.Now().UTC().Truncate(time.Second), Ranks: make([]float32, len(n.of)),
	}
	for i, doc := range n.docs {
		v.Ranks[doc] = ranks[i]
	}
	return v
}

// rankState remembers what the last vector of a crawl was computed from.
type rankState struct {
	mu    sync.Mutex
	links int
}
