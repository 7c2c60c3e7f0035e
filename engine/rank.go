package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/disk/rankvector"
	"anatomy/pagerank"
	"anatomy/vocab"
	"anatomy/weburl"
)

// RankOptions say how to compute PageRank over the link database of a data folder.
type RankOptions struct {
	pagerank.Options

	// Personalize is a page or a site ("example.org", "example.org/dir", a URL): all teleportation
	// goes there (BP98 §2.1.2). Empty: to every page alike.
	Personalize string
}

// A RankReport says what a computation of PageRank found.
type RankReport struct {
	Vector   *rankvector.Vector
	Pages    int // nodes: documents that are no alias of another and are not gone
	Links    uint64
	Dangled  int // nodes without links
	Teleport int // nodes that teleportation goes to
	Took     time.Duration
	Top      []RankedPage // the highest, with their URLs
	Gainers  []RankedPage // most gained against the vector before, where there was one
}

// A RankedPage is a document with its share of rank.
type RankedPage struct {
	Doc    vocab.DocID
	URL    string
	Rank   float64
	Before float64 // 0 where there was no vector before
}

// topPages is how many pages a report names.
const topPages = 10

// noticeable is by which factor a page gained that a report names: less is what the tolerance leaves.
const noticeable = 1.001

// ErrNoSuchPage says that no known document is what PageRank was to be personalised to.
var ErrNoSuchPage = errors.New("no known page")

