// Package collection describes the content of a data folder in the form in which pages, the API and
// the command line show it.
package collection

import (
	"fmt"
	"time"

	"anatomy/disk/rankvector"
	"anatomy/vocab"
)

// A LinkReport is the links of one document. Its JSON is that of the API and of
// "anatomy links --json".
type LinkReport struct {
	Doc   vocab.DocID `json:"docid"`
	URL   string      `json:"url"`
	Title string      `json:"title,omitempty"`
	Rank  float64     `json:"pagerank"` // in the vector PlainRank, share of the sum of all ranks; 0 without one

	// FromLinks is the sum of the Shares of all in-links. The rest of Rank comes from teleportation
	// and from dangling nodes (BP98 §2.1.2).
	FromLinks float64 `json:"from_links"`

	In       []InLink  `json:"in"` // the first n by Share, largest first
	InCount  int       `json:"in_count"`
	OffSite  int       `json:"in_off_site"` // the part of InCount from other sites
	Out      []OutLink `json:"out"`         // the first n by docID
	OutCount int       `json:"out_count"`
	Broken   int       `json:"out_broken"` // the part of OutCount to documents that do not exist
}

// An InLink is a page that links to the document. A page with only nofollow links does not count.
type InLink struct {
	Doc     vocab.DocID `json:"docid"`
	URL     string      `json:"url"`
	Title   string      `json:"title,omitempty"`
	Texts   []string    `json:"texts"` // anchor texts, without empty ones
	OffSite bool        `json:"off_site"`

	// Share is the rank that the page passes to the document: its rank × damping ÷ its out-links.
	Share float64 `json:"share"`
}

// An OutLink is a document that the document links to.
type OutLink struct {
	Doc      vocab.DocID `json:"docid"`
	URL      string      `json:"url"`
	Title    string      `json:"title,omitempty"`
	NoFollow bool        `json:"nofollow"`
	Broken   bool        `json:"broken"` // the target does not exist: 404, 410, unknown host
}

// A Trace explains why a page is, or is not, in the index. Its JSON is that of the API and of
// "anatomy trace --json".
type Trace struct {
	URL   string `json:"url"`   // canonical form
	Known bool   `json:"known"` // a seed, a link or a sitemap has named it

	// Records are the crawl's records of the URL and then of the targets of its aliases, in order.
	Records []TraceRecord `json:"records"`
	Unread  string        `json:"unread"`           // why the records could not be read, or ""
	Live    bool          `json:"live"`             // the records come from a running crawl
	Shards  int           `json:"shards,omitempty"` // of the collection; 0 if it is one data folder

	Indexed bool   `json:"indexed"` // searches can find the last of Records
	Crawled bool   `json:"crawled"` // … by its own text; otherwise only by anchor texts
	Words   uint32 `json:"words"`   // in its text
	Title   string `json:"title"`
	Absent  string `json:"absent"` // why it is not indexed, or ""

	Scripted bool `json:"scripted,omitempty"` // it has no text without JavaScript

	// Controls are the publisher's robots directives that limit what results show: "nosnippet",
	// "max-snippet:50", "noarchive", "unavailable_after: 2026-12-31T00:00:00Z".
	Controls []string `json:"controls,omitempty"`

	Doc      vocab.DocID `json:"docid"`      // of the last of Records, or 0
	PageRank float64     `json:"pagerank"`   // share of the sum of all ranks, or 0
	Average  float64     `json:"of_average"` // PageRank ÷ average rank
	Ranks    []TraceRank `json:"ranks"`      // in the other rank vectors of the data folder

	Alike    []NearPage `json:"alike"` // the ten nearest near-duplicates, by distance
	AlikeAll int        `json:"alike_total"`

	// Similar are known URLs that differ from an unknown one only in scheme, www or the last slash.
	Similar []string `json:"similar"`
}

// PlainRank is the name of the rank vector by links alone, which a LinkReport is of.
const PlainRank = rankvector.Plain

// A TraceRank is the rank of a page in one rank vector.
type TraceRank struct {
	Name    string  `json:"name"`       // of the vector
	Rank    float64 `json:"rank"`       // share of the sum of all ranks
	Average float64 `json:"of_average"` // Rank ÷ average rank
}

// A TraceRecord is the crawl's record of one URL.
type TraceRecord struct {
	Doc       vocab.DocID `json:"docid"`
	URL       string      `json:"url"`
	Depth     int         `json:"depth"` // links from the nearest seed
	FirstSeen time.Time   `json:"first_seen,omitzero"`
	State     string      `json:"state"`               // "queued", "finished", …
	Retry     time.Time   `json:"retry,omitzero"`      // next attempt, in state waiting
	Tries     int         `json:"tries"`               // consecutive temporary failures
	Refused   string      `json:"refused"`             // why it must not be fetched, or ""
	Waits     string      `json:"waits,omitempty"`     // why its host waits, in state queued
	Visits    int         `json:"visits"`              // visits that learned whether the page exists
	Visited   time.Time   `json:"visited,omitzero"`    // the last of them
	Changes   int         `json:"changes"`             // visits that found new content
	Changed   time.Time   `json:"changed,omitzero"`    // the last of them
	Misses    int         `json:"misses"`              // consecutive visits that found no page
	DownSince time.Time   `json:"down_since,omitzero"` // when its host went down

	Next    time.Time `json:"next,omitzero"` // next visit
	NextWhy string    `json:"next_why"`
	Planned bool      `json:"planned"` // Next is in the queue; otherwise only "crawl --recrawl" visits

	Fetch *TraceFetch `json:"fetch"` // the last fetch, or null
}

