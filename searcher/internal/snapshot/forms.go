package snapshot

import (
	"slices"
	"strings"

	"anatomy/analysis"
	"anatomy/disk/segment"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/query"
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
	var a retrieval.Arena
	w := a.Walk(&part.Part, retrieval.Terms{}, nil, clock)
	it := w.Iterator(&query.Node{Words: []string{key.Word}, Forms: found.Words})
	for ord := it.Advance(0); ord != retrieval.End; ord = it.Advance(ord + 1) {
		found.DF++
	}
	return found, w.Err()
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
