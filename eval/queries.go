package eval

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// ReadQueries reads queries, one per line. It skips empty lines, and fails if there is no query.
// Errors contain name.
func ReadQueries(r io.Reader, name string) (queries []string, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if query := strings.TrimSpace(lines.Text()); query != "" {
			queries = append(queries, query)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(queries) == 0 {
		return nil, fmt.Errorf("%s holds no query", name)
	}
	return queries, nil
}

// Percentile returns the value with index n·perMille/1000 of n sorted values, the last one for 1000
// and 0 if there are none, as in the benchmarks of other engines.
func Percentile(sorted []time.Duration, perMille int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, len(sorted)*perMille/1000)]
}
