// Command cluster compares a crawl by several processes with a crawl of one process, over a web that
// docsweb serves: by crawlers that fetch for one owner, or by nodes that share a bucket.
//
//	go run ./lab/cluster --docsweb PROGRAM --pages DIR --crawlers N,N [--runs 3] [-- more flags of crawl]
//	go run ./lab/cluster --docsweb PROGRAM --pages DIR --crawlers N --kill crawler --every 5s
//	go run ./lab/cluster --docsweb PROGRAM --pages DIR --nodes N,N [--crawlers N] [--shards N [--divide [--copies N]]] [--kill owner --every 60s --for 20m]
//
// PROGRAM is a built docsweb, DIR the folder that its fetch filled. Ports 80, 443, 4222 and 5353 on
// loopback must be free. The two crawls take turns. Each has to have the same URLs with the same pages,
// no URL may be requested twice, and robots.txt no more often than by one process; docsweb's audit must
// be clean. It prints CPU seconds of the owner, and of the owner with its crawlers, as ratios to one
// process, and DNS queries a URL with a page.
//
// --kill crawler kills a crawler with SIGKILL at that interval and starts another; --kill owner kills
// the owner and runs the same command again; --kill bus cuts the connections between the owner and its
// crawlers for half of the interval. It does so for the time --for, or until the crawl has ended, and fails
// if that was before the first kill. Repeated requests are printed then, and no fault.
//
// Several numbers of crawlers or nodes are compared with the same crawl of one process. With --nodes the bucket
// is a folder. With --shards the nodes crawl into shards, and one process into one data folder. With --divide
// each node owns some of the shards: --kill owner kills a node that owns one. Then links with their texts, ranks
// and answers are compared with those of one process, too, and what differs is printed. With --crawlers as well,
// these fetch for whichever node is the owner, and --kill crawler kills them. All nodes are asked questions
// meanwhile; where one does not answer, the next one is asked. In the end all nodes have to give the same
// answers with the same scores, and the collection is restored from the bucket and has to have the pages of one
// process.
// --kill owner kills the node that owns the collection, and starts it again when another one owns it;
// --kill searcher kills one that does not own it, and starts it again; --kill suspend stops the owner
// for 20 s; --kill bucket takes the bucket away for half of the interval. Unless crawlers are killed, this
// goes on for the time --for when the crawl has ended. The bus is a part of the owner here, and dies with
// it. The longest time until another node owned the collection is printed.
//
// --upgrade-from COMMIT builds anatomy of a commit, and runs it as every other process of the crawl by
// several: the first owner and each second one after it, the first crawler and each second one, nodes 0
// and 2. So what either of them writes or sends is read by the other. A process that ends because it
// does not understand the other is an error, with what it said.
//
// It exits with status 1 at a difference.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"anatomy/lab/rig"
	"anatomy/lab/rig/bench"
	"anatomy/vocab"
	"anatomy/weburl"
)

