package facets

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"anatomy/disk/segment"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/query"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Tally counts pages by some kinds.
type Tally struct {
	sites     map[folder]int
	sections  map[folder]section
	languages map[segment.Language]int
	media     map[vocab.Medium]int
	years     map[int]int
	labels    map[vocab.Label]int
	moreSites bool // there are more than maxSites
	late      bool // the time ran out

	moreLabels bool // there are more than maxLabels of a kind in a segment

	pages      int    // if they are counted by section
	host       string // of all pages if the query names no site; "" before the first
	noSections bool   // there are too many, or pages of several hosts without a site in the query
}

// A section is the documents of a folder, with the page of its name: /docs and what is below /docs/.
type section struct {
	n     int
	below bool // some are below it: a single page is not a section
}

// A folder is a host, as in the order of documents, or a folder of one: {"org.example", "/docs"}.
type folder struct{ host, path string }

// NewTally returns a tally of no page.
func NewTally() *Tally {
	return &Tally{
		sites: map[folder]int{}, sections: map[folder]section{},
		languages: map[segment.Language]int{}, media: map[vocab.Medium]int{}, years: map[int]int{},
		labels: map[vocab.Label]int{},
	}
}

// Add adds the pages of another tally.
func (t *Tally) Add(other *Tally) {
	for at, more := range other.sections {
		s := t.sections[at]
		t.sections[at] = section{s.n + more.n, s.below || more.below}
	}
	addAll(t.sites, other.sites)
	t.moreSites = t.moreSites || other.moreSites
	addAll(t.languages, other.languages)
	addAll(t.media, other.media)
	addAll(t.years, other.years)
	addAll(t.labels, other.labels)
	t.moreLabels = t.moreLabels || other.moreLabels
	t.late, t.noSections = t.late || other.late, t.noSections || other.noSections
	t.pages += other.pages
	t.addHost(other.host)
}

// addHost adds pages of a host, "" for none, of a query that names no site. Pages of a second host have
// no sections together.
func (t *Tally) addHost(host string) {
	if t.host == "" {
		t.host = host
	}
	t.noSections = t.noSections || host != "" && host != t.host
}

// A Sum is a tally as plain data, which can be sent to another machine.
type Sum struct {
	Sites     []FolderSum              `json:",omitzero"`
	Sections  []FolderSum              `json:",omitzero"`
	Languages map[segment.Language]int `json:",omitzero"`
	Media     map[vocab.Medium]int     `json:",omitzero"`
	Years     map[int]int              `json:",omitzero"`
	Labels    []LabelSum               `json:",omitzero"`
	MoreSites bool                     `json:",omitzero"`
	Late      bool                     `json:",omitzero"`

	Pages      int    `json:",omitzero"`
	Host       string `json:",omitzero"`
	NoSections bool   `json:",omitzero"`
	MoreLabels bool   `json:",omitzero"`
}

// A LabelSum is the number of documents with a label.
type LabelSum struct {
	Label vocab.Label
	Pages int
}

// A FolderSum is the number of documents in a folder, see section.
type FolderSum struct {
	Host, Path string `json:",omitzero"`
	Pages      int
	Below      bool `json:",omitzero"`
}

// Sum returns the tally as plain data.
func (t *Tally) Sum() *Sum {
	s := &Sum{
		Languages: t.languages, Media: t.media, Years: t.years,
		MoreSites: t.moreSites, Late: t.late, Pages: t.pages, Host: t.host, NoSections: t.noSections,
		MoreLabels: t.moreLabels,
	}
	for at, n := range t.sites {
		s.Sites = append(s.Sites, FolderSum{Host: at.host, Path: at.path, Pages: n})
	}
	for l, n := range t.labels {
		s.Labels = append(s.Labels, LabelSum{l, n})
	}
	for at, of := range t.sections {
		s.Sections = append(s.Sections, FolderSum{at.host, at.path, of.n, of.below})
	}
	return s
}

// Tally returns the tally of a Sum, which may be nil.
func (s *Sum) Tally() *Tally {
	t := NewTally()
	if s == nil {
		return t
	}
	for _, f := range s.Sites {
		t.sites[folder{f.Host, f.Path}] += f.Pages
	}
	for _, f := range s.Sections {
		t.sections[folder{f.Host, f.Path}] = section{f.Pages, f.Below}
	}
	addAll(t.languages, s.Languages)
	addAll(t.media, s.Media)
	addAll(t.years, s.Years)
	for _, l := range s.Labels {
		t.labels[l.Label] += l.Pages
	}
	t.moreSites, t.late = s.MoreSites, s.Late
	t.pages, t.host, t.noSections, t.moreLabels = s.Pages, s.Host, s.NoSections, s.MoreLabels
	return t
}

