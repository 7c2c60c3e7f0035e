// Package eval measures answers on judged queries: how good they are, and with [Bench] how fast.
//
// A run is what a searcher answers to each query, best first. Each query of [Judged] is asked as all
// of its words first; where that finds fewer than wanted, pages that hold any of its words follow.
package eval

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"anatomy/weburl"
)

// A Judged is a query with its right pages.
type Judged struct {
	Query  string
	Grades map[string]int // by page as [Page] names it; above 0 is right
	Any    bool           // any one of the right pages is enough, the others add nothing
}

// Page is the name under which the URLs of one page are equal: http and https are, and a folder and
// its index.html. What is no URL names itself.
func Page(id string) string {
	id = strings.TrimSuffix(id, "index.html")
	u, err := weburl.Parse(id)
	if err != nil {
		return id
	}
	u = u.HTTPS()
	return u.String()
}

// maxLine bounds the lines of files with queries.
const maxLine = 4 << 20

// eachLine calls visit with the fields of each line that is not empty; its errors get the line's
// number.
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
			return fmt.Errorf("eval: %s, line %d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("eval: %s, line %d: %w", name, n+1, err)
	}
	return nil
}

func tabs(line string) []string { return strings.Split(line, "\t") }

// ReadTSV reads lines of a query and one or more right pages, any of which is enough, parted by tabs.
// A space within a field parts several URLs of one page.
func ReadTSV(r io.Reader, name string) (all []Judged, err error) {
	err = eachLine(r, name, tabs, func(fields []string) error {
		j := Judged{Query: fields[0], Grades: map[string]int{}, Any: true}
		for _, field := range fields[1:] {
			for _, url := range strings.Fields(field) {
				j.Grades[Page(url)] = 1
			}
		}
		if strings.TrimSpace(j.Query) == "" || len(j.Grades) == 0 {
			return fmt.Errorf("want a query and its right URLs, parted by tabs")
		}
		all = append(all, j)
		return nil
	})
	return all, err
}

// ReadTREC reads the queries of one file, lines of id and text parted by a tab, with the judgements
// of another, lines of query id, 0, document and grade. Queries without a right document are left
// out, as trec_eval does. With binary, every judged document with a grade other than 0 is right
// alike.
func ReadTREC(queries io.Reader, queriesName string, qrels io.Reader, qrelsName string, binary bool) (all []Judged, err error) {
	grades := map[string]map[string]int{}
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
			return fmt.Errorf("want an id and a query, parted by a tab")
		}
		if right := grades[fields[0]]; len(right) > 0 {
			all = append(all, Judged{Query: fields[1], Grades: right})
		}
		return nil
	})
	return all, err
}
