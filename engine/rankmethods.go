package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"anatomy/disk/datadir"
	"anatomy/pagerank"
	"anatomy/weburl"
)

// A RankMethod is a way to rank pages by links.
type RankMethod uint8

const (
	ByPages    RankMethod = iota // PageRank of the pages (BP98 §2.1)
	ByHosts                      // PageRank of the graph of hosts: each page has what its host has
	ByHarmonic                   // harmonic centrality of the pages (Boldi and Vigna, 2013)
)

var rankMethods = []string{"pages", "hosts", "harmonic"}

func (m RankMethod) String() string { return rankMethods[m] }

// title says for people what a vector of the method favours.
func (m RankMethod) title() string {
	return [...]string{"", "pages of hosts that others link to", "pages that others reach over few links"}[m]
}

// ParseRankMethod reads the name of a method: pages, hosts or harmonic.
func ParseRankMethod(name string) (RankMethod, error) {
	i := slices.Index(rankMethods, name)
	if i < 0 {
		return 0, fmt.Errorf("pagerank: method %.40q is none of %s", name, strings.Join(rankMethods, ", "))
	}
	return RankMethod(i), nil
}

// byHosts ranks the hosts: a host links to another if any of its pages does. All pages of a host get
// the rank of the host, scaled to sum to 1.
func (k *ranking) byHosts(ctx context.Context, o RankOptions) (*pagerank.Result, []float32, error) {
	hosts, count, err := k.nodes.hosts(k)
	if err != nil {
		return nil, nil, err
	}
	b := &pagerank.Builder{}
	b.Grow(count)
	if err := k.nodes.eachLink(k.set, func(from uint32, targets []uint32) {
		for i, to := range targets {
			targets[i] = hosts[to]
		}
		b.Add(hosts[from], targets)
	}); err != nil {
		return nil, nil, err
	}
	g, err := b.Graph()
	if err != nil {
		return nil, nil, err
	}
	o.Warm = nil
	result, err := pagerank.Compute(ctx, g, o.Options)
	if err != nil {
		return nil, nil, err
	}
	ranks := make([]float64, len(hosts))
	for node, host := range hosts {
		ranks[node] = result.Ranks[host]
	}
	return result, shares(ranks), nil
}

// hosts gives the host of each node as a number, and how many there are.
func (n *nodes) hosts(k *ranking) (hosts []uint32, count int, err error) {
	numbers := map[string]uint32{}
	hosts = make([]uint32, len(n.docs))
	for name, err := range k.set.Names() {
		if err != nil {
			return nil, 0, err
		}
		node, ok := n.node(name.Doc)
		if !ok {
			continue
		}
		host := ""
		if u, err := weburl.Parse(name.URL); err == nil {
			host = u.Host()
		}
		number, known := numbers[host]
		if !known {
			number = uint32(len(numbers))
			numbers[host] = number
		}
		hosts[node] = number
	}
	return hosts, len(numbers), nil
}

// shares are values scaled to sum to 1.
func shares(values []float64) []float32 {
	all := 0.0
	for _, v := range values {
		all += v
	}
	scaled := make([]float32, len(values))
	for i, v := range values {
		scaled[i] = float32(v / cmp.Or(all, 1))
	}
	return scaled
}

// byHarmonic ranks the pages by how near all others are.
func (k *ranking) byHarmonic(ctx context.Context, o RankOptions) (*pagerank.Result, []float32, error) {
	g, err := k.graph(false)
	if err != nil {
		return nil, nil, err
	}
	result := &pagerank.Result{Nodes: g.Nodes(), Links: g.Links(), Converged: true}
	for node := range uint32(g.Nodes()) {
		if g.Out(node) == 0 {
			result.Dangling++
		}
	}
	sums, err := pagerank.Harmonic(ctx, g, pagerank.HarmonicOptions{Workers: o.Workers, Progress: func(distance int, added float64) {
		result.Iterations, result.Residual = distance, added
		o.Progress(distance, added)
	}})
	return result, shares(sums), err
}

// graph is that of the pages, or with its links turned round.
func (k *ranking) graph(turned bool) (*pagerank.Graph, error) {
	b := &pagerank.Builder{}
	if !turned {
		if err := k.nodes.addLinks(k.set, b); err != nil {
			return nil, err
		}
		return b.Graph()
	}
	b.Grow(len(k.nodes.docs))
	if err := k.nodes.eachLink(k.set, func(from uint32, targets []uint32) {
		for _, to := range targets {
			b.Add(to, []uint32{from})
		}
	}); err != nil {
		return nil, err
	}
	return b.Graph()
}

// A RankTopic is a vector to compute with others at a time (Haveliwala, WWW 2002).
type RankTopic struct {
	Name   string
	Places []RankPlace
}

