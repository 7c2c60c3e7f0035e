package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/rankvector"
	"anatomy/searcher"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/web"
	"anatomy/weburl"
)

// ErrUnknownURL says that no page links to a URL, no sitemap lists it, and it is no seed.
var ErrUnknownURL = errors.New("never seen: no seed, no link and no sitemap leads to it")

// documents is where records are: the document index, or the URL server that has it open.
type documents interface {
	Find(vocab.Fingerprint) (doc vocab.DocID, held, ok bool, err error)
	Get(vocab.DocID) (docindex.Record, bool, error)
	Yield(host, shape string) (docindex.Yield, error)
}

// A step is one document on the way from a URL to the page that counts.
type step struct {
	docindex.Record
	Refused string // why it is not fetched, if it is in a trap
	Waits   string // what its host waits for, of one that is queued in a crawl that runs
}

// trace follows a URL through its aliases: the last record is that of the document itself, or, of a
// loop of redirects, the last before it begins anew.
func trace(db documents, u weburl.URL) ([]step, error) {
	doc, _, ok, err := db.Find(u.Fingerprint())
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%s: %w", u.String(), ErrUnknownURL)
	}
	var steps []step
	seen := map[vocab.DocID]bool{}
	for doc != 0 && !seen[doc] && len(steps) < 16 {
		seen[doc] = true
		r, ok, err := db.Get(doc)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("document %d is in no table: anatomy check says more", doc)
		}
		s := step{Record: r}
		if r.State == docindex.Trapped {
			if s.Refused, err = urlserver.WhyTrapped(db, &r); err != nil {
				return nil, err
			}
		}
		steps = append(steps, s)
		doc = 0
		if r.Fetch != nil {
			doc = r.Fetch.Alias
		}
	}
	return steps, nil
}

// TakeTrace tells why a page is or is not in the index: how it was found, what came of fetching it,
// what it is an alias of, where it is stored, whether it can be found and how it ranks. The records are
// those of the crawl that runs if one does, and else of the folder. Where they cannot be read, unread
// says why, and the rest of the trace stands.
func TakeTrace(ctx context.Context, dir string, s *searcher.Searcher, u weburl.URL) (t *web.Trace, unread, err error) {
	t = &web.Trace{URL: u.String(), Records: []web.TraceRecord{}, Ranks: []web.TraceRank{}, Similar: []string{}, Alike: []web.NearPage{}}
	steps, live, unread := traceURL(ctx, dir, u)
	switch {
	case errors.Is(unread, ErrUnknownURL):
		t.Similar = similar(ctx, dir, u)
		return t, nil, nil
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case unread != nil:
		t.Unread = "anatomy trace on the server says why"
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
		if steps[i].IsTwin() && i+1 < len(steps) {
			r.Fetch.Reason = whyAlias(steps[i].URL, steps[i+1].URL)
		}
		t.Records = append(t.Records, r)
		t.Doc = steps[i].Doc
	}
	if err := traceIndex(ctx, s, t, steps); err != nil {
		return nil, nil, err
	}
	return t, unread, traceRank(dir, t)
}

// maxAlike bounds the near-duplicates that a trace lists.
const maxAlike = 10

// traceIndex says whether the document can be found.
func traceIndex(ctx context.Context, s *searcher.Searcher, t *web.Trace, steps []step) error {
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
	near, total, err := s.Near(ctx, t.Doc, maxAlike)
	for _, p := range near {
		t.Alike = append(t.Alike, web.NearPage{Doc: p.Doc, URL: p.URL, Distance: p.Distance})
	}
	t.AlikeAll = total
	return err
}

// traceRank says what each rank vector gives the document.
func traceRank(dir string, t *web.Trace) error {
	names, err := rankvector.Names(filepath.Dir(datadir.Rank(dir)))
	if err != nil {
		return err
	}
	for _, name := range names {
		v, err := readVector(datadir.RankNamed(dir, name))
		if err != nil {
			return err
		}
		if v == nil || t.Doc >= vocab.DocID(len(v.Ranks)) {
			continue
		}
		rank := float64(v.Ranks[t.Doc])
		average := rank * float64(ranked(v.Ranks))
		if name == DefaultRank {
			t.PageRank, t.Average = rank, average
		} else {
			t.Ranks = append(t.Ranks, web.TraceRank{Name: name, Rank: rank, Average: average})
		}
	}
	return nil
}

