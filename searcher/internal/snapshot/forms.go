package snapshot

import (
	"slices"
	"strings"

	"anatomy/analysis"
	"anatomy/disk/segment"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// MaxForms bounds the forms of a term, the first in dictionary order. No language has that many.
const MaxForms = 256

// FormsOf returns the forms of a word in a segment.
func (part *Part) FormsOf(key FormsKey, clock *retrieval.Clock) (Forms, error) {
	if found, known := part.forms.Get(key); known {
		return found, nil
	}
	found, err := findForms(part, key, clock)
	if err == nil && !clock.Over() {
		key.Word, key.Spellings = strings.Clone(key.Word), strings.Clone(key.Spellings)
		key.Last = strings.Clone(key.Last)
		part.forms.Put(key, found)
	}
	return found, err
}

// RememberForms remembers forms that another machine found, all of them, sorted.
func (part *Part) RememberForms(key FormsKey, of Forms) {
	key.Word, key.Spellings, key.Last = strings.Clone(key.Word), strings.Clone(key.Spellings), strings.Clone(key.Last)
	part.forms.Put(key, of)
}

func findForms(part *Part, key FormsKey, clock *retrieval.Clock) (found Forms, err error) {
	if key.Languages {
		return findLanguages(part, key.Word, clock)
	}
	if found.Words, err = inflections(part, key, clock); err != nil || clock.Over() {
		return found, err
	}
	for spelling := range strings.FieldsSeq(key.Spellings) {
		if key.Last != "" && spelling > key.Last {
			continue
		}
		df, err := part.Segment.DF(segment.Full, []byte(spelling))
		if err != nil {
			return found, err
		}
		if df > 0 && spelling != key.Word {
			found.Words = Union(found.Words, []string{spelling})
		}
	}
	if len(found.Words) == 0 {
		return found, nil
	}
	err = eachOf(part, &query.Node{Words: []string{key.Word}, Forms: found.Words}, clock, func(vocab.Ordinal) { found.DF++ })
	return found, err
}

// eachOf calls f with each document that matches a query.
func eachOf(part *Part, root *query.Node, clock *retrieval.Clock, f func(vocab.Ordinal)) error {
	var a retrieval.Arena
	w := a.Walk(&part.Part, retrieval.Terms{}, nil, clock)
	it := w.Iterator(root)
	for ord := it.Advance(0); ord != retrieval.End; ord = it.Advance(ord + 1) {
		f(ord)
	}
	return w.Err()
}

// MaxLanguages is the number of documents with a word up to which their languages are counted.
const MaxLanguages = 1000

// findLanguages counts the documents with a word by language, unless they are too many.
func findLanguages(part *Part, word string, clock *retrieval.Clock) (found Forms, err error) {
	found.DF, err = part.Segment.DF(segment.Full, []byte(word))
	if err != nil || found.DF == 0 || found.DF > MaxLanguages {
		return found, err
	}
	found.Languages = map[string]int{}
	err = eachOf(part, &query.Node{Words: []string{word}}, clock, func(ord vocab.Ordinal) {
		found.Languages[part.Segment.Language(ord).String()]++
	})
	return found, err
}

// Add adds the forms of a term in another segment.
func (f *Forms) Add(more Forms) {
	f.Words, f.DF = Union(f.Words, more.Words), f.DF+more.DF
	for lang, n := range more.Languages {
		if f.Languages == nil {
			f.Languages = map[string]int{}
		}
		f.Languages[lang] += n
	}
}

// inflections returns the terms of the dictionary with the stem of a term, or its compounds.
func inflections(part *Part, key FormsKey, clock *retrieval.Clock) (words []string, err error) {
	if key.Lang == NoForms {
		return nil, nil
	}
	f, ok := analysis.FormsOf(key.Word, key.Lang)
	if !ok {
		return nil, nil
	}
	for _, prefix := range f.Prefixes {
		if err := part.Segment.EachTerm([]byte(prefix), func(other []byte, _ int) bool {
			w := string(other)
			if key.Last != "" && w > key.Last {
				return false
			}
			if w != key.Word && (!key.Compounds && f.Contains(w) || key.Compounds && f.HasCompound(w)) {
				words = append(words, w)
			}
			return !clock.Tick() && len(words) < MaxForms
		}); err != nil || clock.Over() {
			return words, err
		}
		if len(words) == MaxForms {
			break
		}
	}
	return words, nil
}

// Union returns the union of sorted words. It changes neither slice.
func Union(all, more []string) []string {
	if len(all) == 0 {
		return slices.Clip(more)
	}
	for _, word := range more {
		if i, known := slices.BinarySearch(all, word); !known {
			all = slices.Insert(slices.Clip(all), i, word)
		}
	}
	return all
}
