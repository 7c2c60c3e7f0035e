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
	"anatomy/disk/linkdb"
	"anatomy/disk/repository"
	"anatomy/indexer"
	"anatomy/storeserver"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Of documents with the very same body one stands for all: it is the page that is found, and the others are other
// URLs of it. While a crawl runs that is the one that came first. When everything is there, and before the index is
// settled, the choice is made anew, so that it does not depend on the order of fetching: the document stands for all
//
//  1. whose URL the page declares to be the canonical one (RFC 6596),
//  2. whose URL does not name another language in the place where that of a duplicate names the one of the page, as /tr/a does
//     where /en/a is in English, too: a page that nobody has translated yet,
//  3. to which the most pages link; pages that have duplicates do not count, for the links of a copy of a site lead
//     into that copy, and of which copy they are read is what is to be decided,
//  4. whose URL has the fewest folders, then the shortest, then the first in the order of bytes, schemes and "www." left out.
//
// Where that is another than the one that came first, the body is stored again as its page, and all of the cluster
// is as if it had been fetched in that order (urlserver.Server.Stand): so an index that is made anew is the same.
// A document that was sent with other header fields does not stand for others.

// A cluster is documents with one body.
type cluster struct {
	of    vocab.DocID            // that the others are duplicates of
	best  vocab.DocID            // by links and URLs
	in    map[string]vocab.DocID // by the language of the page, where URLs name several and this one
	place vocab.Place            // of the page
}

// represent has the right document of each cluster stand for all. The stages must run.
func (c *Crawl) represent(ctx context.Context) error {
	var err error
	c.inTurn(func(ctx context.Context) error {
		err = c.builder.Flush(ctx) // the links of all pages count
		return err
	})
	if err != nil {
		return err
	}
	clusters, err := c.clusters(ctx)
	if err != nil || len(clusters) == 0 {
		return err
	}
	slices.SortFunc(clusters, func(a, b cluster) int { return cmp.Compare(a.place, b.place) }) // neighbours are read together
	r := &representer{Crawl: c}
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, k := range clusters {
		if working.Err() != nil {
			break
		}
		group.Go(func() error { return r.settle(working, k) })
	}
	err = group.Wait()
	c.store.Hurry()
	r.on.Wait()
	if err := cmp.Or(err, r.fate.err); err != nil {
		return err
	}
	return r.retire(ctx)
}

