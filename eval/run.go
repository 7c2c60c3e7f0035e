package eval

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"anatomy/analysis"
	"anatomy/searcher"
	"anatomy/vocab"
)

// A Searcher answers queries. [searcher.Searcher] implements it.
type Searcher interface {
	Search(context.Context, searcher.Request) (*searcher.Response, error)
	Document(context.Context, vocab.DocID) (vocab.DocInfo, error)
}

// A Mode is how a query is searched.
type Mode string

// The modes.
const (
	Fill   Mode = "fill"   // as typed, then as in Any if there are too few results
	All    Mode = "all"    // as typed
	Any    Mode = "any"    // pages with any of the words
	Phrase Mode = "phrase" // pages with the words next to each other
)

// Text returns the query to search for in a mode, the first one of Fill.
func (m Mode) Text(query string) string {
	switch m {
	case Any:
		return anyWord(query)
	case Phrase:
		return `"` + strings.ReplaceAll(query, `"`, " ") + `"`
	}
	return query
}

// anyWord joins the words of a query by OR. It quotes words that are operators of the query
// language.
func anyWord(query string) string {
	var all []string
	var t analysis.Tokenizer
	before := 0
	t.EachTerm([]byte(query), func(_ []byte, start, end int) {
		if end <= before { // the second character of a bigram
			return
		}
		before = end
		word := query[start:end]
		if word == "OR" || strings.Contains(word, ":") {
			word = `"` + word + `"`
		}
		all = append(all, word)
	})
	return strings.Join(all, " OR ")
}

// An Entry is one result of a run.
type Entry struct {
	URL   string // or the ID of a document
	Score float64
}

// A Runner makes runs.
type Runner struct {
	Searcher Searcher
	Mode     Mode                    // default Fill
	Depth    int                     // results per query, default 10
	Verbatim bool                    // do not correct the spelling, as Fill alone does
	ID       func(url string) string // returns the name of a result in the run, default its URL
	names    map[vocab.DocID]string  // by result
}

// queryTime is the deadline of a query, long enough that no result depends on the speed of the
// machine.
const queryTime = time.Minute

// Run searches for each query in turn. It fails if a query has a partial answer.
func (r *Runner) Run(ctx context.Context, judged []Judged) ([][]Entry, error) {
	if r.names == nil {
		r.names = map[vocab.DocID]string{}
	}
	if r.Depth <= 0 {
		r.Depth = 10
	}
	run := make([][]Entry, len(judged))
	for i := range judged {
		entries, err := r.query(ctx, judged[i].Query)
		if err != nil {
			return nil, fmt.Errorf("query %q: %w", judged[i].Query, err)
		}
		run[i] = entries
	}
	return run, nil
}

func (r *Runner) query(ctx context.Context, query string) (entries []Entry, err error) {
	seen := map[vocab.DocID]bool{}
	if r.Mode != Fill && r.Mode != "" {
		return r.appendResults(ctx, nil, seen, r.Mode.Text(query))
	}
	if entries, err = r.appendResults(ctx, nil, seen, query); err != nil || len(entries) >= r.Depth {
		return entries, err
	}
	return r.appendResults(ctx, entries, seen, Any.Text(query))
}

// appendResults appends results that were not seen before, until there are enough.
func (r *Runner) appendResults(ctx context.Context, entries []Entry, seen map[vocab.DocID]bool, text string) ([]Entry, error) {
	fill := r.Mode == Fill || r.Mode == ""
	req := searcher.Request{
		Query: text, Bare: true, Verbatim: r.Verbatim || !fill, Ungrouped: true, Strict: !fill,
		Within: queryTime, Limit: min(r.Depth, searcher.MaxLimit),
	}
	for len(entries) < r.Depth && req.Offset <= searcher.MaxOffset {
		answer, err := r.Searcher.Search(ctx, req)
		if err == nil && answer.Partial {
			err = fmt.Errorf("answered in part: %s", answer.Why)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return entries, err
		}
		for _, result := range answer.Results {
			if seen[result.Doc] || len(entries) == r.Depth {
				continue
			}
			seen[result.Doc] = true
			name, err := r.name(ctx, result.Doc)
			if err != nil {
				return entries, err
			}
			entries = append(entries, Entry{name, result.Score.Points()})
		}
		if !answer.Next {
			break
		}
		req.Offset += len(answer.Results)
	}
	return entries, nil
}

func (r *Runner) name(ctx context.Context, doc vocab.DocID) (string, error) {
	if name, ok := r.names[doc]; ok {
		return name, nil
	}
	info, err := r.Searcher.Document(ctx, doc)
	if err != nil {
		return "", err
	}
	name := info.URL
	if r.ID != nil {
		name = r.ID(name)
	}
	r.names[doc] = name
	return name, nil
}

// Pages returns the results of a run for [Measure]: pages with several URLs count once.
func Pages(run [][]Entry) [][]string {
	pages := make([][]string, len(run))
	for i, entries := range run {
		seen := map[string]bool{}
		for _, e := range entries {
			if page := Page(e.URL); !seen[page] {
				seen[page] = true
				pages[i] = append(pages[i], page)
			}
		}
	}
	return pages
}

// Write writes a run as lines of query, rank, URL and score.
func Write(w io.Writer, judged []Judged, run [][]Entry) error {
	b := bufio.NewWriter(w)
	for i, entries := range run {
		for rank, e := range entries {
			fmt.Fprintf(b, "%s\t%d\t%s\t%.6f\n", judged[i].Query, rank+1, e.URL, e.Score)
		}
	}
	return b.Flush()
}

// Read reads a run that Write wrote, for the same queries. A query that it lacks has no results; of
// a query that it has twice, the first results count.
func Read(r io.Reader, name string, judged []Judged) ([][]Entry, error) {
	byQuery := map[string][]Entry{}
	if err := eachLine(r, name, tabs, func(fields []string) error {
		if len(fields) != 4 {
			return fmt.Errorf("want query, rank, URL and score, separated by tabs")
		}
		rank, err := strconv.Atoi(fields[1])
		if err != nil || rank < 1 {
			return fmt.Errorf("%q is not a rank", fields[1])
		}
		score, err := strconv.ParseFloat(fields[3], 64)
		if err != nil {
			return err
		}
		if entries := byQuery[fields[0]]; rank == len(entries)+1 {
			byQuery[fields[0]] = append(entries, Entry{fields[2], score})
		}
		return nil
	}); err != nil {
		return nil, err
	}
	run := make([][]Entry, len(judged))
	for i := range judged {
		run[i] = byQuery[judged[i].Query]
	}
	return run, nil
}