// Late reports whether the time ran out before all pages were counted.
func (t *Tally) Late() bool { return t.late }

func addAll[K comparable](to, from map[K]int) {
	for key, n := range from {
		to[key] += n
	}
}

// Count counts the pages of a segment that match a query, by some kinds, until the time is over. It
// fails if a part of the segment cannot be read. configured are the filters of labels that have sites.
func (t *Tally) Count(w *retrieval.Walk, root *query.Node, kinds []Kind, configured []*query.Node, clock *retrieval.Clock) error {
	seg := w.Segment()
	hosts, sections := hostCounter{seg: seg}, newSectionCounter(seg, root, t, clock)
	bySite, bySection := slices.Contains(kinds, Site), slices.Contains(kinds, Section)
	byLanguage, byType := slices.Contains(kinds, Language), slices.Contains(kinds, Type)
	byYear := slices.Contains(kinds, Year)
	var media [256]int
	w.Each(root, func(ord vocab.Ordinal) bool {
		if bySite {
			hosts.add(ord, t)
		}
		if bySection {
			t.pages++
			sections.add(ord)
		}
		if byLanguage {
			if lang := seg.Language(ord); lang != 0 {
				t.languages[lang]++
			}
		}
		if byType {
			media[seg.Medium(ord)]++
		}
		if byYear {
			if day := seg.Date(ord); day != 0 {
				t.years[day.Time().Year()]++
			}
		}
		return true
	})
	hosts.flush(t)
	for medium, n := range media {
		if n > 0 && vocab.Medium(medium) != vocab.OtherMedium {
			t.media[vocab.Medium(medium)] += n
		}
	}
	for _, kind := range []Kind{Product, Version} {
		if slices.Contains(kinds, kind) && sections.err == nil {
			sections.err = t.countLabels(w, root, vocab.LabelKind(kind), configured)
		}
	}
	t.late = t.late || clock.Over()
	return cmp.Or(w.Err(), sections.err)
}

// maxLabels is the number of labels of a kind that are counted in a segment.
const maxLabels = 100

// countLabels counts the pages of a segment that match a query by the labels of a kind.
func (t *Tally) countLabels(w *retrieval.Walk, root *query.Node, kind vocab.LabelKind, configured []*query.Node) error {
	all := map[vocab.Label]*query.Node{}
	for _, n := range configured {
		if l := n.Filter.Label; l.Kind == kind {
			all[l] = n
		}
	}
	stated := 0
	err := w.Segment().EachTerm([]byte(kind.Prefix()), func(term []byte, _ int) bool {
		l, ok := vocab.NewLabel(kind, strings.TrimPrefix(string(term), kind.Prefix()))
		if ok && all[l] == nil {
			stated++
			all[l] = query.OfLabel(l, nil)
		}
		t.moreLabels = t.moreLabels || stated > maxLabels
		return !t.moreLabels
	})
	for l, filter := range all {
		n := 0
		w.Each(query.Both(root, filter), func(vocab.Ordinal) bool {
			n++
			return true
		})
		if n > 0 {
			t.labels[l] += n
		}
	}
	return err
}

// maxSites is the number of hosts that are counted in a shard. Pages of further ones are not.
const maxSites = 50_000

// A hostCounter counts documents of a segment by host. Those of one host are neighbours.
type hostCounter struct {
	seg  *segment.Segment
	host string
	end  vocab.Ordinal // of the host's documents
	n    int
}

func (c *hostCounter) add(ord vocab.Ordinal, t *Tally) {
	if ord >= c.end {
		c.flush(t)
		c.host = c.seg.Host(ord)
		_, c.end = c.seg.HostRange(c.host)
	}
	c.n++
}

func (c *hostCounter) flush(t *Tally) {
	at := folder{host: c.host}
	if _, counted := t.sites[at]; c.n > 0 && !counted && len(t.sites) == maxSites {
		t.moreSites = true
	} else if c.n > 0 {
		t.sites[at] += c.n
	}
	c.n = 0
}

// maxReads is the number of URLs that are read to count the sections in a segment. If there are more,
// sections are not counted.
const maxReads = 5000

