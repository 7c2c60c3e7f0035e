// Package topic judges how well pages and links fit a topic, for a focused crawl (Chakrabarti, van
// den Berg, Dom: Focused crawling, 1999).
//
// A [Focus] has two small linear models, which learn while the crawl goes on. The one for pages is
// naive Bayes over their terms: examples and the pages that it finds relevant itself, against all
// other pages. The one for links is a logistic regression that predicts the first model's judgement
// of a page before it is fetched (Chakrabarti, Punera, Subramanyam: Accelerated focused crawling,
// 2002), from the pages that link to it, anchor texts and the words around them. A link of a page off
// the topic has low odds and not none, so that a crawl tunnels through such pages when nothing better
// is left.
package topic

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"anatomy/weburl"
)

// A Topic is described by example pages.
type Topic struct {
	Words    string   // that its pages have, besides the examples; may be empty
	Examples []string // URLs of pages of the topic, at least one
	Others   []string // URLs of pages outside of it; may be empty
}

// Read reads the topic in a file, as Parse does.
func Read(name string) (*Topic, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t, err := Parse(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// Parse reads a topic. A line is the URL of an example or, after a minus, of a page outside of the
// topic. Other lines are words of the topic; # begins a comment. The error names the line.
func Parse(r io.Reader) (*Topic, error) {
	t := &Topic{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		rest, outside := strings.CutPrefix(line, "-")
		if !strings.Contains(rest, "://") {
			if outside {
				return nil, fmt.Errorf("line %d: a URL must follow the minus", n)
			}
			t.Words += line + "\n"
			continue
		}
		u, err := weburl.ParseTyped(strings.TrimSpace(rest))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if outside {
			t.Others = append(t.Others, u.String())
		} else {
			t.Examples = append(t.Examples, u.String())
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(t.Examples) == 0 {
		return nil, errors.New("a topic needs the URL of at least one example page")
	}
	return t, nil
}
