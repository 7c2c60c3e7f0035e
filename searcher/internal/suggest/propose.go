package suggest

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"anatomy/analysis"
	"anatomy/searcher/query"
)

// Sources are the sources of completions.
type Sources struct {
	Words, Names *Dictionary
	Titles       *Completions
	Evidence     Evidence

	// Members returns the names that begin with a prefix and follow an owner and a separator in pages
	// about the owner, likeliest first.
	Members func(owner, separator, prefix string) []string
}

// maxCandidates bounds the number of words that may complete the last word.
const maxCandidates = 32

// fewPairs is the maximum number of pages with the rarer of two words to one page with the pair; rarer
// pairs are chance.
const fewPairs = 400

// Propose returns queries that begin with the typed text, at most limit of each kind, likeliest
// first: titles of pages, and words and names of the index that complete the last word, those of titles
// first. If the last word is the only one and not a word of the index, the likeliest word comes before the
// titles. After another word, only words of titles and names that follow it in pages complete it. After a
// point or two colons, members of the word before come first, but for titles with these signs and of several
// words, and words of the index only if there are none.
func (s *Sources) Propose(typed string, limit int) []string {
	plain := !hasOperators(typed)
	last := lastWord(typed, plain)
	members := s.members(last, limit)
	var completed []string
	if len(members) == 0 {
		completed = s.completeWord(last, limit)
	}
	var titles []string
	if plain {
		titles = s.Titles.Begin(typed, limit)
	}
	if len(members) > 0 && strings.Contains(typed, " ") {
		titles, members = slices.Concat(titles, members), nil
	} else if len(members) > 0 {
		members = slices.Concat(s.Titles.beginVerbatim(typed, limit), members)
	}
	first := 0
	if len(completed) > 0 && len(analysis.PhraseTerms(typed)) == 1 && !s.isWord(typed) {
		first = 1
	}
	all := slices.Concat(members, completed[:first], titles, completed[first:])
	seen := map[string]bool{folded(typed): true}
	return slices.DeleteFunc(all, func(text string) bool {
		key := folded(text)
		had := seen[key]
		seen[key] = true
		return had
	})
}

// hasOperators reports whether the query language may treat a text as more than words.
func hasOperators(text string) bool {
	if strings.ContainsAny(text, `"“”„‟()|`) || strings.HasPrefix(text, "-") ||
		strings.Contains(text, " -") || strings.Contains(text, " OR ") {
		return true
	}
	q := query.Parse(text)
	return len(q.Cut) > 0 || len(q.Parts()) > 0
}

func folded(text string) string { return strings.Join(analysis.PhraseTerms(text), " ") }

// isWord reports whether the typed text is a word of the index.
func (s *Sources) isWord(typed string) bool {
	return s.Words.has(folded(typed)) || s.Names.has(folded(typed))
}

// A typedWord is the last word of the typed text, with the text before it.
type typedWord struct {
	before   string // text
	previous string // the previous word, folded; "" if there is none or something is between them
	word     string // folded; "" if it is not completed: in quotes, of a site or after a minus

	owner, separator string // the previous word and a point or two colons between them, in a name; or ""
}

func lastWord(typed string, plain bool) (last typedWord) {
	if plain {
		return lastPlainWord(typed)
	}
	q := query.Parse(typed)
	n := len(q.Loose)
	if n == 0 || len(q.Cut) > 0 || q.Loose[n-1].To != len(q.Text) {
		return last
	}
	last.before, last.word = q.Text[:q.Loose[n-1].From], q.Loose[n-1].Word
	if n > 1 && strings.TrimSpace(q.Text[q.Loose[n-2].To:q.Loose[n-1].From]) == "" {
		last.previous = q.Loose[n-2].Word
	}
	return last
}

