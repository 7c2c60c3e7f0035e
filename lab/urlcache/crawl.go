package main

import (
	"anatomy/disk/datadir"
	"anatomy/disk/repository"
	"anatomy/indexer"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A crawled is the pages of a crawl with their links, in the order in which they were stored.
type crawled struct {
	pages []crawledPage
	hosts map[string]int // numbers of hosts, those of links included
	sites [][]int        // the pages of each host
	buf   indexer.Buffer
}

type crawledPage struct {
	host  int
	links []crawledLink // repeated as on the page
}

type crawledLink struct {
	to   vocab.Fingerprint
	host int
}

// readCrawl reads the pages of a data folder from its repository.
func readCrawl(data string) (*crawled, error) {
	r, err := repository.OpenReader(datadir.Repository(data))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	c := &crawled{hosts: map[string]int{}}
	err = r.Scan(0, func(_ vocab.Address, record *repository.Record) error {
		if record.Kind == repository.PageRecord {
			c.add(&record.Page)
		}
		return nil
	})
	return c, err
}

// add adds a page. A page that cannot be parsed has no links, as in the crawl.
func (c *crawled) add(p *vocab.Page) {
	own, err := weburl.Parse(p.URL)
	if err != nil {
		return
	}
	doc, err := indexer.Parse(p, &c.buf)
	if err != nil {
		return
	}
	page := crawledPage{host: c.host(own)}
	for _, l := range doc.Links {
		if u, err := weburl.Parse(l.Target); err == nil {
			page.links = append(page.links, crawledLink{u.Fingerprint(), c.host(u)})
		}
	}
	c.sites[page.host] = append(c.sites[page.host], len(c.pages))
	c.pages = append(c.pages, page)
}

func (c *crawled) host(u weburl.URL) int {
	name := u.Hostname()
	i, ok := c.hosts[name]
	if !ok {
		i = len(c.hosts)
		c.hosts[name] = i
		c.sites = append(c.sites, nil)
	}
	return i
}

// count adds a page to a summary.
func (s *summary) count(p *crawledPage) {
	s.pages++
	s.all += len(p.links)
	for i, again := range p.repeats() {
		if again {
			continue
		}
		s.different++
		if p.links[i].host == p.host {
			s.within++
		}
	}
}

// replayed returns the links of a crawl as they came; with away only those out of their host.
func (c *crawled) replayed(away bool) ([]vocab.Fingerprint, summary) {
	var stream []vocab.Fingerprint
	var sum summary
	for i := range c.pages {
		p := &c.pages[i]
		sum.count(p)
		for _, l := range p.links {
			if !away || l.host != p.host {
				stream = append(stream, l.to)
			}
		}
	}
	for _, pages := range c.sites {
		if len(pages) > 0 {
			sum.sites++
		}
	}
	return stream, sum
}
