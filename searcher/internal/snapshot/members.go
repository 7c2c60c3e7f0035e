package snapshot

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"anatomy/disk/segment"
	"anatomy/vocab"
)

// Bounds of the work for Members: pages that are read, of these the first bytes of text, and postings of
// each part that are looked at.
const (
	memberPages    = 16
	memberBytes    = 128 << 10
	memberPostings = 1 << 15
)

// Members returns the names that begin with a prefix and follow an owner and a separator in the texts of
// the pages most about the owner: lru_cache for functools, "." and l. The most frequent is first. All are
// in lower case. Unreadable pages are skipped.
func Members(parts iter.Seq[*Part], owner, separator, prefix string) (names []string) {
	type page struct {
		part   *Part
		ord    vocab.Ordinal
		impact uint8
	}
	var best []page
	for part := range parts {
		it, err := part.Segment.Postings(segment.Full, []byte(owner))
		if err != nil || it == nil {
			continue
		}
		for n := 0; n < memberPostings && it.Next(); n++ {
			if impact := it.Impact(); (len(best) < memberPages || impact > best[len(best)-1].impact) && !part.Dead.Has(it.Ord()) {
				at, _ := slices.BinarySearchFunc(best, impact, func(p page, impact uint8) int {
					if p.impact >= impact {
						return -1
					}
					return 1
				})
				best = slices.Insert(best[:min(len(best), memberPages)], at, page{part, it.Ord(), impact})
				best = best[:min(len(best), memberPages)]
			}
		}
	}
	docs := segment.DocReader{}
	defer docs.Close()
	count := map[string]int{}
	for _, p := range best {
		if info, err := docs.Read(p.part.Segment, p.ord, memberBytes); err == nil {
			countMembers(count, vocab.WithoutSectionMarks(info.Text), owner+separator, prefix)
		}
	}
	for name := range count {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b))
	})
	return names
}

// countMembers counts the names of a text that begin with a prefix, are longer, and follow an owner with its
// separator, which nothing of a word touches.
func countMembers(count map[string]int, text, owner, prefix string) {
	text = strings.ToLower(text)
	for {
		before, rest, found := strings.Cut(text, owner)
		if !found {
			return
		}
		end := 0
		for end < len(rest) && isNameByte(rest[end]) {
			end++
		}
		touched := before != "" && (isNameByte(before[len(before)-1]) || before[len(before)-1] >= 0x80)
		if name := rest[:end]; !touched && end > len(prefix) && strings.HasPrefix(name, prefix) && name[0] > '9' {
			count[strings.Clone(name)]++
		}
		text = rest
	}
}

func isNameByte(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' }
