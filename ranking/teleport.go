package ranking

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

	"anatomy/vocab"
	"anatomy/weburl"
)

// A TeleportTarget is a page or a site in the teleport set (BP98 §2.1.2: "a single page or a group
// of pages").
type TeleportTarget struct {
	Spec   string  // a URL, or a site: "example.org", "example.org/dir"
	Weight float64 // divided evenly among the target's pages; only the ratio to other weights matters
}

// ErrNoSuchPage is the error if no known document matches a teleport target.
var ErrNoSuchPage = errors.New("no known page")

// maxTargetLine bounds a line of a list of targets in bytes.
const maxTargetLine = 1 << 14

// ReadTeleportTargets reads lines of two fields: a URL or a site, and an optional weight, default
// 1. Empty lines and lines that begin with # are skipped. Errors have the line number.
func ReadTeleportTargets(r io.Reader) ([]TeleportTarget, error) {
	var targets []TeleportTarget
	err := eachLine(r, "places", func(fields []string) error {
		target, err := parseTarget(fields)
		targets = append(targets, target)
		return err
	})
	if err != nil {
		return nil, err
	}
	return targets, nil
}

// ReadNodes reads lines like [ReadTeleportTargets], with nodes of a graph instead of URLs and
// sites.
func ReadNodes(r io.Reader) (weights map[string]float64, err error) {
	weights = map[string]float64{}
	err = eachLine(r, "nodes", func(fields []string) error {
		weight, err := parseWeight(fields)
		weights[fields[0]] += weight
		return err
	})
	return weights, err
}

// eachLine calls visit with the fields of each line that is neither empty nor a comment. Errors
// have the name of the list and the line number. A list without entries is an error.
func eachLine(r io.Reader, list string, visit func(fields []string) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxTargetLine)
	n, empty := 0, true
	for lines.Scan() {
		n++
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || fields[0][0] == '#' {
			continue
		}
		if err := visit(fields); err != nil {
			return fmt.Errorf("%s: line %d: %w", list, n, err)
		}
		empty = false
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: after line %d: %w", list, n, err)
	}
	if empty {
		return fmt.Errorf("%s: the list is empty", list)
	}
	return nil
}

// parseTarget parses the fields of a target: its Spec and an optional Weight.
func parseTarget(fields []string) (TeleportTarget, error) {
	target := TeleportTarget{Spec: fields[0]}
	if _, err := newMatcher([]TeleportTarget{target}); err != nil {
		return target, err
	}
	w, err := parseWeight(fields)
	target.Weight = w
	return target, err
}

// parseWeight parses the second of at most two fields, and returns 1 if there is none.
func parseWeight(fields []string) (float64, error) {
	switch len(fields) {
	case 1:
		return 1, nil
	case 2:
		w, err := strconv.ParseFloat(fields[1], 64)
		if err != nil || !(w > 0) || math.IsInf(w, 1) {
			return 0, fmt.Errorf("weight %.40q is not a number above 0", fields[1])
		}
		return w, nil
	}
	return 0, errors.New("expected one word and an optional weight")
}

// A matcher finds the teleport targets that a document belongs to.
type matcher struct {
	targets []TeleportTarget
	pages   map[vocab.Fingerprint][]int // targets by URL
	sites   map[string][]int            // by host; those with a path are matched in full afterwards
	docs    [][]vocab.DocID             // documents found so far, by target
}

func newMatcher(targets []TeleportTarget) (*matcher, error) {
	m := &matcher{
		targets: targets, pages: map[vocab.Fingerprint][]int{}, sites: map[string][]int{},
		docs: make([][]vocab.DocID, len(targets)),
	}
	for i, t := range targets {
		if strings.Contains(t.Spec, "://") {
			u, err := weburl.Parse(t.Spec)
			if err != nil {
				return nil, fmt.Errorf("personalize: %w", err)
			}
			m.pages[u.Fingerprint()] = append(m.pages[u.Fingerprint()], i)
			continue
		}
		lo, _, ok := weburl.SiteKeys(t.Spec)
		if !ok {
			return nil, fmt.Errorf("personalize: %.100q is neither a URL nor a site", t.Spec)
		}
		host := keyHost(lo)
		m.sites[host] = append(m.sites[host], i)
	}
	return m, nil
}

// keyHost returns the reversed host of a sort key: "org.example" of "org.example/dir".
func keyHost(key string) string {
	if i := strings.IndexAny(key, "/?:"); i >= 0 {
		key = key[:i]
	}
	return strings.TrimSuffix(key, ".")
}

// add adds a document to the targets that its URL belongs to. A site has canonical documents only.
func (m *matcher) add(doc vocab.DocID, url string, isCanonical bool) {
	if len(m.targets) == 0 {
		return
	}
	u, err := weburl.Parse(url)
	if err != nil {
		return
	}
	for _, i := range m.pages[u.Fingerprint()] {
		m.docs[i] = append(m.docs[i], doc)
	}
	if len(m.sites) == 0 || !isCanonical {
		return
	}
	for host := keyHost(u.Key()); host != ""; host = host[:max(0, strings.LastIndexByte(host, '.'))] {
		for _, i := range m.sites[host] {
			if weburl.MatchSite(m.targets[i].Spec, &u) {
				m.docs[i] = append(m.docs[i], doc)
			}
		}
	}
}

// weights returns the weight of each node in a target, and the targets without a node. nodeOf returns the node of
// the page that a document leads to.
func (m *matcher) weights(nodeOf func(vocab.DocID) (uint32, bool)) (weights map[uint32]float64, missing []string) {
	weights = map[uint32]float64{}
	for i, t := range m.targets {
		var nodes []uint32
		for _, doc := range m.docs[i] {
			if node, ok := nodeOf(doc); ok {
				nodes = append(nodes, node)
			}
		}
		if len(nodes) == 0 {
			missing = append(missing, t.Spec)
		}
		for _, node := range nodes {
			weights[node] += t.Weight / float64(len(nodes))
		}
	}
	return weights, missing
}

// noSuchPage returns the error for targets without a page. It lists similar known URLs.
func noSuchPage(set *links, targets []TeleportTarget) error {
	what := fmt.Sprintf("%q", targets[0].Spec)
	if len(targets) > 1 {
		what = fmt.Sprintf("any of %d targets, %s and others", len(targets), what)
	}
	near, err := nearest(set, targets[0].Spec)
	if err != nil {
		return err
	}
	if len(near) > 0 {
		what += "; near it: " + strings.Join(near, " ")
	}
	return fmt.Errorf("%w matches %s", ErrNoSuchPage, what)
}

// nearest returns at most three known URLs, or hosts if spec is a site without a path, that share a
// prefix and a suffix with spec of at least half its length.
func nearest(set *links, spec string) ([]string, error) {
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

// alike returns the number of bytes that two strings share at both ends, minus half the difference
// of their lengths.
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