// Trace is TakeTrace for the web: of a URL as people write it.
func (s *Site) Trace(ctx context.Context, url string) (*web.Trace, error) {
	u, err := ParseSeed(url)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", web.ErrBadURL, err)
	}
	t, _, err := TakeTrace(ctx, s.dir, s.Searcher, u)
	return t, err
}

// similar are the known URLs among those that people mistake for one another.
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

// traceURL traces a URL, by the crawl that runs if one does. Otherwise the document index is read as
// it lies on disk, without the lock on the folder: a question must not keep a crawl from beginning.
func traceURL(ctx context.Context, dir string, u weburl.URL) (steps []step, live bool, err error) {
	steps, err = NewControl(dir).trace(ctx, u)
	if errors.Is(err, ErrUnknownURL) {
		return nil, true, fmt.Errorf("%s: %w", u.String(), err)
	}
	if !errors.Is(err, vocab.ErrNoCrawl) {
		return steps, true, err
	}
	if _, err := os.Stat(filepath.Join(dir, "docindex")); err != nil {
		return nil, false, fmt.Errorf("%s: %w", dir, datadir.ErrNone)
	}
	db, err := docindex.OpenReadOnly(filepath.Join(dir, "docindex"))
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	steps, err = trace(db, u)
	return steps, false, err
}

func ranked(ranks []float32) (n int) {
	for _, r := range ranks {
		if r != 0 {
			n++
		}
	}
	return n
}