// ReadRankTopics reads a place a line: the name of a vector, a URL or a site, and a weight, 1 where there is
// none, parted by white space. Empty lines and those that begin with # are passed over. There are at
// most [pagerank.MaxTopics] names. An error names the line.
func ReadRankTopics(r io.Reader) ([]RankTopic, error) {
	var topics []RankTopic
	if err := eachLine(r, "topics", func(fields []string) error { return addToTopic(&topics, fields) }); err != nil {
		return nil, err
	}
	return topics, nil
}

func addToTopic(topics *[]RankTopic, fields []string) error {
	if err := CheckRankName(fields[0]); err != nil {
		return err
	}
	if len(fields) == 1 {
		return errors.New("there must be a name, a URL or a site, and at most a weight")
	}
	p := RankPlace{Spec: fields[1], Weight: 1}
	if err := p.parse(fields[2:]); err != nil {
		return err
	}
	i := slices.IndexFunc(*topics, func(t RankTopic) bool { return t.Name == fields[0] })
	if i < 0 {
		if len(*topics) == pagerank.MaxTopics {
			return fmt.Errorf("%q is one topic too many: at most %d are computed at a time", fields[0], pagerank.MaxTopics)
		}
		i = len(*topics)
		*topics = append(*topics, RankTopic{Name: fields[0]})
	}
	(*topics)[i].Places = append((*topics)[i].Places, p)
	return nil
}

// RankTopics computes a vector for each topic in one pass over the links, and puts them in force. Of
// the options Damping, Tolerance, MaxIterations, Workers and Progress count.
func RankTopics(ctx context.Context, dir string, topics []RankTopic, o pagerank.Options) ([]*RankReport, error) {
	k, err := openRanking(dir)
	if err != nil {
		return nil, err
	}
	defer k.set.Close()
	matchers := make([]*matcher, len(topics))
	for i, t := range topics {
		if matchers[i], err = newMatcher(t.Places); err != nil {
			return nil, err
		}
	}
	if k.nodes, err = loadNodes(k.set, matchers...); err != nil {
		return nil, err
	}
	reports, options := make([]*RankReport, len(topics)), make([]RankOptions, len(topics))
	weights := make([]map[uint32]float64, len(topics))
	for i, t := range topics {
		reports[i], options[i] = &RankReport{Name: t.Name, Method: ByPages.String()}, RankOptions{Options: o, Personalize: t.Places, Name: t.Name}
		if err := k.favour(reports[i], matchers[i], &options[i]); err != nil {
			return nil, err
		}
		weights[i] = options[i].Options.Personalize
	}
	var residuals []float64
	progress := o.Progress
	o.Progress = func(iteration int, residual float64) {
		residuals = append(residuals, residual)
		if progress != nil {
			progress(iteration, residual)
		}
	}
	g, err := k.graph(false)
	if err != nil {
		return nil, err
	}
	results, err := pagerank.ComputeTopics(ctx, g, o, weights)
	if err != nil {
		return nil, err
	}
	for i, result := range results {
		before, err := readVector(datadir.RankNamed(dir, topics[i].Name))
		if err != nil {
			before = nil // it is about to be replaced
		}
		reports[i].Residuals = residuals
		if err := k.publish(reports[i], result, shares(result.Ranks), options[i], before); err != nil {
			return nil, err
		}
	}
	return reports, nil
}

// TrustSeeds proposes pages to look at by hand and to trust if they are good: those from which most of the
// web is reached, by PageRank with all links turned round (TrustRank: Gyöngyi, Garcia-Molina,
// Pedersen, VLDB 2004, §4.2). A rank personalised to the good ones is TrustRank.
func TrustSeeds(ctx context.Context, dir string, n int, o pagerank.Options) ([]RankedPage, error) {
	k, err := openRanking(dir)
	if err != nil {
		return nil, err
	}
	defer k.set.Close()
	if k.nodes, err = loadNodes(k.set); err != nil {
		return nil, err
	}
	g, err := k.graph(true)
	if err != nil {
		return nil, err
	}
	result, err := pagerank.Compute(ctx, g, o)
	if err != nil {
		return nil, err
	}
	seeds := make([]RankedPage, g.Nodes())
	for node, doc := range k.nodes.docs {
		seeds[node] = RankedPage{Doc: doc, Rank: result.Ranks[node]}
	}
	slices.SortFunc(seeds, func(a, b RankedPage) int { return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Doc, b.Doc)) })
	seeds = seeds[:min(n, len(seeds))]
	find := k.set.Finder()
	for i := range seeds {
		if seeds[i].URL, _, err = find.URL(seeds[i].Doc); err != nil {
			return nil, err
		}
	}
	return seeds, nil
}
