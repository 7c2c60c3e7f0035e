package fleet_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"anatomy/cluster/fleet"
	"anatomy/crawler"
	"anatomy/disk/shards"
	"anatomy/engine"
	"anatomy/engine/collective"
	"anatomy/internal/test/testweb"
	"anatomy/vocab"
)

// TestShared crawls a web into shards, with workers that work for all of them: the pages of one process
// are there, each was requested once, and each worker counts once.
func TestShared(t *testing.T) {
	t.Parallel()
	const seed, size = 5, 90
	web, local := testweb.Generate(t, seed, size, 0), t.TempDir()
	want := testweb.Crawl(t, web.Options(local, web.Seed))
	web, dir := testweb.Generate(t, seed, size, 0), filepath.Join(t.TempDir(), "many")
	n := newNetwork(t)
	const workers = 2
	for i := range workers {
		n.work(fmt.Sprintf("w%d", i), web.Web)
	}
	o := n.options(dir, web, workers)
	fleets := 0
	team := fleet.NewShared(func(c crawler.Options) (*fleet.Fleet, error) {
		fleets++
		f := fleet.New(fleet.Options{Bus: n, Least: workers}, c)
		n.listen(f.Receive)
		return f, nil
	})
	o.NewVisitor = func(c crawler.Options) (engine.Visitor, error) { return team.Join(c) }
	c, err := collective.Open(t.Context(), o, 3)
	testweb.Must(t, err)
	testweb.Must(t, c.Run(t.Context()))
	got, status := c.Stats(), c.Status()
	testweb.Must(t, c.Close())
	testweb.Checked(t, dir)
	var pages []string
	filled := 0
	for i := range 3 {
		found := testweb.Searchable(t, shards.Folder(dir, i))
		if pages = append(pages, found...); len(found) > 0 {
			filled++
		}
	}
	slices.Sort(pages)
	testweb.SameLists(t, "documents", pages, testweb.Searchable(t, local))
	if fleets != 1 || filled < 2 || len(status.Crawlers) != workers {
		t.Errorf("%d fleets with %d crawlers for %d shards with pages", fleets, len(status.Crawlers), filled)
	}
	if got.Pages != want.Pages || got.Requests < got.Pages || got.Requests > want.Requests*3/2 {
		t.Errorf("%d pages by %d requests, one process %d by %d", got.Pages, got.Requests, want.Pages, want.Requests)
	}
	for key, times := range requests(web) {
		if times > 1 && !strings.HasSuffix(key, "/robots.txt") {
			t.Errorf("%s was requested %d times", key, times)
		}
	}
}

// TestSharedNumbers has two crawls visit hosts at the same time, by leases and documents of the same
// numbers. Each gets its own results, and is asked for its own leases and documents.
func TestSharedNumbers(t *testing.T) {
	web, n := testweb.New(t), newNetwork(t)
	n.work("w", web)
	team := fleet.NewShared(func(c crawler.Options) (*fleet.Fleet, error) {
		f := fleet.New(fleet.Options{Bus: n}, c)
		n.listen(f.Receive)
		return f, nil
	})
	const lease, pages = 7, 3
	hosts := []string{"one.test", "two.test"}
	var together, visits sync.WaitGroup
	together.Add(len(hosts))
	var crawls []*fleet.Sharer
	var admitted [2]atomic.Int32
	for i, host := range hosts {
		confirmed := make(chan struct{})
		once := sync.OnceFunc(func() { close(confirmed) })
		for page := range pages {
			web.Handle(fmt.Sprintf("%s/%d", host, page), func(to http.ResponseWriter, _ *http.Request) {
				switch page {
				case 0: // both visits are under way
					together.Done()
					together.Wait()
				case 1: // when the first page was handled, the others are to be confirmed
					<-confirmed
				}
				to.Header().Set("Content-Type", "text/html")
				fmt.Fprint(to, host)
			})
		}
		c, err := team.Join(crawler.Options{
			UserAgent: "fleet test", MinRate: 1,
			Admit: func(id uint64, _ []netip.Addr) bool {
				admitted[i].Add(1)
				return id == lease
			},
			Confirm: func(doc vocab.DocID) bool {
				once()
				return doc > 0 && doc <= pages
			},
		})
		testweb.Must(t, err)
		crawls = append(crawls, c)
	}
	for i, host := range hosts {
		l := vocab.Lease{ID: lease, Host: host, Site: host, FixedDelay: true}
		for page := range pages {
			l.URLs = append(l.URLs, vocab.Target{Doc: vocab.DocID(page + 1), URL: fmt.Sprintf("http://%s/%d", host, page)})
		}
		visits.Go(func() {
			next := vocab.DocID(1)
			report := crawls[i].Visit(t.Context(), l, func(f vocab.Fetch) {
				if f.Doc != next || f.Page == nil || f.Page.Doc != next || string(f.Page.Body) != host {
					t.Errorf("%s: document %d: %v %s", host, f.Doc, f.Outcome, f.Reason)
				}
				next++
			})
			if report.Lease != lease || next != pages+1 {
				t.Errorf("%s: a report of lease %d after document %d", host, report.Lease, next-1)
			}
		})
	}
	visits.Wait()
	for i, host := range hosts {
		if n := admitted[i].Load(); n != 1 {
			t.Errorf("%s: %d admissions", host, n)
		}
		testweb.Must(t, crawls[i].Close())
	}
}
