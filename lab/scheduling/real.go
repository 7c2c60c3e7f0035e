package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/vocab"
	"anatomy/weburl"
)

// readWeb reads the web that a crawl found: its pages, hosts and links, of at most n pages those that are
// fewest links from the first. How fast its servers are is drawn as in makeWeb, for a test web answers
// from the same machine whatever the host.
func (set setting) readWeb(data string, n int, seed uint64) (*web, error) {
	m, err := datadir.ReadManifest(data)
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(m.Links))
	for i, name := range m.Links {
		paths[i] = datadir.Links(data, name)
	}
	db, err := linkdb.OpenSet(paths)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	links := map[vocab.DocID][]vocab.DocID{}
	var first vocab.DocID
	for s, err := range db.Links() {
		if err != nil {
			return nil, err
		}
		if first == 0 {
			first = s.Doc
		}
		for _, t := range s.Targets {
			if t.Flags&vocab.NoFollow == 0 && db.IsSource(t.Doc) {
				links[s.Doc] = append(links[s.Doc], t.Doc)
			}
		}
	}
	order := nearest(links, first, n)
	if first == 0 || len(order) < 2 {
		return nil, fmt.Errorf("no links in %s", data)
	}
	w, err := furnishFrom(db, links, order)
	if err != nil {
		return nil, err
	}
	bySize := make([]*server, len(w.servers))
	for i := range w.servers {
		bySize[i] = &w.servers[i]
	}
	slices.SortStableFunc(bySize, func(a, b *server) int { return b.n - a.n })
	for i, s := range set.makeServers(rand.New(rand.NewPCG(seed, 1)), len(bySize)) {
		s.n = bySize[i].n
		*bySize[i] = s
	}
	return w, nil
}

// nearest are at most n documents in the order of their distance from the first.
func nearest(links map[vocab.DocID][]vocab.DocID, first vocab.DocID, n int) []vocab.DocID {
	order, seen := []vocab.DocID{first}, map[vocab.DocID]bool{first: true}
	for i := 0; i < len(order); i++ {
		for _, to := range links[order[i]] {
			if !seen[to] && len(order) < n {
				seen[to] = true
				order = append(order, to)
			}
		}
	}
	return order
}

func furnishFrom(
	db *linkdb.Set, links map[vocab.DocID][]vocab.DocID, order []vocab.DocID,
) (*web, error) {
	id := make(map[vocab.DocID]int, len(order))
	for i, doc := range order {
		id[doc] = i
	}
	w := &web{pages: make([]page, len(order))}
	servers := map[string]int{}
	named := 0
	for name, err := range db.Names() {
		if err != nil {
			return nil, err
		}
		i, ok := id[name.Doc]
		if !ok {
			continue
		}
		u, err := weburl.Parse(name.URL)
		if err != nil {
			return nil, err
		}
		s, ok := servers[u.Hostname()]
		if !ok {
			s = len(w.servers)
			servers[u.Hostname()] = s
			w.servers = append(w.servers, server{})
		}
		w.servers[s].n++
		w.pages[i] = page{server: s, url: u}
		named++
	}
	if named != len(order) {
		return nil, errors.New("a page of the link database has no URL")
	}
	for i, doc := range order {
		for _, to := range links[doc] {
			if j, ok := id[to]; ok {
				w.link(i, j)
			}
		}
	}
	return w, nil
}
