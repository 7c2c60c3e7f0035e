package engine

import (
	"bytes"
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"anatomy/disk/docindex"
	"anatomy/disk/repository"
	"anatomy/engine/internal/urllanguage"
	"anatomy/engine/internal/votes"
	"anatomy/indexer"
	"anatomy/storeserver"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Documents with byte-identical bodies form a cluster. One of them is the canonical document: the
// page that results show; the others are aliases. While a crawl runs that is the document that was
// fetched first. When all pages are fetched, and before all segments are merged, the canonical
// document is elected, so that it does not depend on the order of fetching. The elected document is
// the one
//
//  1. whose URL the page declares to be canonical (RFC 6596),
//  2. whose URL does not name another language where the URL of a duplicate names that of the page:
//     of /tr/a and /en/a with an English text, which nobody has translated yet, it is /en/a,
//  3. whose site most other sites link to, counting at most twenty,
//  4. to which most pages link,
//  5. whose URL is the plainest, see weburl.Plainer.
//
// Links of pages that have duplicates do not count, because the links of a copy of a site lead into
// that copy, and which copy is to be shown is the question (package votes).
//
// If the canonical document changes, the body is stored again as its page, and the document index
// is changed as if the cluster had been fetched in that order (urlserver.Server.Elect). So a
// rebuilt index is the same. A document that had other header fields is not elected.

// A cluster is a set of documents with one body.
type cluster struct {
	canonical vocab.DocID            // the others are its duplicates
	best      vocab.DocID            // best by links and URLs
	in        map[string]vocab.DocID // best by language, if URLs name several languages
	at        vocab.Address          // address of the page
}

// An election elects the canonical documents of clusters.
type election struct {
	*stages
	intake *intake

	pending sync.WaitGroup // records on their way to the document index
	failure firstError     // first failure of these

	mu     sync.Mutex
	former []former
}

// A former is a former canonical document whose page is still at its old address.
type former struct {
	doc, canonical vocab.DocID
	at             vocab.Address
}

// elect elects the canonical document of each cluster. The stages must be running.
func elect(ctx context.Context, s *stages, intake *intake) error {
	e := &election{stages: s, intake: intake}
	var err error
	e.inTurn(func(ctx context.Context) error {
		err = e.builder.Flush(ctx) // so that the links of all pages count
		return err
	})
	if err != nil {
		return err
	}
	clusters, err := e.clusters(ctx)
	if err != nil || len(clusters) == 0 {
		return err
	}
	// By address, so that neighbours are read together.
	slices.SortFunc(clusters, func(a, b cluster) int { return cmp.Compare(a.at, b.at) })
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, k := range clusters {
		if working.Err() != nil {
			break
		}
		group.Go(func() error { return e.decide(working, k) })
	}
	err = group.Wait()
	e.store.Hurry()
	e.pending.Wait()
	if err := cmp.Or(err, e.failure.get()); err != nil {
		return err
	}
	return e.retire(ctx)
}

// clusters returns the clusters with the candidates of each.
func (e *election) clusters(ctx context.Context) ([]cluster, error) {
	counted, err := e.votes()
	if err != nil || len(counted) == 0 {
		return nil, err
	}
	var all []cluster
	var members []docindex.Record
	finish := func() error {
		if k, ok := choose(members, counted); ok {
			all = append(all, k)
		}
		members = members[:0]
		return ctx.Err()
	}
	add := func(doc vocab.DocID) error {
		r, ok, err := e.urls.Get(doc)
		if ok {
			members = append(members, r)
		}
		return err
	}
	last := vocab.DocID(0)
	err = e.urls.EachDuplicate(func(of, doc vocab.DocID) (bool, error) {
		if of != last {
			if err := finish(); err != nil {
				return false, err
			}
			if err := add(of); err != nil {
				return false, err
			}
			last = of
		}
		return true, add(doc)
	})
	return all, cmp.Or(err, finish())
}

// choose returns a cluster's candidates. The first member is the canonical document.
func choose(members []docindex.Record, counted map[vocab.DocID]votes.Votes) (k cluster, ok bool) {
	if len(members) < 2 || !members[0].IsPage() {
		return k, false
	}
	electable := members[:1:1]
	for i := range members[1:] {
		if r := &members[i+1]; isElectable(r, &members[0]) {
			electable = append(electable, *r)
		}
	}
	first := &members[0]
	k = cluster{canonical: first.Doc, best: bestOf(electable, counted), at: first.Fetch.Address}
	for language, some := range urllanguage.ByLanguage(electable) {
		if k.in == nil {
			k.in = map[string]vocab.DocID{}
		}
		k.in[language] = bestOf(some, counted)
	}
	return k, true
}

// bestOf returns the document with the most votes and, among equals, the plainest URL.
func bestOf(electable []docindex.Record, counted map[vocab.DocID]votes.Votes) vocab.DocID {
	best := &electable[0]
	for i := range electable[1:] {
		r := &electable[i+1]
		c := counted[r.Doc].Compare(counted[best.Doc])
		if c > 0 || c == 0 && weburl.Plainer(r.URL, best.URL) {
			best = r
		}
	}
	return best.Doc
}

// isElectable reports whether a duplicate may replace its canonical document.
func isElectable(r, canonical *docindex.Record) bool {
	return r.IsDuplicate() && r.Fetch.Alias == canonical.Doc &&
		r.Fetch.Content == canonical.Fetch.Content &&
		r.History.Headers == canonical.History.Headers
}

// votes returns the votes of each document in a cluster. It is empty if there is no cluster.
func (e *election) votes() (map[vocab.DocID]votes.Votes, error) {
	all := map[vocab.DocID]votes.Votes{}
	err := e.urls.EachDuplicate(func(of, doc vocab.DocID) (bool, error) {
		all[of], all[doc] = votes.Votes{}, votes.Votes{}
		return true, nil
	})
	if err != nil || len(all) == 0 {
		return all, err
	}
	set, err := e.builder.OpenLinks()
	if err != nil {
		return nil, err
	}
	defer set.Close()
	return all, votes.Count(set, all)
}

// decide reads the page of a cluster and changes its canonical document if another one is elected.
func (e *election) decide(ctx context.Context, k cluster) error {
	record, err := e.repo.Read(k.at)
	if err != nil || record.Kind != repository.PageRecord {
		return nil // anatomy check reports damage
	}
	page := record.Page
	best, ok, err := e.urls.Get(k.best)
	if err != nil || !ok {
		return err
	}
	declares := bytes.Contains(page.Body, []byte("canonical")) ||
		strings.Contains(page.Links, "canonical")
	if k.best == k.canonical && !declares && len(k.in) == 0 {
		return nil
	}
	document, err := e.parseAs(&page, &best)
	if err != nil {
		return err
	}
	if doc, ok := k.in[vocab.PrimaryLanguage(document.Info.Lang)]; ok && doc != best.Doc {
		if best, ok, err = e.urls.Get(doc); err != nil || !ok {
			return err
		}
		if document, err = e.parseAs(&page, &best); err != nil {
			return err
		}
	}
	if declares && document.Canonical != "" {
		declared, ok, err := e.member(document.Canonical, k.canonical)
		if err != nil {
			return err
		}
		if ok {
			if best = declared; best.Doc != k.canonical {
				if document, err = e.parseAs(&page, &best); err != nil {
					return err
				}
			}
		}
	}
	if best.Doc == k.canonical {
		return nil
	}
	return e.change(ctx, k, &best, &page, document)
}

// member returns the document of a URL if it belongs to a cluster and may become canonical.
func (e *election) member(url string, canonical vocab.DocID) (docindex.Record, bool, error) {
	u, err := weburl.Parse(url)
	if err != nil {
		return docindex.Record{}, false, nil
	}
	d, ok, err := e.urls.Lookup(u)
	if err != nil || !ok || d.Doc == canonical {
		return d, ok && d.Doc == canonical, err
	}
	now, ok, err := e.urls.Get(canonical)
	return d, ok && isElectable(&d, &now), err
}

// parseAs makes page the page of document d and parses it.
func (e *election) parseAs(page *vocab.Page, d *docindex.Record) (*indexer.Document, error) {
	page.Doc, page.URL, page.Fetched = d.Doc, d.URL, d.Fetch.Fetched
	page.ETag, page.LastModified = d.History.Validators.ETag, d.History.Validators.LastModified
	buf := e.parsers.acquire()
	defer e.parsers.release(buf)
	return indexer.Parse(page, buf)
}

// change stores page as the page of d. Once it is on disk, d becomes canonical.
func (e *election) change(
	ctx context.Context, k cluster, d *docindex.Record, page *vocab.Page, document *indexer.Document,
) error {
	targets := e.intake.addLinks(document, d.Depth)
	record := &repository.Record{Kind: repository.PageRecord, Page: *page}
	e.pending.Add(1)
	done := func(r storeserver.Receipt) {
		if r.Err != nil {
			e.failure.set(r.Err)
			e.pending.Done()
			return
		}
		e.events <- &canonicalChange{
			Election: urlserver.Election{Doc: d.Doc, Former: k.canonical, Address: r.Address},
			content:  d.Fetch.Content, document: document, targets: targets, then: e.pending.Done,
		}
	}
	item := storeserver.Item{Record: record, Held: document.Bytes(), Done: done}
	if err := e.store.Put(ctx, item); err != nil {
		e.pending.Done()
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.former = append(e.former, former{doc: k.canonical, canonical: d.Doc, at: k.at})
	return nil
}

// retire stores the former canonical documents as duplicates, so that compaction frees their pages.
func (e *election) retire(ctx context.Context) error {
	for _, f := range e.former {
		d, ok, err := e.urls.Get(f.doc)
		if err != nil {
			return err
		}
		if !ok || !d.IsDuplicate() || d.Fetch.Alias != f.canonical || d.Fetch.Address != f.at {
			continue
		}
		record := &repository.Record{
			Kind: repository.DuplicateRecord, Of: f.canonical,
			Page: vocab.Page{
				Doc: d.Doc, URL: d.URL, Fetched: d.Fetch.Fetched, SignedIn: d.Fetch.SignedIn,
				Truncated: d.Fetch.Truncated,
			},
		}
		e.pending.Add(1)
		done := func(err error) { e.failure.set(err); e.pending.Done() }
		if err := relocate(ctx, e.stages, f.at, record, done); err != nil {
			return err
		}
	}
	e.store.Hurry()
	e.pending.Wait()
	return e.failure.get()
}
