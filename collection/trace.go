package collection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"anatomy/control"
	"anatomy/disk/damage"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/rankvector"
	"anatomy/disk/shards"
	"anatomy/ranking"
	"anatomy/searcher"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// ReadTrace returns why a page is or is not in the index: how it was found, the outcome of fetching
// it, its canonical document, its address, whether it is indexed, and its ranks. The records come
// from the running crawl or, if none runs, from the folder. If they cannot be read, unread is the
// reason, and the trace has the rest.
func ReadTrace(ctx context.Context, dir string, s *searcher.Searcher, u weburl.URL) (t *Trace, unread, err error) {
	t = &Trace{URL: u.String(), Records: []TraceRecord{}, Ranks: []TraceRank{}, Similar: []string{}, Alike: []NearPage{}}
	steps, live, unread := traceURL(ctx, dir, u)
	switch {
	case errors.Is(unread, control.ErrUnknownURL):
		t.Similar = similar(ctx, dir, u)
		return t, nil, nil
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case unread != nil:
		t.Unread = "run anatomy trace on the server to see why"
		if errors.Is(unread, datadir.ErrNone) {
			t.Unread = "no crawl made this index"
		}
		if t.Doc, err = s.Find(ctx, t.URL); errors.Is(err, searcher.ErrNotIndexed) {
			return t, unread, nil
		} else if err != nil {
			return nil, nil, err
		}
	}
	t.Known, t.Live = true, live && unread == nil
	for i := range steps {
		r := traceRecord(&steps[i])
		if steps[i].IsDuplicate() && i+1 < len(steps) {
			r.Fetch.Reason = whyAlias(steps[i].URL, steps[i+1].URL)
		}
		t.Records = append(t.Records, r)
		t.Doc = steps[i].Doc
	}
	if m, err := shards.Read(dir); m != nil && err == nil {
		t.Shards = len(m.Folders)
	}
	if err := traceIndex(ctx, s, t, steps); err != nil {
		return nil, nil, err
	}
	return t, unread, traceRank(dir, t)
}

// maxAlike bounds the near-duplicates of a trace.
const maxAlike = 10

// traceIndex fills in whether the document is indexed, and its near-duplicates.
func traceIndex(ctx context.Context, s *searcher.Searcher, t *Trace, steps []control.Step) error {
	info, err := s.Document(ctx, t.Doc)
	switch {
	case errors.Is(err, searcher.ErrNotIndexed):
		if len(steps) > 0 {
			t.Absent = absence(&steps[len(steps)-1])
		}
		return nil
	case err != nil:
		return err
	}
	t.Indexed, t.Crawled, t.Words, t.Title = true, info.Crawled, info.Words, info.Title
	t.Scripted = info.Genre == vocab.Scripted
	t.Controls = info.Controls.Directives()
	near, total, err := s.Near(ctx, t.Doc, maxAlike)
	for _, p := range near {
		t.Alike = append(t.Alike, NearPage{Doc: p.Doc, URL: p.URL, Distance: p.Distance})
	}
	t.AlikeAll = total
	return err
}

// traceRank fills in the document's rank in each vector.
func traceRank(dir string, t *Trace) error {
	dirs, err := shards.Folders(dir)
	if err != nil {
		return err
	}
	shard, doc := t.Doc.Shard()
	m, err := datadir.ReadManifest(dirs[shard])
	if err != nil {
		return err
	}
	for _, name := range m.RankNames() {
		v, err := rankvector.ReadFolder(dirs[shard], name)
		if err != nil {
			return readingOf(damage.Rank, err)
		}
		if v == nil || doc >= vocab.DocID(len(v.Ranks)) {
			continue
		}
		rank := float64(v.Ranks[doc])
		pages, err := ranked(dirs, name)
		if err != nil {
			return err
		}
		average := rank * float64(pages)
		if name == ranking.Default {
			t.PageRank, t.Average = rank, average
		} else {
			t.Ranks = append(t.Ranks, TraceRank{Name: name, Rank: rank, Average: average})
		}
	}
	return nil
}

// ranked returns the number of pages with a rank in a vector.
func ranked(dirs []string, name string) (pages int, err error) {
	for _, dir := range dirs {
		v, err := rankvector.ReadFolder(dir, name)
		if err != nil {
			return 0, readingOf(damage.Rank, err)
		}
		if v != nil {
			pages += v.Pages()
		}
	}
	return pages, nil
}

