package oracle

import (
	"slices"
	"strings"

	"anatomy/searcher/scoring"
	"anatomy/vocab"
	"anatomy/weburl"
)

// homes returns the home pages of the hosts whose names the query spells, with the share that it
// spells, in thousandths.
func (c *Collection) homes(words []string) map[vocab.DocID]int {
	all := map[vocab.DocID]int{}
	for host, docs := range c.hosts() {
		if share := share(host, words); share > 0 {
			if d := c.home(docs); d != nil {
				all[d.Doc] = share
			}
		}
	}
	return all
}

// hosts returns the crawled documents by host.
func (c *Collection) hosts() map[string][]*Document {
	hosts := map[string][]*Document{}
	c.live(func(d *Document, _ float64) {
		if d.Crawled {
			hosts[hostKey(d)] = append(hosts[hostKey(d)], d)
		}
	})
	return hosts
}

// hostKey returns the host as documents are sorted by it: "org.python.docs".
func hostKey(d *Document) string {
	u, _ := weburl.Parse(d.URL)
	host, _, _ := strings.Cut(u.Key(), "/")
	return host
}

// keyOf returns the key that documents are sorted by.
func keyOf(d *Document) string {
	u, _ := weburl.Parse(d.URL)
	return u.Key()
}

// share returns the largest share of a label that the words are.
func share(host string, words []string) (best int) {
	found := map[string]bool{}
	for i, label := range strings.Split(host, ".") {
		letters := 0
		for _, part := range strings.Split(label, "-") {
			longest := ""
			for _, word := range words {
				if part == word || len(word) > 3 && strings.HasPrefix(part, word) {
					if found[word] = true; len(word) > len(longest) {
						longest = word
					}
				}
			}
			letters += len(longest)
		}
		if i > 0 && label != "www" && label != "" && len(label) > strings.Count(label, "-") {
			best = max(best, 1000*letters/(len(label)-strings.Count(label, "-")))
		}
	}
	if slices.ContainsFunc(words, func(word string) bool { return !found[word] }) {
		return 0
	}
	return best
}

// home returns the folder nearest to the root, else the page nearest to it.
func (c *Collection) home(docs []*Document) (home *Document) {
	better := func(a, b *Document) bool {
		if a.index() != b.index() {
			return a.index()
		}
		if a.depth() != b.depth() {
			return a.depth() < b.depth()
		}
		if c.rank(a) != c.rank(b) {
			return c.rank(a) > c.rank(b)
		}
		return keyOf(a) < keyOf(b)
	}
	for _, d := range docs {
		if d.depth() <= 8 && (home == nil || better(d, home)) {
			home = d
		}
	}
	return home
}

func (d *Document) index() bool {
	file := d.URL[strings.LastIndex(d.URL, "/"):]
	return file == "/" || strings.HasPrefix(file, "/index.")
}

func (c *Collection) rank(d *Document) float32 {
	if int(d.Doc) < len(c.Ranks) {
		return c.Ranks[d.Doc]
	}
	return 0
}

// atHome returns the points of such a home page.
func (c *Collection) atHome(words []string, all scoring.Score, d *Document) scoring.Score {
	if c.atHomes == nil {
		c.atHomes = c.homes(words)
	}
	return all * scoring.Score(c.Weights.NavigationalHost) / 1000 * scoring.Score(c.atHomes[d.Doc]) / 1000
}