// arrived waits until the fate of everything that was fetched is known. Nothing may be fetched any more.
func (c *Crawl) arrived(ctx context.Context) error {
	for c.urls.Stats().InFlight > 0 {
		c.store.Hurry()
		if c.sleep(ctx, idle); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// clusters finds the clusters, and of each the documents that links and URLs speak for.
func (c *Crawl) clusters(ctx context.Context) ([]cluster, error) {
	votes, err := c.votes()
	if err != nil || len(votes) == 0 {
		return nil, err
	}
	var all []cluster
	var members []docindex.Record
	decide := func() error {
		defer func() { members = members[:0] }()
		if k, ok := choose(members, votes); ok {
			all = append(all, k)
		}
		return ctx.Err()
	}
	add := func(doc vocab.DocID) error {
		r, ok, err := c.urls.Get(doc)
		if ok {
			members = append(members, r)
		}
		return err
	}
	last := vocab.DocID(0)
	err = c.urls.EachTwin(func(of, doc vocab.DocID) (bool, error) {
		if of != last {
			if err := decide(); err != nil {
				return false, err
			}
			if err := add(of); err != nil {
				return false, err
			}
			last = of
		}
		return true, add(doc)
	})
	return all, cmp.Or(err, decide())
}

// choose decides for one of a cluster's documents, whose first is the original.
func choose(members []docindex.Record, votes map[vocab.DocID]uint32) (k cluster, ok bool) {
	if len(members) < 2 || !members[0].IsPage() {
		return k, false
	}
	able := members[:1:1]
	for i := range members[1:] {
		if r := &members[i+1]; mayStand(r, &members[0]) {
			able = append(able, *r)
		}
	}
	k = cluster{of: members[0].Doc, best: bestOf(able, votes), place: members[0].Fetch.Place}
	for language, some := range byLanguage(able) {
		if k.in == nil {
			k.in = map[string]vocab.DocID{}
		}
		k.in[language] = bestOf(some, votes)
	}
	return k, true
}

// bestOf gives the document that links and URLs speak for.
func bestOf(able []docindex.Record, votes map[vocab.DocID]uint32) vocab.DocID {
	best := &able[0]
	for i := range able[1:] {
		r := &able[i+1]
		if c := cmp.Compare(votes[r.Doc], votes[best.Doc]); c > 0 || c == 0 && plainer(r.URL, best.URL) {
			best = r
		}
	}
	return best.Doc
}

// mayStand says whether a duplicate may take the place of its original.
func mayStand(r, of *docindex.Record) bool {
	return r.IsTwin() && r.Fetch.Alias == of.Doc && r.Fetch.Content == of.Fetch.Content && r.History.Headers == of.History.Headers
}

// votes counts, of each document in a cluster, the pages without duplicates that link to its URL. It is empty where
// there is no cluster.
func (c *Crawl) votes() (map[vocab.DocID]uint32, error) {
	votes := map[vocab.DocID]uint32{}
	err := c.urls.EachTwin(func(of, doc vocab.DocID) (bool, error) {
		votes[of], votes[doc] = 0, 0
		return true, nil
	})
	if err != nil || len(votes) == 0 {
		return votes, err
	}
	set, err := linkdb.OpenSet(c.builder.linkPaths(c.builder.Manifest().Links))
	if err != nil {
		return nil, err
	}
	defer set.Close()
	for source, err := range set.Written() {
		if err != nil {
			return nil, err
		}
		if _, copied := votes[source.Doc]; copied {
			continue
		}
		for _, t := range source.Targets {
			if n, ok := votes[t.Doc]; ok && t.Flags&vocab.NoFollow == 0 {
				votes[t.Doc] = n + 1
			}
		}
	}
	return votes, nil
}

// plainer says whether a URL is the better name of a page that another names, too.
func plainer(a, b string) bool {
	bareA, bareB := bare(a), bare(b)
	return cmp.Or(
		cmp.Compare(folders(bareA), folders(bareB)),
		cmp.Compare(len(bareA), len(bareB)),
		strings.Compare(bareA, bareB),
		strings.Compare(a, b),
	) < 0
}

// bare is a URL without its scheme and "www.".
func bare(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	return strings.TrimPrefix(rest, "www.")
}

func folders(bare string) int {
	path, _, _ := strings.Cut(bare, "?")
	return strings.Count(path, "/")
}

// whyAlias says for people why a URL does not stand for the page that it has in common with another.
func whyAlias(url, of string) string {
	if plainer(of, url) {
		return "the other URL stands for both: the page declares it or is in the language that it names, more pages link to it, or it is the plainer one"
	}
	return "the other URL stands for both: the page declares it or is in the language that it names, or more pages link to it"
}

// A representer has other documents stand for their clusters.
type representer struct {
	*Crawl
	on   sync.WaitGroup // records on their way
	fate copyFate

	mu      sync.Mutex
	retired []retired
}

// A retired document was the original, and its page lies where it did still.
type retired struct {
	doc, of vocab.DocID
	place   vocab.Place
}

// settle reads the page of a cluster, and has another document stand for it if that is right.
func (r *representer) settle(ctx context.Context, k cluster) error {
	record, err := r.repo.Read(k.place)
	if err != nil || record.Kind != repository.PageRecord {
		return nil // damage is for check to tell
	}
	page := record.Page
	best, ok, err := r.urls.Get(k.best)
	if err != nil || !ok {
		return err
	}
	declares := bytes.Contains(page.Body, []byte("canonical")) || strings.Contains(page.Links, "canonical")
	if k.best == k.of && !declares && len(k.in) == 0 {
		return nil
	}
	document, err := r.asPage(&page, &best)
	if err != nil {
		return err
	}
	if doc, ok := k.in[vocab.PrimaryLanguage(document.Info.Lang)]; ok && doc != best.Doc {
		if best, ok, err = r.urls.Get(doc); err != nil || !ok {
			return err
		}
		if document, err = r.asPage(&page, &best); err != nil {
			return err
		}
	}
	if declares && document.Canonical != "" {
		switch declared, is, err := r.member(document.Canonical, k.of); {
		case err != nil:
			return err
		case is:
			if best = declared; best.Doc != k.of {
				document, err = r.asPage(&page, &best)
			}
			if err != nil {
				return err
			}
		}
	}
	if best.Doc == k.of {
		return nil
	}
	return r.stand(ctx, k, &best, &page, document)
}

// member gives the document of a URL if it belongs to a cluster and may stand for it.
func (r *representer) member(url string, of vocab.DocID) (docindex.Record, bool, error) {
	u, err := weburl.Parse(url)
	if err != nil {
		return docindex.Record{}, false, nil
	}
	d, ok, err := r.urls.Lookup(u)
	if err != nil || !ok || d.Doc == of {
		return d, ok && d.Doc == of, err
	}
	original, ok, err := r.urls.Get(of)
	return d, ok && mayStand(&d, &original), err
}

// asPage makes a page that of a document, and takes it apart as such.
func (r *representer) asPage(page *vocab.Page, d *docindex.Record) (*indexer.Document, error) {
	page.Doc, page.URL, page.Fetched = d.Doc, d.URL, d.Fetch.Fetched
	page.ETag, page.LastModified = d.History.Validators.ETag, d.History.Validators.LastModified
	buf := r.parsers.take()
	defer r.parsers.give(buf)
	return indexer.Parse(page, buf)
}

// stand stores a page and has it stand for its cluster when it is on disk.
func (r *representer) stand(ctx context.Context, k cluster, d *docindex.Record, page *vocab.Page, document *indexer.Document) error {
	targets := r.addLinks(document, d.Depth)
	r.on.Add(1)
	item := storeserver.Item{Record: &repository.Record{Kind: repository.PageRecord, Page: *page}, Held: document.Bytes(), Done: func(receipt storeserver.Receipt) {
		if receipt.Err != nil {
			r.fate.add(receipt.Err)
			r.on.Done()
			return
		}
		r.Crawl.settle(settled{
			stand: &urlserver.Stand{Doc: d.Doc, For: k.of, Place: receipt.Place}, document: document, targets: targets,
			result: urlserver.Result{Content: d.Fetch.Content}, passed: r.on.Done,
		})
	}}
	if err := r.store.Put(ctx, item); err != nil {
		r.on.Done()
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retired = append(r.retired, retired{doc: k.of, of: d.Doc, place: k.place})
	return nil
}

// retire stores that the former originals are duplicates, so that their pages are dead and compaction frees them.
func (r *representer) retire(ctx context.Context) error {
	for _, old := range r.retired {
		d, ok, err := r.urls.Get(old.doc)
		if err != nil {
			return err
		}
		if !ok || !d.IsTwin() || d.Fetch.Alias != old.of || d.Fetch.Place != old.place {
			continue
		}
		record := &repository.Record{Kind: repository.DuplicateRecord, Of: old.of, Page: vocab.Page{Doc: d.Doc, URL: d.URL, Fetched: d.Fetch.Fetched}}
		r.on.Add(1)
		if err := r.relocate(ctx, old.place, record, func(err error) { r.fate.add(err); r.on.Done() }); err != nil {
			return err
		}
	}
	r.store.Hurry()
	r.on.Wait()
	return r.fate.err
}

// stood does what Stand says for a batch, and tells the index.
func (c *Crawl) stood(ctx context.Context, batch []settled) error {
	var stands []urlserver.Stand
	for i := range batch {
		if batch[i].stand != nil {
			stands = append(stands, *batch[i].stand)
		}
	}
	if len(stands) == 0 {
		return nil
	}
	twins, err := c.urls.Stand(stands)
	if err != nil {
		return err
	}
	for i := range batch {
		s := &batch[i]
		if s.stand == nil {
			continue
		}
		if len(twins[0]) > 0 {
			c.represented.Add(1)
			c.store.Forget(s.result.Content, s.stand.For)
			err = c.deliverStand(ctx, s, twins[0])
		}
		twins = twins[1:]
		if err != nil {
			return err
		}
	}
	return nil
}

// deliverStand tells the builder that a page stands for others.
func (c *Crawl) deliverStand(ctx context.Context, s *settled, twins []vocab.DocID) error {
	if slices.ContainsFunc(append(twins, s.stand.Doc), c.builder.Holds) {
		if err := c.builder.Flush(ctx); err != nil {
			return err
		}
	}
	if err := c.builder.Add(s.document, s.stand.Place, s.targets); err != nil {
		return err
	}
	for _, doc := range twins {
		c.builder.Alias(doc, s.stand.Doc)
	}
	c.builder.Advance(s.stand.Place + 1)
	return nil
}
