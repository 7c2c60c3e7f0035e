package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"anatomy/cluster/bucket"
	"anatomy/cluster/division"
	"anatomy/cluster/replica"
)

// The collection whose shards two nodes divide.
const (
	dividedHosts  = 16
	dividedPages  = sitePages / dividedHosts // of each host
	dividedShards = 4

	firstAddress, secondAddress = "127.0.0.101", "127.0.0.102" // that the nodes fetch from
)

// A divided collection has hosts, a bucket, and nodes of its own.
type divided struct {
	*site
	server *http.Server
	folder string // of the bucket
	bucket bucket.Bucket
	seeds  []string
	a, b   *member

	mu      sync.Mutex
	fetched map[string]int // pages by the address that they were sent to
}

// ServeHTTP serves ten pages on each of the addresses 127.0.0.1 to 127.0.0.16.
func (d *divided) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	local := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr).IP.To4()
	host := int(local[3]) - 1
	n, err := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
	if err != nil || n >= dividedPages {
		http.NotFound(w, r)
		return
	}
	page := host*dividedPages + n
	if !d.wait(r.Context(), page) {
		return
	}
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	d.mu.Lock()
	d.fetched[from]++
	d.mu.Unlock()
	writePage(w, page, fmt.Sprintf("/%d", n+1), d.seeds[(host+1)%dividedHosts])
}

// divide starts the hosts.
func (b *bench) divide() (err error) {
	d := &divided{site: newSite(), folder: b.path("divided"), fetched: map[string]int{}}
	b.divided = d
	d.server = &http.Server{Handler: d}
	port := "0"
	for host := range dividedHosts {
		listener, err := net.Listen("tcp", net.JoinHostPort(fmt.Sprintf("127.0.0.%d", host+1), port))
		if err != nil {
			return err
		}
		_, port, _ = net.SplitHostPort(listener.Addr().String())
		d.seeds = append(d.seeds, "http://"+listener.Addr().String()+"/0")
		go d.server.Serve(listener) // ends with Close
	}
	if err := os.Mkdir(d.folder, 0o700); err != nil {
		return err
	}
	d.bucket, err = bucket.Open(d.folder)
	return err
}

// startDivided starts a node that fetches from an address of its own.
func (b *bench) startDivided(folder, address string) (*member, error) {
	args := []string{
		"node", "--cluster", b.divided.folder, "--data", b.path(folder), "--allow-private", "--delay", "0", "--bind", address,
		"--listen", "127.0.0.1:0", "--shards", strconv.Itoa(dividedShards), "--divide", "--peers", "127.0.0.1:0", "--copies", "1",
	}
	return b.startProcess(folder, append(args, b.divided.seeds...))
}

// share waits until each of some nodes owns equally many shards, which have a number of pages together.
// If that is all pages, the shards must be settled, and the copies of others light.
func (b *bench) share(nodes, pages int) error {
	what := fmt.Sprintf("%d nodes own %d shards each, with %d pages in all", nodes, dividedShards/nodes, pages)
	return b.until(what, func() (bool, error) {
		st, err := division.Status(b.ctx, b.divided.bucket)
		if errors.Is(err, replica.ErrNoCluster) {
			return false, nil // the first node has not begun
		}
		if err != nil {
			return false, err
		}
		all := pages == sitePages
		found := 0
		for _, n := range st.Nodes {
			if len(n.Owns) != dividedShards/nodes || all && len(n.Whole) != len(n.Owns) {
				return false, nil
			}
			for _, s := range n.Owns {
				if all && !s.Complete {
					return false, nil
				}
				found += int(s.Pages)
			}
		}
		return len(st.Nodes) == nodes && found == pages, nil
	})
}

// balance has a second node come when half of the pages are fetched.
func (b *bench) balance() (done string, err error) {
	if err := b.divide(); err != nil {
		return "", err
	}
	d := b.divided
	d.allow(sitePages / 2)
	if d.a, err = b.startDivided("first", firstAddress); err != nil {
		return "", err
	}
	if err := b.share(1, sitePages/2); err != nil {
		return "", err
	}
	began := time.Now()
	if d.b, err = b.startDivided("second", secondAddress); err != nil {
		return "", err
	}
	err = b.share(2, sitePages/2)
	return fmt.Sprintf("a node owned %d shards with %d pages; a second one came, and after %.1f s each owned %d",
		dividedShards, sitePages/2, time.Since(began).Seconds(), dividedShards/2), err
}

// compute has the two nodes fetch the other half, and asks both.
func (b *bench) compute() (string, error) {
	d := b.divided
	if d.b == nil {
		return "", errors.New("there are no two nodes")
	}
	before := d.sent()
	d.allow(sitePages)
	if err := b.share(2, sitePages); err != nil {
		return "", err
	}
	after := d.sent()
	first, second := after[firstAddress]-before[firstAddress], after[secondAddress]-before[secondAddress]
	if first == 0 || second == 0 {
		return "", fmt.Errorf("of the second half, one node fetched %d pages and the other %d", first, second)
	}
	err := b.until("both nodes give the same answers", func() (bool, error) {
		one, err := b.ask(d.a)
		if err != nil {
			return false, err
		}
		other, err := b.ask(d.b)
		return one == other && strings.HasPrefix(one, fmt.Sprint(sitePages, " ")), err
	})
	return fmt.Sprintf("one node fetched, indexed and ranked %d further pages and the other %d; each has light copies of the "+
		"other's shards, and both give the same answers over all %d pages", first, second, sitePages), err
}

// sent returns how many pages were sent to each address.
func (d *divided) sent() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.fetched)
}

// ask returns the answers of a node to some queries: the number of pages, and the first with their scores.
func (b *bench) ask(m *member) (string, error) {
	var text strings.Builder
	client := http.Client{Timeout: within}
	for _, query := range queries {
		r, err := client.Get(m.searchPage() + "api/v1/search?limit=50&q=" + url.QueryEscape(query))
		if err != nil {
			return "", err
		}
		var answer struct {
			Total   struct{ Value int }
			Partial bool
			Results []struct {
				URL   string
				Score float64
			}
		}
		err = json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&answer)
		r.Body.Close()
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&text, answer.Total.Value, query, answer.Partial, answer.Results)
	}
	return text.String(), nil
}