// Origin describes the distance of the URL from the seeds.
func (r *TraceRecord) Origin() string {
	switch r.Depth {
	case 0:
		return "a seed or named by robots.txt"
	case 1:
		return "1 link from a seed"
	}
	return fmt.Sprintf("%d links from a seed", r.Depth)
}

// A TraceFetch is the result of a fetch.
type TraceFetch struct {
	At      time.Time   `json:"at,omitzero"`
	Outcome string      `json:"outcome"` // "fetched", "redirected", "forbidden", …
	Status  int         `json:"status"`  // HTTP status, 0 without a response
	Reason  string      `json:"reason"`
	Place   string      `json:"place"`   // address in the repository, "" if nothing was stored
	Content string      `json:"content"` // checksum of the body, "" for a redirect
	LeadsTo vocab.DocID `json:"leads_to"`
	SameAs  vocab.DocID `json:"same_as"`

	// Truncated is the reason why only a prefix of the body was kept: "length" (over the limit),
	// "disconnect", "time" (too slow) or "unspecified"; "" for a complete body.
	Truncated string `json:"truncated,omitempty"`
}

// A NearPage is a near-duplicate of another page.
type NearPage struct {
	Doc      vocab.DocID `json:"docid"`
	URL      string      `json:"url"`
	Distance int         `json:"distance"`       // differing bits of the two sketches, of 56
	Lang     string      `json:"lang,omitempty"` // of the same page in another language
}

// A SiteReport describes one site. Its JSON is that of the API.
type SiteReport struct {
	Site      string      `json:"site"`      // as in site:
	Documents int         `json:"documents"` // in the index
	Crawled   int         `json:"crawled"`   // of Documents: fetched
	PageRank  float64     `json:"pagerank"`  // sum over Documents; 0 without a rank vector
	Pages     []SitePage  `json:"pages"`     // the first n by PageRank
	LinksOf   int         `json:"links_of"`  // number of the site's best pages that In and Out count
	In        []HostLinks `json:"in"`        // hosts that link to these pages
	Out       []HostLinks `json:"out"`       // hosts that these pages link to

	Outcomes map[string]int `json:"outcomes"` // outcomes of the last visits, by URL; null if unknown
	Live     bool           `json:"live"`     // a crawl is running, so Outcomes are unknown
}

// A SitePage is a page of a site.
type SitePage struct {
	Doc      vocab.DocID `json:"docid"`
	URL      string      `json:"url"`
	Title    string      `json:"title"`
	PageRank float64     `json:"pagerank"`
	Crawled  bool        `json:"crawled"`
}

// HostLinks counts the links from or to a host.
type HostLinks struct {
	Host  string `json:"host"`
	Links int    `json:"links"`
}

// Versions are the stored pages of one document.
type Versions struct {
	Pages []Version // newest first

	// Read is the share of the repository that was searched. If it is below 1, there may be more
	// versions, and the next call continues the search.
	Read float64
}

// A Version is one stored page of a document.
type Version struct {
	Fetched time.Time
	Place   string // its address, for Site.Version
	Bytes   int    // size of its body
}

// Holdings describe the size of a collection and of its files.
type Holdings struct {
	Pages     int // fetched pages
	Uncrawled int // documents only known from links
	Words     int64
	Postings  int64
	Links     int64
	Segments  []SegmentHolding // oldest first
	Disk      []DiskHolding
	Free      int64 // bytes free on the disk, 0 if unknown
	Ranks     []RankHolding
}

// A SegmentHolding is the size of one segment.
type SegmentHolding struct {
	Name      string
	Documents int
	Bytes     int64
}

// A DiskHolding is the size of one structure.
type DiskHolding struct {
	Name  string
	Bytes int64
}

// A RankHolding describes one rank vector.
type RankHolding struct {
	Name     string
	About    string // parameters of its computation
	Computed time.Time
	Used     bool // used by searches by default
}

// A Life is when a crawl saw the definition of a web service. Its JSON is that of the API.
type Life struct {
	FirstSeen time.Time `json:"first_seen,omitzero"` // when its URL was found
	LastSeen  time.Time `json:"last_seen,omitzero"`  // last visit, unless Missing
	Changed   time.Time `json:"changed,omitzero"`    // last visit that found other content, or the first
	Changes   int       `json:"changes"`             // visits that found other content
	Missing   int       `json:"missing"`             // last visits in a row that did not find it
}
