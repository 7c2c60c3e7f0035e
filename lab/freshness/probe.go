package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"anatomy/analysis"
	"anatomy/indexer"
	"anatomy/vocab"
	"anatomy/weburl"
)

const (
	probeEvery = 500 * time.Millisecond // a page is noted
	askEvery   = 250 * time.Millisecond // one is asked for
	patience   = 30 * time.Second
)

// A prober asks for pages until they are found.
type prober struct {
	base string

	mu      sync.Mutex
	took    []time.Duration // from the last byte to the answer that has the page
	copies  int             // of pages that were there
	missing []string        // URLs of those that were not found
	failed  error           // of the first question without an answer
}

// run probes pages of a web until ctx ends, and then waits for those that are not found yet.
func (p *prober) run(ctx context.Context, w *web) error {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	var open sync.WaitGroup
	var buf indexer.Buffer
	for ctx.Err() == nil {
		select {
		case <-tick.C:
			w.wanted.Store(true)
		case sent := <-w.noted:
			if query, u := queryFor(&sent, &buf); query != "" {
				open.Go(func() { p.probe(query, u, sent.at) })
			}
		case <-ctx.Done():
		}
	}
	open.Wait()
	return p.failed
}

// queryFor returns a query of the longest words of a page and the last words of its URL, which
// distinguish it from the other pages of its template, and the canonical form of the URL. Both are
// "" if the page is noindex or has too few words.
func queryFor(sent *page, buf *indexer.Buffer) (query, u string) {
	canonical, err := weburl.Parse(sent.url)
	if err != nil {
		return "", ""
	}
	d, err := indexer.Parse(&vocab.Page{Doc: 1, URL: canonical.String(), ContentType: sent.contentType, Body: sent.body}, buf)
	if err != nil || d.NoIndex || d.Redirect != "" {
		return "", ""
	}
	seen := map[string]bool{}
	for word, hit := range d.Hits() {
		if w := string(word); hit.Type() == vocab.Plain && len(w) <= 24 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" {
			seen[w] = true
		}
	}
	var longest []string
	for w := range seen {
		longest = append(longest, w)
	}
	slices.SortFunc(longest, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	if len(longest) < 4 {
		return "", ""
	}
	query = strings.Join(longest[:min(8, len(longest))], " ") + " site:" + canonical.Hostname()
	if in := analysis.PhraseTerms(string(canonical.AppendText(nil))); len(in) > 0 {
		query += fmt.Sprintf(" inurl:%q", strings.Join(in[max(0, len(in)-4):], " "))
	}
	return query, canonical.String()
}

// probe asks until a page is found.
func (p *prober) probe(query, u string, at time.Time) {
	for time.Since(at) < patience {
		found, err := p.finds(query, u)
		now := time.Now()
		p.mu.Lock()
		p.failed = cmp.Or(p.failed, err)
		if found {
			p.took = append(p.took, now.Sub(at))
		}
		p.mu.Unlock()
		if found || err != nil {
			return
		}
		time.Sleep(askEvery)
	}
	p.giveUp(u)
}

func (p *prober) finds(query, u string) (bool, error) {
	var answer struct {
		Results []struct {
			URL string `json:"url"`
		} `json:"results"`
	}
	err := p.get("/api/v1/search?num=100&filter=0&q="+url.QueryEscape(query), &answer)
	for _, r := range answer.Results {
		if r.URL == u {
			return true, err
		}
	}
	return false, err
}

// giveUp records why a page was not found: it is an alias, or something is wrong.
func (p *prober) giveUp(u string) {
	var trace struct {
		Records []struct{} `json:"records"`
	}
	err := p.get("/api/v1/trace?url="+url.QueryEscape(u), &trace)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = cmp.Or(p.failed, err)
	if len(trace.Records) > 1 {
		p.copies++
	} else {
		p.missing = append(p.missing, u)
	}
}

// get asks for JSON. A refusal is an empty answer.
func (p *prober) get(path string, answer any) error {
	r, err := client.Get(p.base + path)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	switch r.StatusCode {
	case http.StatusOK:
		return json.NewDecoder(r.Body).Decode(answer)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return nil
	}
	return fmt.Errorf("%s: %s", path, r.Status)
}

func (p *prober) report() {
	fmt.Printf("found after fetching     %s; %d were copies of pages that are there, %d not found in %v\n", percentiles(p.took), p.copies, len(p.missing), patience)
	for _, u := range p.missing[:min(5, len(p.missing))] {
		fmt.Println("  not found:", u)
	}
}
