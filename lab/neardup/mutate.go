package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
)

// A mutation changes a page as the web does.
type mutation struct {
	name   string
	same   bool // the page says the same still
	change func(m *mutator, page []byte) []byte
}

var mutations = []mutation{
	{"date", true, (*mutator).date},
	{"banner of 25 words", true, (*mutator).banner},
	{"menu of 20 links", true, (*mutator).menu},
	{"paragraph of 60 words more", false, (*mutator).longer},
	{"paragraph less", true, (*mutator).shorter},
	{"1 % of words", true, replace(0.01)},
	{"2 % of words", true, replace(0.02)},
	{"5 % of words", false, replace(0.05)},
	{"10 % of words", false, replace(0.1)},
	{"20 % of words", false, replace(0.2)},
}

// A mutator changes pages with words of others.
type mutator struct {
	*rand.Rand
	words []string
}

// mutated holds pages against what becomes of them.
func (s sites) mutated(r *rand.Rand, n int) ([]kind, error) {
	kinds := make([]kind, len(mutations))
	for i, m := range mutations {
		kinds[i] = kind{name: m.name, same: m.same}
	}
	m := &mutator{Rand: r}
	for try := 0; try < 100*n && len(kinds[0].pairs) < n; try++ {
		page, err := s.page(r)
		if err != nil {
			return nil, err
		}
		other, err := s.page(r)
		if err != nil {
			return nil, err
		}
		if m.words = textOf(other).words; len(m.words) < minWords {
			continue
		}
		for i, how := range mutations {
			kinds[i].add(page, how.change(m, page))
		}
	}
	return kinds, nil
}

func (s sites) page(r *rand.Rand) ([]byte, error) {
	site, i := s.any(r)
	return os.ReadFile(site[i])
}

// some gives n words.
func (m *mutator) some(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = m.words[m.IntN(len(m.words))]
	}
	return strings.Join(all, " ")
}

func (m *mutator) date(page []byte) []byte {
	return insert(page, endOf(page), fmt.Sprintf("<p>Last updated on %d-%02d-%02d at %d:%02d</p>", 2000+m.IntN(30), 1+m.IntN(12), 1+m.IntN(28), m.IntN(24), m.IntN(60)))
}

func (m *mutator) banner(page []byte) []byte {
	return insert(page, startOf(page), "<div><p>"+m.some(25)+"</p></div>")
}

func (m *mutator) menu(page []byte) []byte {
	var links strings.Builder
	for range 20 {
		fmt.Fprintf(&links, "<li><a href=/%d>%s</a></li>", m.IntN(1000), m.some(2))
	}
	return insert(page, startOf(page), "<ul>"+links.String()+"</ul>")
}

func (m *mutator) longer(page []byte) []byte {
	return insert(page, endOf(page), "<p>"+m.some(60)+"</p>")
}

var paragraph = regexp.MustCompile(`(?is)<p[ >].*?</p>`)

// shorter leaves a paragraph out, of four or more.
func (m *mutator) shorter(page []byte) []byte {
	all := paragraph.FindAllIndex(page, -1)
	if len(all) < 4 {
		return page
	}
	out := all[m.IntN(len(all))]
	return append(bytes.Clone(page[:out[0]]), page[out[1]:]...)
}

var tagOrWord = regexp.MustCompile(`<[^>]*>|[\pL\pN]+`)

// replace puts other words in the place of some.
func replace(rate float64) func(m *mutator, page []byte) []byte {
	return func(m *mutator, page []byte) []byte {
		start := startOf(page)
		changed := tagOrWord.ReplaceAllFunc(page[start:], func(word []byte) []byte {
			if word[0] == '<' || m.Float64() >= rate {
				return word
			}
			return []byte(m.some(1))
		})
		return append(bytes.Clone(page[:start]), changed...)
	}
}

func insert(page []byte, at int, what string) []byte {
	return append(append(bytes.Clone(page[:at]), what...), page[at:]...)
}

var bodyTag = regexp.MustCompile(`(?is)<body[^>]*>`)

// startOf and endOf are where the body of a page begins and ends.
func startOf(page []byte) int {
	if at := bodyTag.FindIndex(page); at != nil {
		return at[1]
	}
	return 0
}

func endOf(page []byte) int {
	if at := bytes.LastIndex(page, []byte("</body")); at >= 0 {
		return at
	}
	return len(page)
}