// A sectionCounter counts documents of a segment by the folders right below a site: the one that the
// query names, or the only host with documents that match. Those of one folder are neighbours, so that
// the URL of one is read.
type sectionCounter struct {
	seg     *segment.Segment
	clock   *retrieval.Clock
	tally   *Tally
	site    string        // path of the site, "" or "/docs"
	named   bool          // the query names the site
	hostEnd vocab.Ordinal // of the documents of the last host, if the query names no site
	at      folder        // of the last document
	below   bool          // it is below the folder
	end     vocab.Ordinal // of the documents of the folder
	reads   int
	err     error // of the segment; no more is counted
}

func newSectionCounter(
	seg *segment.Segment, root *query.Node, tally *Tally, clock *retrieval.Clock,
) *sectionCounter {
	c, sites := &sectionCounter{seg: seg, clock: clock, tally: tally}, 0
	for _, n := range root.Required() {
		if n.Op == query.Site {
			sites++
			_, c.site, _ = strings.Cut(strings.TrimRight(n.Site, "/"), "/")
			if c.site != "" {
				c.site = "/" + c.site
			}
		}
	}
	c.named = sites > 0
	tally.noSections = tally.noSections || sites > 1 // several sites have no sections together
	return c
}

// readsPerCheck is the number of URLs that are read between two readings of the time.
const readsPerCheck = 32

func (c *sectionCounter) add(ord vocab.Ordinal) {
	if !c.named && ord >= c.hostEnd {
		host := c.seg.Host(ord)
		_, c.hostEnd = c.seg.HostRange(host)
		c.tally.addHost(host)
	}
	if c.tally.noSections || c.err != nil {
		return
	}
	if ord >= c.end {
		if c.reads == maxReads {
			c.tally.noSections = true
			return
		}
		if c.reads%readsPerCheck == 0 && c.clock.Check() {
			return
		}
		c.err = c.read(ord)
	}
	if c.at.path != "" && c.err == nil {
		s := c.tally.sections[c.at]
		c.tally.sections[c.at] = section{s.n + 1, s.below || c.below}
	}
}

// read finds the folder of a document.
func (c *sectionCounter) read(ord vocab.Ordinal) error {
	c.reads++
	c.at, c.end = folder{}, ord+1
	info, err := c.seg.Record(ord)
	if err != nil {
		return err
	}
	u, err := weburl.Parse(info.URL)
	if err != nil {
		return err
	}
	host := c.seg.Host(ord)
	below, ok := strings.CutPrefix(strings.TrimPrefix(u.Key(), host), c.site+"/")
	end := strings.IndexAny(below, "/?")
	if end < 0 {
		end = len(below)
	}
	name := below[:end]
	if !ok || name == "" {
		return nil
	}
	at := folder{host, c.site + "/" + name}
	if c.below = strings.HasPrefix(below[end:], "/"); c.below {
		if _, c.end, err = c.seg.Range(host+at.path+"/", host+at.path+"0"); err != nil {
			return err
		}
		c.end = max(c.end, ord+1)
	}
	if isSite(weburl.HostOfKey(host) + at.path) {
		c.at = at
	}
	return nil
}

// isSite reports whether a site can be written in the query language: its path has no operators.
func isSite(site string) bool {
	q := query.Parse(Site.filter(site))
	return q.Root != nil && q.Root.Op == query.Site && q.Root.Site == site
}

// ofSections returns the numbers of pages by section.
func (t *Tally) ofSections() map[folder]int {
	if t.noSections {
		return nil
	}
	counts := map[folder]int{}
	for at, s := range t.sections {
		counts[at] = s.n
	}
	all := withSubdomains(counts)
	for at, s := range t.sections {
		if !s.below {
			delete(all, at)
		}
	}
	return all
}

// withSubdomains returns the numbers of pages that site: finds by folder: of the host and of its
// subdomains.
func withSubdomains(counts map[folder]int) map[folder]int {
	all := make(map[folder]int, len(counts))
	for at, n := range counts {
		for host := at.host; ; {
			if _, counted := counts[folder{host, at.path}]; counted {
				all[folder{host, at.path}] += n
			}
			dot := strings.LastIndexByte(host, '.')
			if dot < 0 {
				break
			}
			host = host[:dot]
		}
	}
	return all
}

// asWritten returns folders as users write them: "docs.example.org/guide".
func asWritten(counts map[folder]int) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for at, n := range counts {
			if !yield(weburl.HostOfKey(at.host)+at.path, n) {
				return
			}
		}
	}
}