// Life returns when a crawl saw a document. It is nil if the document does not define a service, or
// if no crawl has records of it. The error wraps ErrNotFound if the document is not indexed.
func (s *Site) Life(ctx context.Context, doc vocab.DocID) (*Life, error) {
	info, err := s.Document(ctx, doc)
	switch {
	case errors.Is(err, searcher.ErrNotIndexed):
		return nil, fmt.Errorf("%w: %w", ErrNotFound, err)
	case err != nil || !info.Medium.Service():
		return nil, s.noted(err)
	}
	u, err := weburl.Parse(info.URL)
	if err != nil {
		return nil, err
	}
	steps, _, unread := traceURL(ctx, s.dir, u)
	if s.noted(unread); unread != nil || len(steps) == 0 {
		return nil, ctx.Err()
	}
	last := &steps[len(steps)-1]
	h := &last.History
	l := &Life{FirstSeen: last.FirstSeen, Changed: h.Changed, Changes: int(h.Changes), Missing: int(h.Misses)}
	if l.LastSeen = h.Visited; l.Missing > 0 {
		l.LastSeen = info.Fetched
	}
	return l, nil
}

// Trace is ReadTrace for a URL as typed by a user. The error wraps ErrBadURL if it is not valid.
func (s *Site) Trace(ctx context.Context, url string) (*Trace, error) {
	u, err := parseTyped(url)
	if err != nil {
		return nil, err
	}
	t, unread, err := ReadTrace(ctx, s.dir, s.Searcher, u)
	s.noted(unread) // the trace reports that records are missing
	return t, s.noted(err)
}

// similar returns the known URLs that users may confuse with u.
func similar(ctx context.Context, dir string, u weburl.URL) []string {
	scheme, rest, _ := strings.Cut(u.String(), "://")
	var tried []string
	bare, www := strings.CutPrefix(rest, "www.")
	if !www {
		bare = "www." + rest
	}
	for _, form := range []string{rest, bare} {
		tried = append(tried, form)
		if strings.HasSuffix(form, "/") {
			tried = append(tried, strings.TrimSuffix(form, "/"))
		} else if !strings.ContainsAny(form, "?#") {
			tried = append(tried, form+"/")
		}
	}
	found := []string{}
	for _, form := range tried[1:] {
		other, err := weburl.Parse(scheme + "://" + form)
		if err != nil || other.String() == u.String() {
			continue
		}
		if steps, _, err := traceURL(ctx, dir, other); err == nil {
			found = append(found, steps[0].URL)
		}
	}
	return found
}

// traceURL returns the records of a URL, from the running crawl if there is one. In a folder of
// shards it continues in another shard if an alias leads there.
func traceURL(ctx context.Context, dir string, u weburl.URL) (steps []control.Step, live bool, err error) {
	m, err := shards.Read(dir)
	if err != nil {
		return nil, false, err
	}
	if m == nil {
		return traceInFolder(ctx, dir, u)
	}
	for range maxTraced {
		shard := m.Of(&u)
		found, ofCrawl, err := traceInFolder(ctx, shards.Folder(dir, shard), u)
		if err != nil {
			return nil, false, err
		}
		live = live || ofCrawl
		for i := range found {
			outerStep(shard, &found[i])
		}
		if n := len(steps); n > 0 {
			steps[n-1].Fetch.Alias = found[0].Doc // which has another docID in the shard of the alias
		}
		steps = append(steps, found...)
		n := len(steps)
		if u, err = weburl.Parse(steps[n-1].URL); err != nil || m.Of(&u) == shard {
			return steps, live, err
		}
		steps = steps[:n-1] // the shard of the alias only mentions it
	}
	return steps, live, nil
}

// maxTraced bounds the number of shards that aliases of a URL lead through.
const maxTraced = 16

// outerStep translates the DocIDs of a step in a shard to those of the collection.
func outerStep(shard int, s *control.Step) {
	s.Doc = vocab.Outer(shard, s.Doc)
	if s.Fetch != nil && s.Fetch.Alias != 0 {
		s.Fetch.Alias = vocab.Outer(shard, s.Fetch.Alias)
	}
}

// traceInFolder is traceURL for one data folder. Without a running crawl it reads the document
// index without locking the folder, so that it does not prevent a crawl from starting.
func traceInFolder(ctx context.Context, dir string, u weburl.URL) (steps []control.Step, live bool, err error) {
	steps, err = control.New(dir).Trace(ctx, u)
	if errors.Is(err, control.ErrUnknownURL) {
		return nil, true, fmt.Errorf("%s: %w", u.String(), err)
	}
	if !errors.Is(err, vocab.ErrNoCrawl) {
		return steps, true, err
	}
	if _, err := os.Stat(filepath.Join(dir, "docindex")); err != nil {
		return nil, false, fmt.Errorf("%s: %w", dir, datadir.ErrNone)
	}
	err = readDocuments(ctx, dir, func(db *docindex.DB) (err error) {
		steps, err = control.Follow(db, u)
		return err
	})
	return steps, false, err
}

