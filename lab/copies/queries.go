package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"anatomy/eval"
	"anatomy/indexer"
	"anatomy/vocab"
)

// A query is for one page that has copies.
type query struct {
	text  string
	right page
}

// names returns the queries of files of which a right page has copies, or if there are no files,
// the titles that one page has.
func (w *web) names(files []string) (all []query, err error) {
	if len(files) == 0 {
		return w.titles(), nil
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		judged, err := eval.ReadTSV(f, file)
		f.Close()
		if err != nil {
			return nil, err
		}
		for _, j := range judged {
			if len(j.Grades) != 1 {
				continue // the copy of one right page may follow another right page
			}
			for url := range j.Grades {
				if p := w.shown[url]; p.copied {
					all = append(all, query{j.Query, p})
				}
			}
		}
	}
	if len(all) == 0 {
		err = fmt.Errorf("no page of %s has copies", strings.Join(files, ", "))
	}
	return all, err
}

func (w *web) titles() (all []query) {
	pages := map[string]map[vocab.ContentID]bool{} // by title
	for _, a := range w.copied {
		title := a.Title()
		if pages[title] == nil {
			pages[title] = map[vocab.ContentID]bool{}
		}
		pages[title][a.Content] = true
	}
	seen := map[string]bool{"": true}
	for _, a := range w.copied {
		if title := a.Title(); len(pages[title]) == 1 && !seen[title] {
			seen[title] = true
			all = append(all, query{title, w.shown[eval.Page(a.URL)]})
		}
	}
	return all
}

func isBetweenWords(r rune) bool { return r <= ' ' || strings.ContainsRune(`"():`, r) }

// sentenceWords are the number of words of a sentence.
const sentenceWords = 12

// sentences returns n runs of words of pages with copies.
func (w *web) sentences(n int) (all []query, err error) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, i := range random.Perm(len(w.copied)) {
		if len(all) == n {
			break
		}
		a := &w.copied[i]
		p := *a.Page
		p.Doc, p.URL = 1, a.URL
		var buf indexer.Buffer
		d, err := indexer.Parse(&p, &buf)
		if err != nil {
			return nil, err
		}
		var runs []string
		for line := range strings.Lines(vocab.WithoutSectionMarks(d.Info.Text)) {
			words := strings.FieldsFunc(line, isBetweenWords)
			if !strings.HasPrefix(line, "\t") && len(words) >= sentenceWords {
				runs = append(runs, strings.Join(words[:sentenceWords], " "))
			}
		}
		if len(runs) > 0 {
			all = append(all, query{runs[random.IntN(len(runs))], w.shown[eval.Page(a.URL)]})
		}
	}
	return slices.Clip(all), nil
}
