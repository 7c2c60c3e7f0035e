package rig

import (
	"fmt"
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
	g := &Graph{Links: map[string]bool{}, Ranks: map[string]float32{}}
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
	ranks, err := rankvector.ReadFolder(dir, rankvector.Default)
	if err != nil {
		return err
	}
	names, mine := map[vocab.DocID]string{}, map[vocab.DocID]bool{}
	for name, err := range set.Names() {
		if err != nil {
			return err
		}
		_, rest, _ := strings.Cut(name.URL, "://")
		names[name.Doc], mine[name.Doc] = rest, own(name.URL)
		if ranks != nil && mine[name.Doc] && int(name.Doc) < len(ranks.Ranks) && ranks.Ranks[name.Doc] > 0 {
			g.Ranks[rest] = ranks.Ranks[name.Doc]
		}
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
