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

	// Method is how pages are ranked; default: ByPages. The others make vectors of their own name,
	// and are not personalised.
	Method RankMethod

	// Title says in a few words what Personalize is, for people; default: the place, or how many.
	Title string

	// Name is that of the vector: lower-case letters, digits and hyphens. Default: "default", which
	// the searcher uses, or the name of the method.
	Name string
}

// DefaultRank is the name of the vector that the searcher uses unless a query names another.
const DefaultRank = rankvector.Default

// Rank computes a vector over the link database of the data folder and puts it in force. A
// searcher of the folder, in whatever process, takes it up within a second or two. It needs no
// lock: it reads immutable files and replaces one by rename. Whatever stops it, the vector before
// stays in force.
func Rank(ctx context.Context, dir string, o RankOptions) (*RankReport, error) {
	if o.Method != ByPages {
		o.Name = cmp.Or(o.Name, o.Method.String())
		o.Title = o.Method.title()
	}
	o.Name = cmp.Or(o.Name, DefaultRank)
	if err := CheckRankName(o.Name); err != nil {
		return nil, err
	}
	k, err := openRanking(dir)
	if err != nil {
		return nil, err
	}
	defer k.set.Close()
	r := &RankReport{Name: o.Name, Method: o.Method.String()}
	if err := k.loadNodes(r, &o); err != nil {
		return nil, err
	}
	before, err := readVector(datadir.RankNamed(dir, o.Name))
	if err != nil {
		before = nil // it is about to be replaced
	}
	if before != nil && o.Warm == nil {
		o.Warm = k.nodes.from(before.Ranks)
	}
	progress := o.Progress
	o.Progress = func(iteration int, residual float64) {
		r.Residuals = append(r.Residuals, residual)
		if progress != nil {
			progress(iteration, residual)
		}
	}
	result, ranks, err := k.compute(ctx, o)
	if err != nil {
		return nil, err
	}
	return r, k.publish(r, result, ranks, o, before)
}

// A ranking is the link database that vectors are computed from.
type ranking struct {
	dir   string
	began time.Time
	set   *linkdb.Set
	nodes *nodes
}

func openRanking(dir string) (*ranking, error) {
	set, err := openLinks(dir)
	return &ranking{dir: dir, began: time.Now(), set: set}, err
}

// compute ranks the nodes, by the pages themselves or by another method.
func (k *ranking) compute(ctx context.Context, o RankOptions) (*pagerank.Result, []float32, error) {
	switch o.Method {
	case ByHosts:
		return k.byHosts(ctx, o)
	case ByHarmonic:
		return k.byHarmonic(ctx, o)
	}
	links := &pagerank.Builder{Memory: o.Memory, Dir: cmp.Or(o.Dir, k.dir)}
	if err := k.nodes.addLinks(k.set, links); err != nil {
		return nil, nil, err
	}
	ranks := make([]float32, 0, len(k.nodes.docs))
	result, err := pagerank.Rank(ctx, links, o.Options, func(some []float64) error {
		for _, rank := range some {
			ranks = append(ranks, float32(rank))
		}
		return nil
	})
	return result, ranks, err
}

// publish puts the vector in force and completes the report.
func (k *ranking) publish(r *RankReport, result *pagerank.Result, ranks []float32, o RankOptions, before *rankvector.Vector) error {
	r.Vector = k.nodes.vector(result, ranks, o)
	r.Vector.Recorded = k.set.CountLinks()
	if err := rankvector.Write(datadir.RankNamed(k.dir, o.Name), r.Vector); err != nil {
		return err
	}
	r.Pages, r.Links, r.Dangled = len(k.nodes.docs), r.Vector.Links, result.Dangling
	r.Seconds = time.Since(k.began).Seconds()
	return r.compare(k.set, before)
}

// loadNodes numbers the documents, and puts the places that teleportation goes to into o as nodes.
func (k *ranking) loadNodes(r *RankReport, o *RankOptions) error {
	places, err := newMatcher(o.Personalize)
	if err != nil {
		return err
	}
	if k.nodes, err = loadNodes(k.set, places); err != nil || len(o.Personalize) == 0 {
		return err
	}
	return k.favour(r, places, o)
}

// favour puts the places that were found into o.
func (k *ranking) favour(r *RankReport, places *matcher, o *RankOptions) error {
	o.Options.Personalize, r.Missing = places.weights()
	r.Teleport = len(o.Options.Personalize)
	if r.Teleport == 0 {
		return noSuchPage(k.set, o.Personalize)
	}
	if o.Title == "" {
		o.Title = o.Personalize[0].Spec
		if others := len(o.Personalize) - 1; others > 0 {
			o.Title = fmt.Sprintf("%d places", others+1)
		}
	}
	return nil
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

// loadNodes numbers the documents and has the matchers look at each.
func loadNodes(set *linkdb.Set, matchers ...*matcher) (*nodes, error) {
	n := &nodes{}
	for name, err := range set.Names() {
		if err != nil {
			return nil, err
		}
		if !set.Same(name.Doc) {
			continue
		}
		for _, m := range matchers {
			if len(m.places) > 0 {
				m.add(uint32(len(n.docs)), name.URL)
			}
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
	return n.eachLink(set, b.Add)
}

// eachLink hands out the links of each node that pass on rank; targets is good until add returns.
func (n *nodes) eachLink(set *linkdb.Set, add func(from uint32, targets []uint32)) error {
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
		add(from, targets)
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
