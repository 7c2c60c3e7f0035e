package rig

import (
	"os"
	"slices"
	"strings"

	"anatomy/eval"
)

// A Question is a query with the sections that answer it.
type Question struct {
	Query string
	Pages []string            // URLs of right pages, without fragments
	Right map[string][]string // right fragments by eval.Page; "" is the page as a whole
}

// ReadQuestions reads lines of a query and the URLs that answer it, separated by tabs.
func ReadQuestions(file string) (all []Question, err error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(content)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		q := Question{Query: fields[0], Right: map[string][]string{}}
		for _, url := range fields[1:] {
			page, fragment, _ := strings.Cut(url, "#")
			q.Pages = append(q.Pages, page)
			q.Right[eval.Page(page)] = append(q.Right[eval.Page(page)], fragment)
		}
		all = append(all, q)
	}
	return all, nil
}

// Sections returns the right fragments of a page that are not the page as a whole.
func (q *Question) Sections(page string) []string {
	return slices.DeleteFunc(slices.Clone(q.Right[eval.Page(page)]), func(id string) bool { return id == "" })
}

// HasSection reports whether a section of some page is right.
func (q *Question) HasSection() bool {
	return slices.ContainsFunc(q.Pages, func(page string) bool { return len(q.Sections(page)) > 0 })
}