// lastPlainWord is lastWord for a text without operators. The end of a URL is not completed.
func lastPlainWord(typed string) (last typedWord) {
	piece := typed[strings.LastIndexByte(typed, ' ')+1:]
	if strings.Contains(piece, "://") || strings.HasPrefix(piece, "www.") {
		return last
	}
	var t analysis.Tokenizer
	ends := 0
	t.EachTerm([]byte(typed), func(term []byte, start, end int) {
		before := typed[:start]
		if strings.HasSuffix(before, ":") && !strings.HasSuffix(before, "::") { // intitle:word
			last.word = ""
		}
		next := typedWord{before: before, previous: last.word, word: string(term)}
		if separator := before[min(ends, start):]; separator == "." || separator == "::" {
			next.owner, next.separator = last.word, separator
		}
		last, ends = next, end
	})
	switch rest := typed[ends:]; {
	case rest == "":
		return last
	case rest == "." || rest == "::":
		return typedWord{before: typed, owner: last.word, separator: rest}
	}
	return typedWord{}
}

// members completes the name of a member.
func (s *Sources) members(last typedWord, limit int) (all []string) {
	if s.Members == nil || last.owner == "" || strings.HasSuffix(last.before, "..") || '0' <= last.owner[0] && last.owner[0] <= '9' {
		return nil
	}
	for _, name := range s.Members(last.owner, last.separator, last.word) {
		if all = append(all, last.before+name); len(all) == limit {
			break
		}
	}
	return all
}

// completeWord completes the last word.
func (s *Sources) completeWord(last typedWord, limit int) (all []string) {
	if last.word == "" || strings.HasSuffix(last.before, " -") { // an option is no word
		return nil
	}
	found := s.begin(last.word, s.isLikely)
	if last.previous != "" {
		all, titled := s.firstOfTitles(last, found)
		found = s.wordsAfter(last.previous, all, titled, utf8.RuneCountInString(last.word) == 1)
	} else {
		found = append(found, s.begin(last.word, func(term string) bool { return !s.isLikely(term) })...)
	}
	for _, w := range found[:min(len(found), limit)] {
		all = append(all, last.before+w.Text)
	}
	return all
}

// begin returns the most frequent of some words and names that begin with a prefix.
func (s *Sources) begin(prefix string, some func(string) bool) []Word {
	found := slices.Concat(s.Words.Begin(prefix, some, maxCandidates), s.Names.Begin(prefix, some, maxCandidates))
	slices.SortStableFunc(found, func(a, b Word) int { return cmp.Compare(b.DF, a.DF) })
	return found[:min(len(found), maxCandidates)]
}

// isLikely reports whether a term of the index may be a word of a query: it is in a title, or a name with
// underscores.
func (s *Sources) isLikely(term string) bool {
	return strings.Contains(term, "_") || s.Titles.HasWord(term)
}

// firstOfTitles returns words with those before them that follow the previous word in titles, and the number
// of these.
func (s *Sources) firstOfTitles(last typedWord, words []Word) (all []Word, titled int) {
	for _, text := range s.Titles.After(last.previous, last.word, maxCandidates) {
		all = append(all, Word{Text: text})
	}
	titled = len(all)
	for _, w := range words {
		if !slices.ContainsFunc(all[:titled], func(k Word) bool { return k.Text == w.Text }) {
			all = append(all, w)
		}
	}
	return all, titled
}

// wordsAfter returns the words that follow another one in pages, by descending frequency of the pair. Words
// that there was no time to count are left out, except the first ones, which follow it in titles. For one
// letter function words are left out, too, and words that follow in few of the pages that have the rarer of
// both.
func (s *Sources) wordsAfter(previous string, all []Word, titled int, isLetter bool) []Word {
	pairs := map[string]int{}
	var after, unread []Word
	for i, w := range all {
		if isLetter && i >= titled && analysis.IsFunctionWord(w.Text, "") {
			continue
		}
		n, _ := s.Evidence.Pairs(previous, w.Text, enoughPairs)
		if s.Evidence.Over() {
			unread = all[i:max(i, titled)]
			break
		}
		if isLetter && i >= titled && n < enoughPairs && n*fewPairs < min(w.DF, s.Evidence.Pages(previous)) {
			continue
		}
		if n > 0 {
			after = append(after, w)
			pairs[w.Text] = n
		}
	}
	slices.SortStableFunc(after, func(a, b Word) int { return cmp.Compare(pairs[b.Text], pairs[a.Text]) })
	return append(after, unread...)
}
