package searcher

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"anatomy/searcher/query"
	"anatomy/vocab"
)

// The bare name of a site finds its home page: where each word of a query stands in a host's name, as docs.python.org
// has "python" and sqlite3-doc.example "sqlite", the host's home page counts for more, by how much of the name it is.
// The home page is the folder, or index.html, with the fewest folders above it, of several the one of the highest rank;
// where a host has none, the page with the fewest folders.

// The bounds of looking for hosts by name.
const (
	leastPrefix = 4    // letters of a word that is the beginning of a name's part and not all of it
	maxNamesake = 1000 // parts of names that are looked at for a query
	maxHomes    = 16   // home pages that count for it

	mostFolders = 8  // of a home page's URL
	maxOfLevel  = 20 // pages with as many folders that are looked at
)

// A home is the home page of a host whose name has the words of the query.
type home struct {
	candidate
	host  string
	share Milli // of the name
}

// A namePart is a word of a host's name: of "python-doc" in org.example.python-doc, "python" and "doc".
type namePart struct {
	word string
	host string
}

// namesOf gives the parts of the names of all hosts of a segment, in order. They are made when they are first asked for.
func (h *handle) namesOf() []namePart {
	h.naming.Do(func() {
		for host := range h.seg.Hosts() {
			for label := range strings.SplitSeq(host, ".") {
				for word := range strings.SplitSeq(label, "-") {
					h.names = append(h.names, namePart{word, host})
				}
			}
		}
		slices.SortFunc(h.names, func(a, b namePart) int { return cmp.Or(cmp.Compare(a.word, b.word), cmp.Compare(a.host, b.host)) })
	})
	return h.names
}

// begins says whether a word of a query names a part of a host's name.
func begins(part, word string) bool {
	return part == word || len(word) >= leastPrefix && strings.HasPrefix(part, word)
}

// nameShare is how much of a host's name some words are, in thousandths: of that label of which they are the most. It is
// 0 where not all of them stand in the name, and the name's last part and www tell nothing. The host is as in the
// order of documents, "org.python.docs".
func nameShare(host string, words []string) (share Milli) {
	labels := strings.Split(host, ".")
	for _, word := range words {
		if !slices.ContainsFunc(labels, func(label string) bool {
			return slices.ContainsFunc(strings.Split(label, "-"), func(part string) bool { return begins(part, word) })
		}) {
			return 0
		}
	}
	for _, label := range labels[min(1, len(labels)):] {
		parts := strings.Split(label, "-")
		named, all := 0, 0
		for _, part := range parts {
			longest := 0
			for _, word := range words {
				if begins(part, word) {
					longest = max(longest, len(word))
				}
			}
			named, all = named+longest, all+len(part)
		}
		if all > 0 && label != "www" {
			share = max(share, Milli(1000*named/all))
		}
	}
	return share
}

// findHomes looks for the hosts that the words of the query name.
func (a *answer) findHomes() {
	a.homes = nil
	words := a.terms.words[:a.terms.bases]
	if len(words) == 0 || a.w.Home == 0 {
		return
	}
	shares := map[string]Milli{}
	for _, p := range a.snap.parts {
		names := p.namesOf()
		from, _ := slices.BinarySearchFunc(names, words[0], func(n namePart, word string) int { return cmp.Compare(n.word, word) })
		for _, n := range names[from:min(from+maxNamesake, len(names))] {
			if !begins(n.word, words[0]) {
				break
			}
			shares[n.host] = nameShare(n.host, words)
		}
	}
	for host, share := range shares {
		if share > 0 {
			a.homes = append(a.homes, home{host: host, share: share})
		}
	}
	slices.SortFunc(a.homes, func(x, y home) int { return cmp.Or(cmp.Compare(y.share, x.share), cmp.Compare(x.host, y.host)) })
	a.homes = a.homes[:min(len(a.homes), maxHomes)]
	kept := a.homes[:0]
	for _, h := range a.homes {
		var there bool
		if h.candidate, there = a.snap.homeOf(h.host); there {
			kept = append(kept, h)
		}
	}
	a.homes = kept
}

// homeOf is the home page of a host. It is looked for once in the life of a snapshot. A file that cannot be read has none.
func (snap *snapshot) homeOf(host string) (c candidate, ok bool) {
	if known, found := snap.homes.Load(host); found {
		c = known.(candidate)
		return c, c.doc != 0
	}
	levels := [mostFolders + 1][]candidate{}
	for i, p := range snap.parts {
		from, to := p.seg.HostRange(host)
		for ord := from; ord < to; ord++ {
			if depth := p.seg.Depth(ord); depth <= mostFolders && p.seg.Crawled(ord) && !p.dead.has(ord) {
				levels[depth] = append(levels[depth], candidate{doc: p.seg.Doc(ord), part: i, ord: ord})
			}
		}
	}
	for _, level := range levels {
		slices.SortFunc(level, func(x, y candidate) int {
			return cmp.Or(cmp.Compare(snap.rankOf(y.doc), snap.rankOf(x.doc)), cmp.Compare(x.doc, y.doc))
		})
		if c.doc == 0 && len(level) > 0 {
			c = level[0]
		}
		i := slices.IndexFunc(level[:min(len(level), maxOfLevel)], func(c candidate) bool {
			info, err := snap.parts[c.part].seg.Record(c.ord)
			return err == nil && isIndex(info.URL)
		})
		if i >= 0 {
			c = level[i]
			break
		}
	}
	snap.homes.Store(host, c)
	return c, c.doc != 0
}

// isIndex says whether a URL is that of a folder, or of a file that stands for one.
func isIndex(url string) bool {
	file := url[strings.LastIndexByte(url, '/')+1:]
	return file == "" || strings.HasPrefix(file, "index.")
}

// atHome is the points of a page for being the home page of a host that the query names.
func (a *answer) atHome(part int, ord vocab.Ordinal) (points Score, why string) {
	for i := range a.homes {
		if h := &a.homes[i]; h.part == part && h.ord == ord {
			points = a.terms.all * Score(a.w.Home) / 1000 * Score(h.share) / 1000
			return points, fmt.Sprintf("home page of a host of whose name the query is %d %%, idf %s × weight %s", h.share/10, a.terms.all.Milli(), a.w.Home)
		}
	}
	return 0, ""
}

// addHomes puts home pages that match among the pages that are scored in full, which they could be too weak for.
func (a *answer) addHomes(root *query.Node, found []candidate, n int) ([]candidate, int) {
	for _, h := range a.homes {
		at := slices.IndexFunc(found, func(c candidate) bool { return c.doc == h.doc })
		switch {
		case at >= 0 && at < n:
			continue
		case at >= n:
			h.candidate = found[at]
			found = slices.Delete(found, at, at+1)
		case !a.matches(root, &h.candidate):
			continue
		}
		found = slices.Insert(found, n, h.candidate)
		n++
	}
	return found, n
}

// matches says whether a page is a result of the query.
func (a *answer) matches(root *query.Node, c *candidate) bool {
	w := newWalk(a.snap.parts[c.part], a.terms, nil, a.clock, a.room)
	return w.cursor(a.allowed(root)).advance(c.ord) == c.ord
}