// Rank computes PageRank over the link database of the data folder and puts the vector in force. A
// searcher of the folder, in whatever process, takes it up within a second or two. It needs no
// lock: it reads immutable files and replaces one by rename.
func Rank(ctx context.Context, dir string, o RankOptions) (*RankReport, error) {
	began := time.Now()
	set, err := openLinks(dir)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	nodes, err := loadNodes(set, o.Personalize)
	if err != nil {
		return nil, err
	}
	if o.Personalize != "" {
		if len(nodes.teleport) == 0 {
			return nil, fmt.Errorf("pagerank: %w matches %q", ErrNoSuchPage, o.Personalize)
		}
		o.Options.Personalize = map[uint32]float64{}
		for _, node := range nodes.teleport {
			o.Options.Personalize[node] = 1
		}
	}
	graph, err := nodes.graph(set)
	if err != nil {
		return nil, err
	}
	before, err := readRanks(dir)
	if err != nil {
		before = nil // it is about to be replaced
	}
	if before != nil && o.Warm == nil {
		o.Warm = nodes.from(before.Ranks)
	}
	result, err := pagerank.Compute(ctx, graph, o.Options)
	if err != nil {
		return nil, err
	}
	v := nodes.vector(result, o)
	v.Links = uint64(graph.Links())
	if err := rankvector.Write(datadir.Rank(dir), v); err != nil {
		return nil, err
	}
	r := &RankReport{Vector: v, Pages: len(nodes.docs), Links: v.Links, Dangled: nodes.dangling(graph), Teleport: len(nodes.teleport), Took: time.Since(began)}
	return r, r.name(set, before)
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
func readRanks(dir string) (*rankvector.Vector, error) {
	v, err := rankvector.Read(datadir.Rank(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return v, err
}

// nodes numbers the documents that PageRank is computed for.
type nodes struct {
	docs     []vocab.DocID // by node, ascending
	of       []uint32      // by document: its node + 1, or 0
	teleport []uint32
}

func loadNodes(set *linkdb.Set, personalize string) (*nodes, error) {
	n := &nodes{}
	chosen, err := chooser(personalize)
	if err != nil {
		return nil, err
	}
	for name, err := range set.Names() {
		if err != nil {
			return nil, err
		}
		if !set.Same(name.Doc) {
			continue
		}
		if chosen != nil && chosen(name.URL) {
			n.teleport = append(n.teleport, uint32(len(n.docs)))
		}
		for vocab.DocID(len(n.of)) <= name.Doc {
			n.of = append(n.of, 0)
		}
		n.docs = append(n.docs, name.Doc)
		n.of[name.Doc] = uint32(len(n.docs))
	}
	return n, nil
}

// chooser says which URLs a personalisation means; nil for none.
func chooser(spec string) (func(string) bool, error) {
	if spec == "" {
		return nil, nil
	}
	if strings.Contains(spec, "://") {
		u, err := weburl.Parse(spec)
		if err != nil {
			return nil, fmt.Errorf("pagerank: personalize: %w", err)
		}
		want := u.Fingerprint()
		return func(s string) bool {
			u, err := weburl.Parse(s)
			return err == nil && u.Fingerprint() == want
		}, nil
	}
	if _, _, ok := weburl.SiteKeys(spec); !ok {
		return nil, fmt.Errorf("pagerank: personalize: %q is neither a URL nor a site", spec)
	}
	return func(s string) bool {
		u, err := weburl.Parse(s)
		return err == nil && weburl.MatchSite(spec, &u)
	}, nil
}

func (n *nodes) node(doc vocab.DocID) (uint32, bool) {
	if doc >= vocab.DocID(len(n.of)) || n.of[doc] == 0 {
		return 0, false
	}
	return n.of[doc] - 1, true
}

func (n *nodes) graph(set *linkdb.Set) (*pagerank.Graph, error) {
	b := &pagerank.Builder{}
	b.Grow(len(n.docs))
	var targets []uint32
	for source, err := range set.Links() {
		if err != nil {
			return nil, err
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
	return b.Graph()
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

// dangling counts the nodes without links.
func (n *nodes) dangling(g *pagerank.Graph) (count int) {
	for node := range n.docs {
		if g.Out(uint32(node)) == 0 {
			count++
		}
	}
	return count
}

func (n *nodes) vector(r *pagerank.Result, o RankOptions) *rankvector.Vector {
	v := &rankvector.Vector{
		Damping: cmp.Or(o.Damping, pagerank.DefaultDamping), Tolerance: cmp.Or(o.Tolerance, pagerank.DefaultTolerance), Iterations: r.Iterations, Residual: r.Residual,
		Personalized: o.Personalize, Computed: time.Now().UTC().Truncate(time.Second), Ranks: make([]float32, len(n.of)),
	}
	for i, doc := range n.docs {
		v.Ranks[doc] = float32(r.Ranks[i])
	}
	return v
}

// name fills Top and Gainers, with the URLs of the documents.
func (r *RankReport) name(set *linkdb.Set, before *rankvector.Vector) error {
	var all []RankedPage
	for doc, rank := range r.Vector.Ranks {
		if rank == 0 {
			continue
		}
		p := RankedPage{Doc: vocab.DocID(doc), Rank: float64(rank)}
		if before != nil && doc < len(before.Ranks) {
			p.Before = float64(before.Ranks[doc])
		}
		all = append(all, p)
	}
	take := func(better func(a, b RankedPage) int) []RankedPage {
		slices.SortFunc(all, func(a, b RankedPage) int { return cmp.Or(better(a, b), cmp.Compare(a.Doc, b.Doc)) })
		return slices.Clone(all[:min(topPages, len(all))])
	}
	r.Top = take(func(a, b RankedPage) int { return cmp.Compare(b.Rank, a.Rank) })
	if before != nil {
		r.Gainers = take(func(a, b RankedPage) int { return cmp.Compare(b.Rank-b.Before, a.Rank-a.Before) })
		r.Gainers = slices.DeleteFunc(r.Gainers, func(p RankedPage) bool { return p.Rank <= p.Before*noticeable })
	}
	wanted := map[vocab.DocID][]*RankedPage{}
	for _, list := range [][]RankedPage{r.Top, r.Gainers} {
		for i := range list {
			wanted[list[i].Doc] = append(wanted[list[i].Doc], &list[i])
		}
	}
	for name, err := range set.Names() {
		if err != nil {
			return err
		}
		for _, p := range wanted[name.Doc] {
			p.URL = name.URL
		}
	}
	return nil
}

// rankState remembers what the last vector of a crawl was computed from.
type rankState struct {
	mu    sync.Mutex
	links int
}