// traceRecord is a step as the trace shows it.
func traceRecord(s *step) web.TraceRecord {
	h := &s.History
	t := web.TraceRecord{
		Doc: s.Doc, URL: s.URL, Depth: int(s.Depth), FirstSeen: s.FirstSeen, State: s.State.String(), Tries: int(s.Tries), Refused: s.Refused,
		Visits: int(h.Visits), Visited: h.Visited, Changes: int(h.Changes), Changed: h.Changed, Misses: int(h.Misses),
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
		t.Fetch = &web.TraceFetch{At: f.Fetched, Outcome: f.Outcome.String(), Status: f.Status, Reason: f.Reason}
		if f.Place != 0 {
			t.Fetch.Place = f.Place.String()
		}
		if f.Content != (vocab.ContentID{}) { // of a page
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

// absence says why a document is not in the index.
func absence(r *step) string {
	switch {
	case r.Fetch == nil && r.Waits != "":
		return "it waits to be fetched, and its host: " + r.Waits
	case r.Fetch == nil && r.State == docindex.Queued:
		return "it waits to be fetched: go on with anatomy crawl"
	case r.Fetch == nil:
		return "never fetched (" + r.State.String() + "), and no link with words leads to it"
	case r.Fetch.Outcome == vocab.Fetched:
		return "it asks not to be shown (noindex), or is not indexed yet: go on with anatomy crawl"
	}
	if r.Fetch.Outcome == vocab.Redirected {
		return "its redirects lead in a circle or to no page"
	}
	return cmp.Or(r.Fetch.Reason, r.Fetch.Outcome.String())
}

// OpenTrace is TakeTrace of a folder that nobody searches. The error is ErrUnknownURL for a URL never
// seen, or whatever kept the records from being read.
func OpenTrace(ctx context.Context, dir string, u weburl.URL) (*web.Trace, error) {
	if err := datadir.CheckVersion(dir); err != nil {
		return nil, err
	}
	s, err := searcher.Open(dir, searcher.Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	t, unread, err := TakeTrace(ctx, dir, s, u)
	switch {
	case err != nil || unread != nil:
		return nil, cmp.Or(err, unread)
	case !t.Known:
		return nil, fmt.Errorf("%s: %w", u.String(), ErrUnknownURL)
	}
	return t, nil
}

// PrintTrace writes a trace for people.
func PrintTrace(w io.Writer, t *web.Trace) {
	for i := range t.Records {
		printRecord(w, &t.Records[i])
		fmt.Fprintln(w)
	}
	switch {
	case !t.Indexed:
		fmt.Fprintln(w, "index      not there: "+t.Absent)
	case t.Crawled:
		fmt.Fprintf(w, "index      there, %d words, titled %q\n", t.Words, t.Title)
	default:
		fmt.Fprintln(w, "index      there, by the words of links to it alone")
	}
	for i, p := range t.Alike {
		name := ""
		if i == 0 {
			name = "alike"
		}
		fmt.Fprintf(w, "%-10s %s says nearly the same, its distance is %d: results show one of them, the other folded under it\n", name, p.URL, p.Distance)
	}
	if more := t.AlikeAll - len(t.Alike); more > 0 {
		fmt.Fprintf(w, "%-10s and %d more\n", "", more)
	}
	if t.PageRank > 0 {
		fmt.Fprintf(w, "pagerank   %.3g, %.2f times the average\n", t.PageRank, t.Average)
	}
	for _, r := range t.Ranks {
		fmt.Fprintf(w, "%-10s %.3g, %.2f times the average\n", r.Name, r.Rank, r.Average)
	}
}

func printRecord(w io.Writer, r *web.TraceRecord) {
	found := r.From()
	if !r.FirstSeen.IsZero() { // as it is before the URL server was told the time
		found = when(r.FirstSeen) + ", " + found
	}
	state := r.State
	if r.State == docindex.Waiting.String() {
		state += ", to be tried again " + when(r.Retry)
	}
	if r.Tries > 0 {
		state += fmt.Sprintf(", failed %d times", r.Tries)
	}
	fmt.Fprintf(w, "document   %d\nurl        %s\nfound      %s\nstate      %s\n", r.Doc, r.URL, found, state)
	printVisits(w, r)
	if r.Fetch != nil {
		printFetch(w, r.Fetch)
	}
	if r.Refused != "" {
		fmt.Fprintf(w, "refused    trap: %s\n", r.Refused)
	}
}

// printVisits says what visits to a document found, and when the next is due.
func printVisits(w io.Writer, r *web.TraceRecord) {
	if r.Visits == 0 {
		return
	}
	fmt.Fprintf(w, "visited    %s, the last %s", counted(r.Visits, "time"), when(r.Visited))
	if r.Visits > 1 {
		fmt.Fprintf(w, "; %s found a change, the last new version came %s", counted(r.Changes, "visit"), when(r.Changed))
	}
	if r.Misses > 0 {
		fmt.Fprintf(w, "; not there on the last %s", counted(r.Misses, "visit"))
	}
	fmt.Fprintln(w)
	switch {
	case r.Next.IsZero():
		fmt.Fprintf(w, "next visit %s\n", r.NextWhy)
	case r.Planned:
		fmt.Fprintf(w, "next visit %s: %s\n", when(r.Next), r.NextWhy)
	default:
		fmt.Fprintf(w, "next visit %s if crawl --recrawl runs: %s\n", when(r.Next), r.NextWhy)
	}
}

func printFetch(w io.Writer, f *web.TraceFetch) {
	fmt.Fprintf(w, "fetched    %s: %s", when(f.At), f.Outcome)
	if f.Status != 0 {
		fmt.Fprintf(w, ", status %d", f.Status)
	}
	if f.Reason != "" {
		fmt.Fprintf(w, " (%s)", f.Reason)
	}
	fmt.Fprintln(w)
	switch {
	case f.Place == "":
	case f.Content == "":
		fmt.Fprintf(w, "stored     at %s\n", f.Place)
	default:
		fmt.Fprintf(w, "stored     at %s, content %s\n", f.Place, f.Content)
	}
	switch {
	case f.LeadsTo != 0:
		fmt.Fprintf(w, "leads to   document %d\n", f.LeadsTo)
	case f.SameAs != 0:
		fmt.Fprintf(w, "same as    document %d\n", f.SameAs)
	}
}

// counted is a number of things: "1 visit", "2 visits".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func when(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}