// readDocuments calls use with the document index of a folder on which no crawl runs. If a crawl
// has started meanwhile, an error does not mean damage.
func readDocuments(ctx context.Context, dir string, use func(*docindex.DB) error) error {
	db, err := docindex.OpenReadOnly(datadir.DocIndex(dir))
	if err == nil {
		err = errors.Join(use(db), db.Close())
	}
	if err == nil || errors.Is(err, control.ErrUnknownURL) {
		return err
	}
	if _, running := control.New(dir).Status(ctx); !errors.Is(running, vocab.ErrNoCrawl) {
		return err
	}
	return readingOf(damage.Documents, err)
}

// traceRecord converts a step to a record of a trace.
func traceRecord(s *control.Step) TraceRecord {
	h := &s.History
	t := TraceRecord{
		Doc: s.Doc, URL: s.URL, Depth: int(s.Depth), FirstSeen: s.FirstSeen, State: s.State.String(), Tries: int(s.Tries), Refused: s.Refused,
		Visits: int(h.Visits), Visited: h.Visited, Changes: int(h.Changes), Changed: h.Changed, Misses: int(h.Misses),
		DownSince: s.DownSince, Waits: s.Waits,
	}
	if s.State == docindex.Waiting {
		t.Retry = s.Due
	}
	if h.Visits > 0 {
		t.Next, t.NextWhy = (urlserver.Recrawl{}).NextVisit(&s.Record)
		switch {
		case s.State != docindex.Finished && s.State != docindex.GivenUp:
			t.Next, t.NextWhy, t.Planned = time.Time{}, "now: it waits in the queue", true
		case !s.Due.IsZero():
			t.Next, t.Planned = s.Due, true
		}
	}
	if f := s.Fetch; f != nil {
		t.Fetch = &TraceFetch{At: f.Fetched, Outcome: f.Outcome.Name(f.Status), Status: f.Status, Reason: f.Reason, Truncated: f.Truncated.String()}
		if f.Address != 0 {
			t.Fetch.Place = f.Address.String()
		}
		if f.Content != (vocab.ContentID{}) { // set for a page
			t.Fetch.Content = f.Content.String()
		}
		if f.Outcome == vocab.Redirected {
			t.Fetch.LeadsTo = f.Alias
		} else {
			t.Fetch.SameAs = f.Alias
		}
	}
	return t
}

// absence returns why a document is not in the index.
func absence(r *control.Step) string {
	switch {
	case r.Fetch == nil && r.Waits != "":
		return "it is queued; its host: " + r.Waits
	case r.Fetch == nil && r.State == docindex.Queued:
		return "it is queued: continue with anatomy crawl"
	case r.Fetch == nil:
		return "never fetched (" + r.State.String() + "), and no link with text leads to it"
	case r.Fetch.Outcome == vocab.Fetched:
		return "it forbids indexing (noindex, or unavailable_after a date that has passed), or is not indexed yet: continue with anatomy crawl"
	}
	if r.Fetch.Outcome == vocab.Redirected {
		return "its redirects lead in a circle or to no page"
	}
	return cmp.Or(r.Fetch.Reason, r.Fetch.Outcome.Name(r.Fetch.Status))
}

// OpenTrace is ReadTrace for a folder without an open searcher. The error wraps
// control.ErrUnknownURL for a URL without a docID, or is the reason why the records cannot be read.
func OpenTrace(ctx context.Context, dir string, u weburl.URL) (*Trace, error) {
	if err := shards.Check(dir); err != nil {
		return nil, err
	}
	s, err := searcher.Open(dir, searcher.Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	t, unread, err := ReadTrace(ctx, dir, s, u)
	switch {
	case err != nil || unread != nil:
		return nil, cmp.Or(err, unread)
	case !t.Known:
		return nil, fmt.Errorf("%s: %w", u.String(), control.ErrUnknownURL)
	}
	return t, nil
}

// whyAlias returns, as text for display, why a duplicate is not the canonical document.
func whyAlias(url, of string) string {
	if weburl.Plainer(of, url) {
		return "the other URL is the canonical one: the page declares it or is in the language that it names, more pages link to it, or it is the plainer one"
	}
	return "the other URL is the canonical one: the page declares it or is in the language that it names, or more pages link to it"
}
