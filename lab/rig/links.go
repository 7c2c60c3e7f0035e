package rig

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"anatomy/disk/linkdb"
	"anatomy/disk/rankvector"
	"anatomy/disk/shards"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Graph is what a collection knows of links. URLs are without their scheme, see Pages.
type Graph struct {
	Links map[string]bool    // target, text and source of each link with a text, by tabs
	Ranks map[string]float32 // by URL
	Plain map[string]float32 // PageRank as published, by URL
	Graph LinkGraph
}

// A LinkGraph is pages and links by URL.
type LinkGraph struct {
	Pages    map[string]bool    // that were fetched
	Followed map[[2]string]bool // followed links, source and target as on the page
	Aliases  map[string]string  // redirects and duplicates
	NotFound map[string]bool
}

// ReadGraph reads the links and the ranks of a data folder or of shards.
func ReadGraph(data string) (*Graph, error) {
	m, err := shards.Read(data)
	if err != nil {
		return nil, err
	}
	dirs, err := shards.Folders(data)
	if err != nil {
		return nil, err
	}
	g := &Graph{Links: map[string]bool{}, Ranks: map[string]float32{}, Plain: map[string]float32{}, Graph: LinkGraph{
		map[string]bool{}, map[[2]string]bool{}, map[string]string{}, map[string]bool{},
	}}
	for i, dir := range dirs {
		own := func(url string) bool {
			if m == nil {
				return true
			}
			u, err := weburl.Parse(url)
			return err == nil && m.Of(&u) == i
		}
		if err := g.read(dir, own); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	return g, nil
}

// read reads what a data folder says of its own documents.
func (g *Graph) read(dir string, own func(url string) bool) error {
	set, err := linkdb.OpenFolder(dir)
	if err != nil {
		return err
	}
	defer set.Close()
	names, mine := map[vocab.DocID]string{}, map[vocab.DocID]bool{}
	for name, err := range set.Names() {
		if err != nil {
			return err
		}
		_, rest, _ := strings.Cut(name.URL, "://")
		names[name.Doc], mine[name.Doc] = rest, own(name.URL)
	}
	for vector, into := range map[string]map[string]float32{rankvector.Default: g.Ranks, rankvector.Plain: g.Plain} {
		ranks, err := rankvector.ReadFolder(dir, vector)
		if err != nil {
			return err
		}
		for doc, url := range names {
			if ranks != nil && mine[doc] && int(doc) < len(ranks.Ranks) && ranks.Ranks[doc] > 0 {
				into[url] = ranks.Ranks[doc]
			}
		}
	}
	if err := g.Graph.read(set, names, mine); err != nil {
		return err
	}
	for a, err := range set.AnchorsOf(func(doc vocab.DocID) bool { return mine[doc] }) {
		if err != nil {
			return err
		}
		for _, t := range a.Texts {
			for _, source := range t.Sources {
				g.Links[names[a.Doc]+"\t"+t.Text+"\t"+names[source]] = true
			}
		}
	}
	return nil
}

// read reads what a set says of those of its documents that are mine, whose URLs are in names.
func (g *LinkGraph) read(set *linkdb.Set, names map[vocab.DocID]string, mine map[vocab.DocID]bool) error {
	for doc, url := range names {
		if !mine[doc] {
			continue
		}
		of, missing := set.AliasOf(doc)
		if missing {
			g.NotFound[url] = true
		} else if of != 0 {
			g.Aliases[url] = names[of]
		}
	}
	for source, err := range set.RawLinks() {
		if err != nil {
			return err
		}
		if !mine[source.Doc] {
			continue
		}
		from := names[source.Doc]
		g.Pages[from] = true
		for _, t := range source.Targets {
			if t.Flags&vocab.NoFollow == 0 {
				g.Followed[[2]string{from, names[t.Doc]}] = true
			}
		}
	}
	return nil
}

// node returns the URL that a URL leads to by redirects, if that exists and is none of without.
func (g *LinkGraph) node(url string, without map[string]bool) (string, bool) {
	const hops = 16
	for range hops {
		to, ok := g.Aliases[url]
		if !ok {
			return url, !g.NotFound[url] && !without[url]
		}
		url = to
	}
	return "", false
}

// WithAliases returns the graph with the aliases of another one for some pages, which are duplicates in that
// one and may be documents of their own in this one.
func (g *LinkGraph) WithAliases(of *LinkGraph, some func(url string) bool) *LinkGraph {
	with := *g
	with.Aliases = map[string]string{}
	maps.Copy(with.Aliases, g.Aliases)
	for url := range g.Pages {
		if to, ok := of.Aliases[url]; ok && some(url) {
			with.Aliases[url] = to
		}
	}
	return &with
}

// PageRanks computes PageRank by URL in the plainest way, as if the URLs without were not found.
func (g *LinkGraph) PageRanks(without map[string]bool) map[string]float64 {
	const damping, iterations = .85, 200
	numbers := map[string]uint32{}
	var names []string
	var out [][]uint32
	number := func(url string) uint32 {
		n, ok := numbers[url]
		if !ok {
			n = uint32(len(names))
			numbers[url], names, out = n, append(names, url), append(out, nil)
		}
		return n
	}
	for url := range g.Pages {
		if node, ok := g.node(url, without); ok && node == url {
			number(url)
		}
	}
	for link := range g.Followed {
		to, ok := g.node(link[1], without)
		if from, known := numbers[link[0]]; ok && known && g.Pages[link[0]] && to != link[0] {
			target := number(to) // it may not have been fetched
			out[from] = append(out[from], target)
		}
	}
	n := float64(len(out))
	ranks, next := make([]float64, len(out)), make([]float64, len(out))
	for url, to := range out {
		slices.Sort(to)
		out[url], ranks[url] = slices.Compact(to), 1/n
	}
	for range iterations {
		dangling := 0.0
		clear(next)
		for url, to := range out {
			if len(to) == 0 {
				dangling += ranks[url]
			}
			for _, target := range to {
				next[target] += damping * ranks[url] / float64(len(to))
			}
		}
		for url := range out {
			next[url] += (1 - damping + damping*dangling) / n
		}
		ranks, next = next, ranks
	}
	all := map[string]float64{}
	for url, rank := range ranks {
		all[names[url]] = rank
	}
	return all
}
