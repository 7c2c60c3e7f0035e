package collection

import (
	"fmt"
	"io"
	"strings"
	"time"

	"anatomy/disk/docindex"
	"anatomy/internal/plural"
)

// PrintTrace writes a trace as text.
func PrintTrace(w io.Writer, t *Trace) {
	for i := range t.Records {
		printRecord(w, &t.Records[i], t.Shards > 0)
		fmt.Fprintln(w)
	}
	switch {
	case !t.Indexed:
		fmt.Fprintln(w, "index      not there: "+t.Absent)
	case t.Crawled:
		fmt.Fprintf(w, "index      there, %d words, titled %q\n", t.Words, t.Title)
	default:
		fmt.Fprintln(w, "index      there, only by the anchor texts of links to it")
	}
	if t.Scripted {
		fmt.Fprintln(w, "text       none without JavaScript: found only by its title and by links to it")
	}
	if len(t.Controls) > 0 {
		fmt.Fprintf(w, "controls   %s: the publisher's limits on what results show\n", strings.Join(t.Controls, ", "))
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

func printRecord(w io.Writer, r *TraceRecord, sharded bool) {
	found := r.Origin()
	if !r.FirstSeen.IsZero() { // it is zero before the URL server's clock is set
		found = when(r.FirstSeen) + ", " + found
	}
	state := r.State
	if r.State == docindex.Waiting.String() {
		state += ", to be tried again " + when(r.Retry)
	}
	if r.Tries > 0 {
		state += fmt.Sprintf(", failed %d times", r.Tries)
	}
	document := fmt.Sprint(r.Doc)
	if sharded {
		shard, inner := r.Doc.Shard()
		document += fmt.Sprintf(", %d of shard %d", inner, shard)
	}
	fmt.Fprintf(w, "document   %s\nurl        %s\nfound      %s\nstate      %s\n", document, r.URL, found, state)
	printVisits(w, r)
	if r.Fetch != nil {
		printFetch(w, r.Fetch)
	}
	if r.Waits != "" {
		fmt.Fprintf(w, "waits      %s\n", r.Waits)
	}
	if r.Refused != "" {
		fmt.Fprintf(w, "refused    %s\n", r.Refused)
	}
}

// printVisits writes the results of visits to a document, and when the next is due.
func printVisits(w io.Writer, r *TraceRecord) {
	if r.Visits == 0 {
		return
	}
	fmt.Fprintf(w, "visited    %s, the last %s", plural.Count(r.Visits, "time"), when(r.Visited))
	if r.Visits > 1 {
		if r.Changes == 0 {
			fmt.Fprint(w, "; no visit found a change")
		} else {
			fmt.Fprintf(w, "; %s found a change, the last %s", plural.Count(r.Changes, "visit"), when(r.Changed))
		}
	}
	if r.Misses == 1 {
		fmt.Fprint(w, "; not found on the last visit")
	} else if r.Misses > 1 {
		fmt.Fprintf(w, "; not found on the last %d visits", r.Misses)
	}
	fmt.Fprintln(w)
	if !r.DownSince.IsZero() {
		fmt.Fprintf(w, "host       is down since %s: the page is kept as it was\n", when(r.DownSince))
	}
	switch {
	case r.Next.IsZero():
		fmt.Fprintf(w, "next visit %s\n", r.NextWhy)
	case r.Planned:
		fmt.Fprintf(w, "next visit %s: %s\n", when(r.Next), r.NextWhy)
	default:
		fmt.Fprintf(w, "next visit %s if crawl --recrawl runs: %s\n", when(r.Next), r.NextWhy)
	}
}

func printFetch(w io.Writer, f *TraceFetch) {
	fmt.Fprintf(w, "fetched    %s: %s", when(f.At), f.Outcome)
	if f.Status != 0 {
		fmt.Fprintf(w, ", status %d", f.Status)
	}
	if f.Reason != "" {
		fmt.Fprintf(w, " (%s)", f.Reason)
	}
	fmt.Fprintln(w)
	if f.Truncated != "" {
		fmt.Fprintf(w, "truncated  %s: only the first part of the body was kept\n", f.Truncated)
	}
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

func when(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}
