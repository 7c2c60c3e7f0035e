package engine

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"anatomy/disk/linkdb"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A RankPlace is a page or a site that the bored surfer goes to (BP98 §2.1.2), "a single page or a group".
type RankPlace struct {
	Spec   string  // a URL, or a site: "example.org", "example.org/dir"
	Weight float64 // shared evenly by the pages of the place; only the ratio to other weights counts
}

// ErrNoSuchPage says that no known document is what PageRank was to be personalised to.
var ErrNoSuchPage = errors.New("no known page")

// maxPlaceLine bounds a line of a list of places, in bytes.
const maxPlaceLine = 1 << 14

// ReadRankPlaces reads a place a line: a URL or a site, and a weight after white space, 1 where
// there is none. Empty lines and those that begin with # are passed over. An error names the line.
func ReadRankPlaces(r io.Reader) ([]RankPlace, error) {
	var places []RankPlace
	err := eachLine(r, "places", func(fields []string) error {
		p := RankPlace{Spec: fields[0], Weight: 1}
		if err := p.parse(fields[1:]); err != nil {
			return err
		}
		places = append(places, p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return places, nil
}

// eachLine visits the fields of the lines of a list that say something. Its errors name the list and
// the line; one of them says that there is no such line.
func eachLine(r io.Reader, list string, visit func(fields []string) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxPlaceLine)
	n, empty := 0, true
	for lines.Scan() {
		n++
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || fields[0][0] == '#' {
			continue
		}
		if err := visit(fields); err != nil {
			return fmt.Errorf("pagerank: %s: line %d: %w", list, n, err)
		}
		empty = false
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("pagerank: %s: after line %d: %w", list, n, err)
	}
	if empty {
		return fmt.Errorf("pagerank: %s: the list is empty", list)
	}
	return nil
}

func (p *RankPlace) parse(rest []string) error {
	if _, err := newMatcher([]RankPlace{*p}); err != nil {
		return err
	}
	switch len(rest) {
	case 0:
		return nil
	case 1:
		w, err := strconv.ParseFloat(rest[0], 64)
		if err != nil || !(w > 0) || math.IsInf(w, 1) {
			return fmt.Errorf("weight %.40q is not a number above 0", rest[0])
		}
		p.Weight = w
		return nil
	}
	return errors.New("there must be a URL or a site, and at most a weight")
}

// A matcher finds the places that a document belongs to.
type matcher struct {
	places []RankPlace
	pages  map[vocab.Fingerprint][]int
	sites  map[string][]int // by host; those with a path are matched in full after
	nodes  [][]uint32       // by place: what was found
}

func newMatcher(places []RankPlace) (*matcher, error) {
	m := &matcher{places: places, pages: map[vocab.Fingerprint][]int{}, sites: map[string][]int{}, nodes: make([][]uint32, len(places))}
	for i, p := range places {
		if strings.Contains(p.Spec, "://") {
			u, err := weburl.Parse(p.Spec)
			if err != nil {
				return nil, fmt.Errorf("pagerank: personalize: %w", err)
			}
			m.pages[u.Fingerprint()] = append(m.pages[u.Fingerprint()], i)
			continue
		}
		lo, _, ok := weburl.SiteKeys(p.Spec)
		if !ok {
			return nil, fmt.Errorf("pagerank: personalize: %.100q is neither a URL nor a site", p.Spec)
		}
		host := keyHost(lo)
		m.sites[host] = append(m.sites[host], i)
	}
	return m, nil
}

// keyHost is the host of a sort key, reversed: "org.example" of "org.example/dir".
func keyHost(key string) string {
	if i := strings.IndexAny(key, "/?:"); i >= 0 {
		key = key[:i]
	}
	return strings.TrimSuffix(key, ".")
}

// add notes the places of a node with this URL.
func (m *matcher) add(node uint32, url string) {
	u, err := weburl.Parse(url)
	if err != nil {
		return
	}
	for _, i := range m.pages[u.Fingerprint()] {
		m.nodes[i] = append(m.nodes[i], node)
	}
	if len(m.sites) == 0 {
		return
	}
	for host := keyHost(u.Key()); host != ""; host = host[:max(0, strings.LastIndexByte(host, '.'))] {
		for _, i := range m.sites[host] {
			if weburl.MatchSite(m.places[i].Spec, &u) {
				m.nodes[i] = append(m.nodes[i], node)
			}
		}
	}
}

// weights returns the weight of each node that is in a place, and the places that nothing is in.
func (m *matcher) weights() (weights map[uint32]float64, missing []string) {
	weights = map[uint32]float64{}
	for i, p := range m.places {
		if len(m.nodes[i]) == 0 {
			missing = append(missing, p.Spec)
		}
		for _, node := range m.nodes[i] {
			weights[node] += p.Weight / float64(len(m.nodes[i]))
		}
	}
	return weights, missing
}

// noSuchPage is the error for a personalisation that nothing is in, with known URLs that are near.
func noSuchPage(set *linkdb.Set, places []RankPlace) error {
	what := fmt.Sprintf("%q", places[0].Spec)
	if len(places) > 1 {
		what = fmt.Sprintf("any of %d places, %s and others", len(places), what)
	}
	near, err := nearest(set, places[0].Spec)
	if err != nil {
		return err
	}
	if len(near) > 0 {
		what += "; near it: " + strings.Join(near, " ")
	}
	return fmt.Errorf("pagerank: %w matches %s", ErrNoSuchPage, what)
}

// nearest returns at most three known URLs, or hosts of a site, that begin or end like spec for
// half of it at least.
func nearest(set *linkdb.Set, spec string) ([]string, error) {
	type candidate struct {
		name  string
		alike int
	}
	var best []candidate
	_, page, isPage := strings.Cut(spec, "://")
	if !isPage {
		page = spec
	}
	for name, err := range set.Names() {
		if err != nil {
			return nil, err
		}
		_, known, _ := strings.Cut(name.URL, "://")
		shown := name.URL
		if !isPage && !strings.Contains(spec, "/") {
			known, _, _ = strings.Cut(known, "/")
			shown = known
		}
		c := candidate{shown, alike(known, page)}
		if 2*c.alike < len(page) || slices.ContainsFunc(best, func(b candidate) bool { return b.name == shown }) {
			continue
		}
		best = append(best, c)
		slices.SortStableFunc(best, func(a, b candidate) int { return cmp.Compare(b.alike, a.alike) })
		best = best[:min(3, len(best))]
	}
	names := make([]string, len(best))
	for i, c := range best {
		names[i] = c.name
	}
	return names, nil
}

// alike is how many bytes two strings have in common at both ends, less what they differ in length.
func alike(a, b string) int {
	n := min(len(a), len(b))
	head := 0
	for head < n && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head + tail - (max(len(a), len(b))-n)/2
}
