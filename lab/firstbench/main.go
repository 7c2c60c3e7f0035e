// Command firstbench measures the pipeline from URL to searchable page on a web that docsweb serves,
// and in the same run a floor: the smallest Go program that fetches and tokenizes the same pages.
//
//	go run ./lab/firstbench --docsweb PROGRAM --pages DIR
//
// PROGRAM is a built docsweb, DIR the folder of pages that its fetch filled. Ports 80, 443 and 5353 on
// loopback must be free. It prints CPU seconds per 1,000 pages, peak memory, bytes per page on disk by
// structure, sizes as Table 1 of the paper, the latency of a few hundred queries, search times as Table 2,
// cache hit rates, and how polite the crawl was.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/html"

	"anatomy/disk/datadir"
	"anatomy/disk/segment"
	"anatomy/engine"
	"anatomy/lab/rig"
	"anatomy/searcher"
	"anatomy/vocab"
)

func main() {
	docsweb := flag.String("docsweb", "", "the docsweb program")
	pages := flag.String("pages", "", "folder of pages that docsweb serves")
	floor := flag.Bool("floor", false, "be the floor: fetch and tokenize the URLs on standard input")
	seed := flag.Uint64("seed", 1, "seed of the queries")
	queries := flag.Int("queries", 400, "number of queries")
	keep := flag.String("keep", "", "keep data folder and logs here")
	flag.Parse()
	var err error
	if *floor {
		err = fetchAndTokenise(os.Stdin)
	} else if *docsweb == "" || *pages == "" {
		fmt.Fprintln(os.Stderr, "usage: firstbench --docsweb PROGRAM --pages DIR")
		os.Exit(2)
	} else {
		err = run(*docsweb, *pages, *keep, *seed, *queries)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "firstbench:", err)
		os.Exit(1)
	}
}

func run(docsweb, pages, work string, seed uint64, queries int) error {
	if work == "" {
		temporary, err := os.MkdirTemp("", "firstbench")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		work = temporary
	}
	anatomy, err := rig.Build(work)
	if err != nil {
		return err
	}
	access, authority, data := filepath.Join(work, "access.log"), filepath.Join(work, "ca.pem"), filepath.Join(work, "data")
	stop, err := rig.Start(exec.Command(docsweb, "serve", "-root", pages, "-log", access, "-ca", authority), "127.0.0.1:80")
	if err != nil {
		return err
	}
	defer stop()

	crawl := exec.Command(anatomy, "crawl", "--data", data, "--quiet", "--scope", "any", "--delay", "0", "--allow-private",
		"--resolver", "127.0.0.1:5353", "--stats", filepath.Join(work, "stats.json"), "http://www.docs.test/")
	crawl.Env = append(os.Environ(), "SSL_CERT_FILE="+authority)
	crawl.Stderr = os.Stderr
	began := time.Now()
	if err := crawl.Run(); err != nil {
		return fmt.Errorf("crawl: %w", err)
	}
	wall := time.Since(began)
	stop()

	urls, err := fetched(access)
	if err != nil {
		return err
	}
	if stop, err = rig.Start(exec.Command(docsweb, "serve", "-root", pages, "-ca", authority), "127.0.0.1:80"); err != nil {
		return err
	}
	bare := exec.Command(os.Args[0], "-floor")
	bare.Stdin = strings.NewReader(strings.Join(urls, "\n"))
	bare.Stdout = os.Stdout
	if err := bare.Run(); err != nil {
		return fmt.Errorf("floor: %w", err)
	}
	stop()

	n := float64(len(urls)) / 1000
	ours, floor := rig.CPU(crawl.ProcessState), rig.CPU(bare.ProcessState)
	fmt.Printf("pages fetched            %d in %.1f s\n", len(urls), wall.Seconds())
	fmt.Printf("CPU s per 1,000 pages    %.2f (floor, fetch and tokenise: %.2f; ratio %.2f)\n", ours/n, floor/n, ours/floor)
	fmt.Printf("peak memory              %.0f MB\n", float64(crawl.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024)
	if err := printDisk(data, len(urls)); err != nil {
		return err
	}
	if err := printCaches(filepath.Join(work, "stats.json")); err != nil {
		return err
	}
	if err := printQueries(data, seed, queries); err != nil {
		return err
	}
	if err := printTable1(anatomy, data, access); err != nil {
		return err
	}
	if err := printTable2(data, seed); err != nil {
		return err
	}
	audit, err := exec.Command(docsweb, "audit", "-root", pages, access).CombinedOutput()
	fmt.Printf("audit:\n%s", audit)
	return err
}

// fetched lists the distinct URLs of the access log that were answered with a page.
func fetched(access string) ([]string, error) {
	f, err := os.Open(access)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	seen := map[string]bool{}
	scan := bufio.NewScanner(f)
	for scan.Scan() {
		c := strings.Split(scan.Text(), "\t")
		if len(c) >= 5 && c[4] == "200" && c[3] != "/robots.txt" && c[3] != "/sitemap.xml" {
			seen["http://"+c[2]+c[3]] = true
		}
	}
	urls := make([]string, 0, len(seen))
	for u := range seen {
		urls = append(urls, u)
	}
	slices.Sort(urls)
	if len(urls) == 0 {
		return nil, fmt.Errorf("no page in %s", access)
	}
	return urls, scan.Err()
}

// fetchAndTokenise is the floor: net/http, the tokenizer of x/net/html, nothing kept.
func fetchAndTokenise(list io.Reader) error {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:80")
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 4, DisableCompression: true}}
	urls := make(chan string)
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			for u := range urls {
				r, err := client.Get(u)
				if err != nil {
					continue
				}
				z := html.NewTokenizer(r.Body)
				for z.Next() != html.ErrorToken {
				}
				r.Body.Close()
			}
		})
	}
	scan := bufio.NewScanner(list)
	for scan.Scan() {
		urls <- scan.Text()
	}
	close(urls)
	workers.Wait()
	return scan.Err()
}