func main() {
	b := &bench.Bench{}
	flag.StringVar(&b.Docsweb, "docsweb", "", "the docsweb program")
	flag.StringVar(&b.Pages, "pages", "", "folder of pages that docsweb serves")
	flag.StringVar(&b.Anatomy, "anatomy", "", "a built anatomy; default: built from here")
	crawlers := flag.String("crawlers", "", "crawler processes, `NUMBERS` separated by commas; default: 2, or none with --nodes")
	nodes := flag.String("nodes", "", "processes that share a bucket, `NUMBERS` separated by commas")
	flag.IntVar(&b.Shards, "shards", 0, "shards of the collection, with --nodes")
	flag.BoolVar(&b.Divide, "divide", false, "each node owns some of the shards, with --nodes and --shards")
	flag.IntVar(&b.Copies, "copies", 0, "nodes that have a shard whole, with --divide; others have light copies, and ask these")
	flag.StringVar(&b.Kill, "kill", "", "harm `WHAT`: crawler, owner or bus; with --nodes crawler, owner, searcher, suspend or bucket")
	flag.DurationVar(&b.Every, "every", 5*time.Second, "time between kills")
	flag.DurationVar(&b.Duration, "for", time.Minute, "kill for so long")
	flag.StringVar(&b.UpgradeFrom, "upgrade-from", "", "run the program of `COMMIT` beside that of here")
	runs := flag.Int("runs", 1, "pairs of crawls")
	flag.Parse()
	b.Flags = flag.Args()
	teams, err := readTeams(*nodes, *crawlers)
	if err != nil || *runs < 1 || slices.ContainsFunc(teams, func(t team) bool { return !t.fits(b) }) {
		fmt.Fprintln(os.Stderr, "usage: cluster --docsweb PROGRAM --pages DIR --crawlers N,N|--nodes N,N [--kill WHAT --every 5s --for 1m]")
		os.Exit(2)
	}
	if err := run(b, teams, *runs); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// A team is the processes of a crawl by several.
type team struct{ nodes, crawlers int }

// readTeams returns a team for each number of nodes with each number of crawlers.
func readTeams(nodes, crawlers string) (all []team, err error) {
	n, failed := rig.Numbers(nodes)
	c, err := rig.Numbers(crawlers)
	switch {
	case len(n) == 0 && len(c) == 0:
		c = []int{2}
	case len(c) == 0:
		c = []int{0}
	}
	if len(n) == 0 {
		n = []int{0}
	}
	for _, nodes := range n {
		for _, crawlers := range c {
			all = append(all, team{nodes, crawlers})
		}
	}
	return all, errors.Join(failed, err)
}

// fits reports whether a team can do what the flags ask for.
func (t team) fits(b *bench.Bench) bool {
	t.put(b)
	switch {
	case b.Docsweb == "" || b.Pages == "":
	case b.Shards > 0 && t.nodes == 0, b.Divide && (b.Shards == 0 || t.crawlers > 0):
	case b.Kill == "crawler" && t.crawlers == 0, t.nodes == 1 && needsOthers(b.Kill):
	default:
		return b.Kill == "" || slices.Contains(b.Kinds(), b.Kill)
	}
	return false
}

// put makes a team the processes of the next crawl.
func (t team) put(b *bench.Bench) { b.Nodes, b.Crawlers = t.nodes, t.crawlers }

// needsOthers reports whether harm of a kind needs a second node, which becomes the owner or remains it.
func needsOthers(kind string) bool { return kind == "owner" || kind == "searcher" || kind == "suspend" }

// run compares runs crawls of one process with as many by each team.
func run(b *bench.Bench, teams []team, runs int) error {
	end, err := b.Prepare()
	if err != nil {
		return err
	}
	defer end()
	all := make([]ratios, len(teams))
	var failed error
	for range runs {
		one, err := b.Measure(b.Alone)
		if err != nil {
			return err
		}
		print("one process", one)
		for i, t := range teams {
			t.put(b)
			if err := all[i].add(b, one); err != nil {
				fmt.Println("            ", err)
				failed = errors.Join(failed, fmt.Errorf("%s: %w", who(b), err))
			}
		}
	}
	for i, t := range teams {
		t.put(b)
		if len(all[i].owner) > 0 {
			all[i].print(who(b))
		}
	}
	return failed
}

// who names the processes of a crawl by several.
func who(b *bench.Bench) string {
	if b.Nodes == 0 {
		return fmt.Sprintf("%d crawlers", b.Crawlers)
	}
	return fmt.Sprintf("%d nodes, %d crawlers, %d shards", b.Nodes, b.Crawlers, b.Shards)
}

// ratios are those of crawls by several processes to crawls by one.
type ratios struct{ owner, together, untilIdle []float64 }

// add crawls with several processes, and compares that with a crawl by one.
func (r *ratios) add(b *bench.Bench, one *bench.Result) error {
	several := b.Spread
	if b.Nodes > 0 {
		several = b.Share
	}
	many, err := b.Measure(several)
	if err != nil {
		return err
	}
	print(who(b), many)
	if b.Kill != "" && many.Kills == 0 {
		return errors.New("the crawl ended before the first kill: choose a shorter --every, or slow the crawl with -- --delay 50ms")
	}
	if err := many.Complete(one); err != nil {
		return err
	}
	if b.Divide {
		if err := compareGraphs(one, many); err != nil {
			return err
		}
	}
	if b.Kill == "" {
		if err := compareRequests(one, many, b.Divide); err != nil {
			return err
		}
	}
	r.owner = append(r.owner, many.Owner/one.Owner)
	if many.UntilIdle > 0 {
		r.untilIdle = append(r.untilIdle, many.UntilIdle/one.Owner)
	}
	r.together = append(r.together, (many.Owner+many.Crawlers)/one.Owner)
	return nil
}

func (r *ratios) print(who string) {
	n := len(r.owner)
	fmt.Printf("%s, CPU to one process, median of %d: owner %.2f, all together %.2f\n", who, n, median(r.owner), median(r.together))
	if len(r.untilIdle) > 0 {
		fmt.Printf("%s, CPU to one process until nothing was left to do, median of %d: %.2f\n", who, n, median(r.untilIdle))
	}
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

func print(who string, r *bench.Result) {
	n := float64(max(len(r.Pages), 1))
	fmt.Printf("%-12s %d URLs with a page, %d requests, %d repeated, %d for robots.txt, %.3f DNS queries a URL, CPU %.2f s + %.2f s, %d kills\n",
		who, len(r.Pages), r.Requests, len(r.Repeated), r.Robots, float64(r.Lookups)/n, r.Owner, r.Crawlers, r.Kills)
	for _, line := range r.Repeated[:min(len(r.Repeated), 5)] {
		fmt.Printf("             repeated: %s\n", line)
	}
	if r.Answers > 0 {
		fmt.Printf("             %d questions answered, %d not; the longest time without an owner %.1f s\n",
			r.Answers, r.Unanswered, r.TakeOver.Seconds())
	}
	if r.UntilIdle > 0 {
		fmt.Printf("             CPU %.2f s until nothing was left to do\n", r.UntilIdle)
	}
	if len(r.Space) > 0 {
		fmt.Printf("             MB by node:")
		for _, size := range r.Space {
			fmt.Printf(" %.1f", float64(size)/1e6)
		}
		fmt.Println()
	}
	for line := range strings.Lines(r.Audit) {
		if strings.HasPrefix(line, "gap") {
			fmt.Print("             ", line)
		}
	}
}

// compareRequests fails if requests were repeated, or robots.txt more often than by one process. The next
// owner of a shard that was handed over asks for robots.txt again.
func compareRequests(one, many *bench.Result, handedOver bool) error {
	switch {
	case len(many.Repeated) > 0:
		return fmt.Errorf("%d requests were repeated, by one process %d", len(many.Repeated), len(one.Repeated))
	case !handedOver && many.Robots > one.Robots:
		return fmt.Errorf("%d requests for robots.txt, one process %d", many.Robots, one.Robots)
	}
	return nil
}

// compareGraphs prints how links and ranks of the crawls differ. Of links between two pages none may.
// Dead links of one shape are requested as samples, so that of these a few URLs are known in one crawl
// alone, see doc/operations.md.
func compareGraphs(one, many *bench.Result) error {
	twice := ofSeveralSites(one.Pages)
	lost := missing("lost", one, many, twice)
	more := missing("more", many, one, twice)
	most, sum, ranked := 0.0, 0.0, 0
	for url, want := range one.Graph.Ranks {
		if _, ok := one.Pages[url]; !ok {
			continue
		}
		by := math.Abs(float64(many.Graph.Ranks[url]-want)) / float64(want)
		most, sum, ranked = max(most, by), sum+by, ranked+1
	}
	fmt.Printf("             %d links with texts, one process %d; between pages %d lost and %d more; ranks of %d pages differ by %.2g on average, at most %.2g\n",
		len(many.Graph.Links), len(one.Graph.Links), lost, more, ranked, sum/float64(max(ranked, 1)), most)
	if ranked == 0 || len(one.Graph.Links) == 0 {
		return errors.New("there is no link or no rank")
	}
	if lost+more > 0 {
		return errors.New("links differ")
	}
	return compareRanks(one.Graph, many.Graph, func(url string) bool { return twice[one.Pages[url]] })
}

// maxDifference is that of ranks, which sum to 1.
const maxDifference = 1e-6

// compareRanks fails unless the ranks of both crawls are those of their links, and the same if what
// either of them found to be missing is missing in both, and pages of several sites that are identical are
// one document in both, see [ofSeveralSites].
func compareRanks(one, many *rig.Graph, isTwice func(url string) bool) error {
	a, b := &one.Graph, &many.Graph
	fmt.Printf("             %d followed links, one process %d, of which %d are equal; not found by one process alone %d URLs, by several alone %d\n",
		len(b.Followed), len(a.Followed), shared(a.Followed, b.Followed),
		len(a.NotFound)-shared(a.NotFound, b.NotFound), len(b.NotFound)-shared(a.NotFound, b.NotFound))
	own, _ := difference(one.Plain, a.PageRanks(nil))
	owns, _ := difference(many.Plain, b.PageRanks(nil))
	as := b.WithAliases(a, isTwice)
	same, where := difference(a.PageRanks(b.NotFound), as.PageRanks(a.NotFound))
	fmt.Printf("             PageRank differs by %.2g at most from a plain loop over the crawl's links; without links to what either found missing, and with %d identical pages of several sites as one, that of the crawls by %.2g\n",
		max(own, owns), len(as.Aliases)-len(b.Aliases), same)
	if max(own, owns) > maxDifference {
		return errors.New("PageRank is not that of the links")
	}
	if same > maxDifference {
		return fmt.Errorf("ranks differ, most at %s", where)
	}
	return nil
}

func shared[K comparable](a, b map[K]bool) (n int) {
	for k := range a {
		if b[k] {
			n++
		}
	}
	return n
}

// difference returns the greatest difference of two vectors, each of which is scaled to the sum 1, and the
// URL that has it.
func difference[A, B float32 | float64](a map[string]A, b map[string]B) (most float64, where string) {
	sumA, sumB := 0.0, 0.0
	for _, rank := range a {
		sumA += float64(rank)
	}
	for _, rank := range b {
		sumB += float64(rank)
	}
	compare := func(url string) {
		if by := math.Abs(float64(a[url])/sumA - float64(b[url])/sumB); by > most {
			most, where = by, url
		}
	}
	for url := range a {
		compare(url)
	}
	for url := range b {
		compare(url)
	}
	return most, where
}

// ofSeveralSites returns what pages of several sites have in common. Such pages are one document in a data
// folder, and may be several in shards, see doc/operations.md.
func ofSeveralSites(pages rig.Pages) map[vocab.ContentID]bool {
	sites, twice := map[vocab.ContentID]string{}, map[vocab.ContentID]bool{}
	for url, content := range pages {
		host, _, _ := strings.Cut(url, "/")
		site := weburl.SiteOf(host)
		if of, ok := sites[content]; ok && of != site {
			twice[content] = true
		}
		sites[content] = site
	}
	return twice
}

// missing counts the links between pages that one crawl has and another one lacks, and prints some. Links
// of the pages in twice are not compared.
func missing(what string, has, lacks *bench.Result, twice map[vocab.ContentID]bool) (n int) {
	for link := range has.Graph.Links {
		fields := strings.Split(link, "\t")
		target, ok := has.Pages[fields[0]]
		source, both := has.Pages[fields[2]]
		if !ok || !both || twice[target] || twice[source] || lacks.Graph.Links[link] {
			continue
		}
		if n++; n <= 5 {
			fmt.Printf("             %s: %q\n", what, link)
		}
	}
	return n
}
