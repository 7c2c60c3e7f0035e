package collection

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"anatomy/analysis"
	"anatomy/disk/linkdb"
	"anatomy/searcher/synonyms"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A SynonymGroup is a group of words that seem to name the same thing.
type SynonymGroup struct {
	Words []string `json:"words"` // terms; those that most sites use first
	Sites []int    `json:"sites"` // by word: number of sites that use it as a name of Host
	Host  string   `json:"host"`  // whose home page has these names, without www.
}

// Synonyms proposes groups of synonyms. Names of a home page are the texts of links from other sites
// that are one term, the name of its site, and the names of sites whose home pages redirect to it.
// Names with similar letters are a group: a site has other names, too, such as its topic. Groups with
// the most sites come first.
func (l *Links) Synonyms(ctx context.Context) ([]SynonymGroup, error) {
	p := &proposer{Links: l, homes: map[vocab.DocID]string{}, names: map[string]siteNames{}}
	if err := p.readHomes(ctx); err != nil {
		return nil, err
	}
	if err := p.readTexts(ctx); err != nil {
		return nil, err
	}
	all := []SynonymGroup{}
	known := map[string]bool{}
	for _, host := range slices.Sorted(maps.Keys(p.names)) {
		if err := p.resolve(ctx, host); err != nil {
			return nil, err
		}
		for _, g := range p.names[host].groups(host) {
			if key := strings.Join(slices.Sorted(slices.Values(g.Words)), " "); !known[key] {
				known[key] = true
				all = append(all, g)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b SynonymGroup) int { return cmp.Compare(b.Sites[1], a.Sites[1]) })
	return all, nil
}

// A proposer collects the names of home pages.
type proposer struct {
	*Links
	homes map[vocab.DocID]string // home pages: the host without www., of a redirect that of its target
	names map[string]siteNames   // by host
}

// siteNames are the names of a home page, each with the documents or sites that use it.
type siteNames map[string]*siteName

type siteName struct {
	sources []vocab.DocID // pages that link with this text
	sites   map[string]bool
}

// add returns a name, which is new if the home page lacks it.
func (p *proposer) add(host, name string) *siteName {
	if p.names[host] == nil {
		p.names[host] = siteNames{}
	}
	if p.names[host][name] == nil {
		p.names[host][name] = &siteName{sites: map[string]bool{}}
	}
	return p.names[host][name]
}

// readHomes finds all home pages, and adds the names of their sites.
func (p *proposer) readHomes(ctx context.Context) error {
	redirects := map[vocab.DocID]vocab.DocID{}
	for name, err := range p.Links.names() {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		u, err := weburl.Parse(name.URL)
		if err != nil || u.PathAndQuery() != "/" {
			continue
		}
		host, site := strings.TrimPrefix(u.Hostname(), "www."), u.Site()
		p.homes[name.Doc] = host
		if of, ok := p.canonical(name.Doc); ok && of != name.Doc {
			redirects[name.Doc] = of
		}
		if host == site {
			p.addSite(host, site)
		}
	}
	for doc, of := range redirects {
		host, from := p.homes[of], p.homes[doc]
		switch {
		case host == "":
			delete(p.homes, doc) // it redirects to another page
		case host != from:
			p.addSite(host, weburl.SiteOf(from))
			p.homes[doc] = host
		}
	}
	return nil
}

// addSite adds the first label of a site's domain to the names of a home page, if it is one term.
func (p *proposer) addSite(host, site string) {
	label, _, isDomain := strings.Cut(site, ".")
	if terms := analysis.PhraseTerms(label); isDomain && len(terms) == 1 {
		p.add(host, terms[0]).sites[site] = true
	}
}

// readTexts adds the texts of links from other sites to home pages.
func (p *proposer) readTexts(ctx context.Context) error {
	for _, s := range p.shards {
		home := func(doc vocab.DocID) bool { return p.homes[p.outer(s, doc)] != "" && p.foreign[s.shard].IsOwn(doc) }
		for a, err := range s.set.RawAnchors(home) {
			if err != nil {
				return err
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			p.readAnchors(s, p.homes[p.outer(s, a.Doc)], &a)
		}
	}
	return nil
}

func (p *proposer) readAnchors(s *shardLinks, host string, a *linkdb.Anchors) {
	for _, text := range a.Texts {
		terms := analysis.PhraseTerms(text.Text)
		if !text.OffSite || len(terms) != 1 {
			continue
		}
		name := p.add(host, terms[0])
		for _, source := range text.Sources {
			name.sources = append(name.sources, p.outer(s, source))
		}
	}
}

// resolve adds the sites of the pages that link to a home page, if it has several names.
func (p *proposer) resolve(ctx context.Context, host string) error {
	names := p.names[host]
	if len(names) < 2 {
		return nil
	}
	for _, name := range names {
		for _, source := range name.sources {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			url, err := p.url(source)
			if err != nil {
				return err
			}
			if u, err := weburl.Parse(url); err == nil {
				name.sites[u.Site()] = true
			}
		}
	}
	return nil
}

// maxNames bounds the names of a home page that are compared: those that most sites use.
const maxNames = 500

// groups returns the groups of similar names, each of at most synonyms.MaxGroup words.
func (names siteNames) groups(host string) (all []SynonymGroup) {
	words := slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(names[b].sites), len(names[a].sites)), cmp.Compare(a, b))
	})
	words = words[:min(len(words), maxNames)]
	used := map[string]bool{}
	for _, first := range words {
		g := SynonymGroup{Host: host}
		for _, word := range words {
			if !used[word] && len(g.Words) < synonyms.MaxGroup && (word == first || slices.ContainsFunc(g.Words, func(w string) bool { return areSimilar(w, word) })) {
				used[word] = true
				g.Words, g.Sites = append(g.Words, word), append(g.Sites, len(names[word].sites))
			}
		}
		if len(g.Words) > 1 {
			all = append(all, g)
		}
	}
	return all
}

// areSimilar reports whether the shorter of two words begins or ends the longer one, or has some of its
// letters in their order, from the first (rtd, readthedocs). A domain (python.org) and a plural are
// not similar to the word itself.
func areSimilar(a, b string) bool {
	if utf8.RuneCountInString(a) > utf8.RuneCountInString(b) {
		a, b = b, a
	}
	if rest, begins := strings.CutPrefix(b, a); begins {
		return rest != "" && rest != "s" && rest[0] != '.'
	}
	if strings.HasSuffix(b, a) {
		return utf8.RuneCountInString(a) > 2
	}
	first, size := utf8.DecodeRuneInString(a)
	if !strings.HasPrefix(b, string(first)) {
		return false
	}
	a, b = a[size:], b[size:]
	for _, r := range a {
		at := strings.IndexRune(b, r)
		if at < 0 {
			return false
		}
		b = b[at+utf8.RuneLen(r):]
	}
	return true
}