func printDisk(data string, pages int) error {
	sizes, total := map[string]int64{}, int64(0)
	err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(data, path)
		sizes[strings.Split(relative, string(filepath.Separator))[0]] += info.Size()
		total += info.Size()
		return err
	})
	if err != nil {
		return err
	}
	fmt.Printf("bytes a page on disk     %d, of these:", total/int64(pages))
	for _, name := range []string{"repository", "index", "docindex", "links", "rank"} {
		fmt.Printf(" %s %d", name, sizes[name]/int64(pages))
	}
	fmt.Println()
	return nil
}

func printCaches(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var s engine.CrawlStats
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	rate := func(hits, misses int64) float64 { return 100 * float64(hits) / float64(max(1, hits+misses)) }
	fmt.Printf("cache hits               DNS %.2f %% of %d, URLs %.2f %% of %d\n",
		rate(s.DNSHits, s.DNSMisses), s.DNSHits+s.DNSMisses, rate(s.URLHits, s.URLMisses), s.URLHits+s.URLMisses)
	return nil
}

// printQueries asks queries made from the pages' own titles and text: a word, two words, a phrase.
func printQueries(data string, seed uint64, n int) error {
	asked, err := makeQueries(data, rand.New(rand.NewPCG(seed, seed)), n)
	if err != nil {
		return err
	}
	s, err := searcher.Open(data, searcher.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	best := make([]time.Duration, len(asked))
	for pass := range 3 {
		for i, q := range asked {
			began := time.Now()
			if _, err := s.Search(context.Background(), searcher.Request{Query: q, Limit: 10}); err != nil {
				return fmt.Errorf("query %q: %w", q, err)
			}
			if took := time.Since(began); pass == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	slices.Sort(best)
	at := func(q float64) float64 { return float64(best[int(q*float64(len(best)-1))].Microseconds()) / 1000 }
	fmt.Printf("query, ms                p50 %.2f, p95 %.2f, slowest %.2f (%d queries of words, pairs and phrases, ten results with snippets, best of 3)\n", at(.5), at(.95), at(1), len(best))
	return nil
}

func makeQueries(data string, random *rand.Rand, n int) ([]string, error) {
	m, err := datadir.ReadManifest(data)
	if err != nil {
		return nil, err
	}
	var asked []string
	for _, name := range m.Segments {
		s, err := segment.Open(datadir.Segment(data, name), nil)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		for len(asked) < n && s.Docs() > 0 {
			info, err := s.Info(vocab.Ordinal(random.IntN(s.Docs())))
			if err != nil {
				return nil, err
			}
			words := strings.Fields(info.Title)
			if len(asked)%2 == 1 {
				words = strings.Fields(info.Text)
			}
			if len(words) < 4 {
				continue
			}
			at := random.IntN(len(words) - 3)
			switch len(asked) % 3 {
			case 0:
				asked = append(asked, words[at])
			case 1:
				asked = append(asked, words[at]+" "+words[random.IntN(len(words))])
			default:
				asked = append(asked, `"`+strings.Join(words[at:at+3], " ")+`"`)
			}
		}
	}
	if len(asked) == 0 {
		return nil, fmt.Errorf("no page in %s to make queries from", data)
	}
	return asked, nil
}
