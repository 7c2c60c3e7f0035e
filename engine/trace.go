package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"anatomy/disk/docindex"
	"anatomy/searcher"
	"anatomy/urlserver"
	"anatomy/vocab"
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

// Trace writes why a page is or is not in the index: how it was found, what came of fetching it,
// what it is an alias of, where it is stored, whether it can be found and how it ranks.
func Trace(ctx context.Context, w io.Writer, dir string, u weburl.URL) error {
	steps, err := traceURL(ctx, dir, u)
	if err != nil {
		return err
	}
	for i, s := range steps {
		if i > 0 {
			fmt.Fprintln(w)
		}
		traceRecord(w, &s.Record)
		if s.Refused != "" {
			fmt.Fprintf(w, "refused    trap: %s\n", s.Refused)
		}
	}
	s, err := searcher.Open(dir, searcher.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	last := &steps[len(steps)-1].Record
	fmt.Fprintln(w)
	info, err := s.Document(ctx, last.Doc)
	switch {
	case errors.Is(err, searcher.ErrNotIndexed):
		fmt.Fprintln(w, "index      not there: "+absence(last))
	case err != nil:
		return err
	case info.Crawled:
		fmt.Fprintf(w, "index      there, %d words, titled %q\n", info.Words, info.Title)
	default:
		fmt.Fprintln(w, "index      there, by the words of links to it alone")
	}
	v, err := readRanks(dir)
	if err != nil {
		return err
	}
	if v != nil && last.Doc < vocab.DocID(len(v.Ranks)) && v.Ranks[last.Doc] > 0 {
		fmt.Fprintf(w, "pagerank   %.3g, %.2f times the average\n", v.Ranks[last.Doc], float64(v.Ranks[last.Doc])*float64(ranked(v.Ranks)))
	}
	return nil
}

// traceURL traces a URL, by the crawl that runs if one does.
func traceURL(ctx context.Context, dir string, u weburl.URL) (steps []step, err error) {
	steps, err = NewControl(dir).trace(ctx, u)
	if errors.Is(err, ErrUnknownURL) {
		return nil, fmt.Errorf("%s: %w", u.String(), err)
	}
	if !errors.Is(err, vocab.ErrNoCrawl) {
		return steps, err
	}
	err = withDocuments(dir, func(db *docindex.DB) (err error) {
		steps, err = trace(db, u)
		return err
	})
	return steps, err
}

func ranked(ranks []float32) (n int) {
	for _, r := range ranks {
		if r != 0 {
			n++
		}
	}
	return n
}

func traceRecord(w io.Writer, r *docindex.Record) {
	fmt.Fprintf(w, "document   %d\nurl        %s\n", r.Doc, r.URL)
	fmt.Fprintf(w, "found      %s\n", found(r))
	state := r.State.String()
	if r.State == docindex.Waiting {
		state += ", to be tried again " + when(r.Due)
	}
	if r.Tries > 0 {
		state += fmt.Sprintf(", failed %d times", r.Tries)
	}
	fmt.Fprintf(w, "state      %s\n", state)
	traceHistory(w, r)
	if f := r.Fetch; f != nil {
		fmt.Fprintf(w, "fetched    %s: %s", when(f.Fetched), f.Outcome)
		if f.Status != 0 {
			fmt.Fprintf(w, ", status %d", f.Status)
		}
		if f.Reason != "" {
			fmt.Fprintf(w, " (%s)", f.Reason)
		}
		fmt.Fprintln(w)
		switch {
		case f.Place == 0:
		case f.Content == vocab.ContentID{}: // of a redirect
			fmt.Fprintf(w, "stored     at %s\n", f.Place)
		default:
			fmt.Fprintf(w, "stored     at %s, content %s\n", f.Place, f.Content)
		}
		switch {
		case f.Alias == 0:
		case f.Outcome == vocab.Redirected:
			fmt.Fprintf(w, "leads to   document %d\n", f.Alias)
		default:
			fmt.Fprintf(w, "same as    document %d\n", f.Alias)
		}
	}
}

// traceHistory says what visits to a document found, and when the next is due.
func traceHistory(w io.Writer, r *docindex.Record) {
	h := &r.History
	if h.Visits == 0 {
		return
	}
	fmt.Fprintf(w, "visited    %s, the last %s", counted(int(h.Visits), "time"), when(h.Visited))
	if h.Visits > 1 {
		fmt.Fprintf(w, "; %s found a change, the last new version came %s", counted(int(h.Changes), "visit"), when(h.Changed))
	}
	if h.Misses > 0 {
		fmt.Fprintf(w, "; not there on the last %s", counted(int(h.Misses), "visit"))
	}
	fmt.Fprintln(w)
	switch due, why := (urlserver.Recrawl{}).NextVisit(r); {
	case r.State != docindex.Finished && r.State != docindex.GivenUp:
		fmt.Fprintln(w, "next visit now: it waits in the queue")
	case r.Due.IsZero():
		fmt.Fprintf(w, "next visit %s if crawl --recrawl runs: %s\n", when(due), why)
	default:
		fmt.Fprintf(w, "next visit %s: %s\n", when(r.Due), why)
	}
}

// counted is a number of things: "1 visit", "2 visits".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// found says when a document became known, and how far from the seeds.
func found(r *docindex.Record) string {
	s := fmt.Sprintf("%d links from a seed", r.Depth)
	switch r.Depth {
	case 0:
		s = "a seed or named by robots.txt"
	case 1:
		s = "1 link from a seed"
	}
	if r.FirstSeen.IsZero() { // before the URL server was told the time
		return s
	}
	return when(r.FirstSeen) + ", " + s
}

func when(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// absence says why a document is not in the index.
func absence(r *docindex.Record) string {
	switch {
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
