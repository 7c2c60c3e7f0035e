// Package eval measures the quality of a searcher's results on judged queries, and with [Bench] its
// latency. [Learner] tunes weights on judged queries.
//
// A run is the results of each query, best first. By default a query is searched as typed first,
// and if it has too few results, as a disjunction of its words.
package eval

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"anatomy/weburl"
)

// A Judged is a query with its relevant pages.
type Judged struct {
	Query  string
	Grades map[string]int // by page, as [Page] returns it; relevant if above 0, judged not relevant if 0
	Any    bool           // one relevant page is enough, the others add nothing
}

// Page returns a name that all URLs of one page have in common, whether http or https, and of a
// folder or its index.html. An id that is not a URL is returned as it is.
func Page(id string) string {
	id = strings.TrimSuffix(id, "index.html")
	u, err := weburl.Parse(id)
	if err != nil {
		return id
	}
	u = u.HTTPS()
	return u.String()
}

// maxLine bounds the lines of query files, in bytes.
const maxLine = 4 << 20

// eachLine calls visit with the fields of each line that is not empty. Errors name the file and
// line.
func eachLine(r io.Reader, name string, split func(string) []string, visit func(fields []string) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		if err := visit(split(strings.TrimSuffix(lines.Text(), "\r"))); err != nil {
			return fmt.Errorf("%s, line %d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s, line %d: %w", name, n+1, err)
	}
	return nil
}

func tabs(line string) []string { return strings.Split(line, "\t") }

// NotRelevant begins the field of a page that is judged not relevant.
const NotRelevant = "-"

// ReadTSV reads lines of a query and one or more judged pages, separated by tabs: relevant ones, of
// which one is enough, and after [NotRelevant] those that are not. Several URLs of a page are separated
// by spaces.
func ReadTSV(r io.Reader, name string) (all []Judged, err error) {
	err = eachLine(r, name, tabs, func(fields []string) error {
		j := Judged{Query: fields[0], Grades: map[string]int{}, Any: true}
		for _, field := range fields[1:] {
			urls, isWrong := strings.CutPrefix(field, NotRelevant)
			for _, url := range strings.Fields(urls) {
				if page := Page(url); !isWrong {
					j.Grades[page] = 1
				} else if _, known := j.Grades[page]; !known {
					j.Grades[page] = 0
				}
			}
		}
		if strings.TrimSpace(j.Query) == "" || len(j.Grades) == 0 {
			return fmt.Errorf("want a query and its judged URLs, separated by tabs")
		}
		all = append(all, j)
		return nil
	})
	return all, err
}

// WithRelevant returns the queries that have a relevant page. Others, whose pages are all judged not
// relevant, are for a [Learner] alone.
func WithRelevant(judged []Judged) (all []Judged) {
	for i := range judged {
		if len(judged[i].ideal()) > 0 {
			all = append(all, judged[i])
		}
	}
	return all
}

// ReadTREC reads the queries of one file, lines of id and text separated by a tab, with the
// judgements of another, lines of query id, 0, document and grade. It omits queries without a
// relevant document, as trec_eval does. With binary, every grade other than 0 counts as 1.
func ReadTREC(queries io.Reader, queriesName string, qrels io.Reader, qrelsName string, binary bool) (all []Judged, err error) {
	grades := map[string]map[string]int{} // by query id, by page
	if err := eachLine(qrels, qrelsName, strings.Fields, func(fields []string) error {
		if len(fields) != 4 {
			return fmt.Errorf("want query, 0, document and grade")
		}
		grade, err := strconv.Atoi(fields[3])
		if err != nil {
			return err
		}
		if binary && grade != 0 {
			grade = 1
		}
		if grades[fields[0]] == nil {
			grades[fields[0]] = map[string]int{}
		}
		if grade > 0 {
			grades[fields[0]][Page(fields[2])] = grade
		}
		return nil
	}); err != nil {
		return nil, err
	}
	err = eachLine(queries, queriesName, tabs, func(fields []string) error {
		if len(fields) != 2 {
			return fmt.Errorf("want an id and a query, separated by a tab")
		}
		if right := grades[fields[0]]; len(right) > 0 {
			all = append(all, Judged{Query: fields[1], Grades: right})
		}
		return nil
	})
	return all, err
}
