package analysis

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
)

// snowballs are Snowball's stemmers by language. They are applied to folded terms, without accents.
var snowballs = map[string]func(*snowballstem.Env) bool{
	"da": danish.Stem, "nl": dutch.Stem, "en": english.Stem, "fi": finnish.Stem, "fr": french.Stem,
	"de": german.Stem, "hu": hungarian.Stem, "it": italian.Stem, "nb": norwegian.Stem, "nn": norwegian.Stem, "no": norwegian.Stem,
	"pt": portuguese.Stem, "ro": romanian.Stem, "ru": russian.Stem, "es": spanish.Stem, "sv": swedish.Stem,
}

// A stemmer finds the stems of the words of one language.
type stemmer struct {
	script *unicode.RangeTable
	lang   string
	stems  func(word string) []string // those that a word may have
	before []string                   // what may be in front of a stem, "" included; nil for nothing
	least  int                        // letters of the shortest stem whose forms are looked for
}

// byScript are the stemmers of scripts that are treated as one language.
var byScript = []stemmer{
	{unicode.Cyrillic, "ru", one(snowball("ru")), nil, leastStem},
	{unicode.Greek, "el", one(greekStem), nil, leastStem},
	{unicode.Arabic, "ar", one(arabicStem), arabicBefore, leastStem},
	{unicode.Devanagari, "hi", one(hindiStem), nil, 2},
	{unicode.Hebrew, "he", hebrewStems, hebrewBefore, leastStem},
	{unicode.Hangul, "ko", koreanStems, nil, 2},
}

// leastStem is the length of the shortest stem, in letters. A shorter one has few forms and begins too
// many terms.
const leastStem = 3

// one returns a function that returns one stem.
func one(stem func(word string) string) func(word string) []string {
	return func(word string) []string { return []string{stem(word)} }
}

func snowball(lang string) func(word string) string {
	return func(word string) string {
		env := snowballstem.NewEnv(word)
		snowballs[lang](env)
		return env.Current()
	}
}

// stemmerOf returns the stemmer for a term in a language, nil if it is not in the language's script or
// not made of letters only.
func stemmerOf(word, lang string) *stemmer {
	lang = primary(lang)
	s := &stemmer{unicode.Latin, lang, one(turkishStem), nil, leastStem}
	if lang != "tr" {
		if snowballs[lang] == nil || lang == "ru" {
			s.lang = "en"
		}
		s.stems = one(snowball(s.lang))
	}
	first, _ := utf8.DecodeRuneInString(word)
	for i := range byScript {
		if unicode.Is(byScript[i].script, first) {
			s = &byScript[i]
		}
	}
	for _, r := range word {
		if !unicode.Is(s.script, r) && !unicode.Is(unicode.M, r) {
			return nil
		}
	}
	return s
}

// primary returns the language of a tag, without region or script.
func primary(tag string) string {
	lang, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return lang
}

// prefixes returns the possible beginnings of the forms that have one of the stems of a word.
func (s *stemmer) prefixes(word string, stems []string) (all []string) {
	for _, stem := range stems {
		if s.before != nil {
			for _, before := range s.before {
				all = append(all, before+stem)
			}
			continue
		}
		prefix := commonPrefix(word, stem)
		last := len(prefix) - 1
		if utf8.RuneCountInString(prefix) > s.least && strings.IndexByte("eiy", prefix[last]) >= 0 {
			prefix = prefix[:last] // happy, happier; file, filing
		}
		all = append(all, prefix)
	}
	slices.Sort(all)
	kept := all[:0]
	for _, prefix := range all {
		if len(kept) == 0 || !strings.HasPrefix(prefix, kept[len(kept)-1]) {
			kept = append(kept, prefix)
		}
	}
	return kept
}

// Forms is the set of terms that are forms of each other: those of a language that have a stem in common,
// and compounds that begin with one of them, the term itself.
// The forms of a unigram are itself and the bigrams that begin with it: one of them is wherever the
// character is.
type Forms struct {
	Prefixes []string // each form begins with one of them; sorted, none begins with another
	word     string
	stems    []string
	lang     string
	unigram  bool
}

// FormsOf returns the forms of a term in a language, BCP 47. ok is false for terms that are not in the
// language's script or not made of letters only. Terms in a script of byScript are in its language
// for any lang.
func FormsOf(word, lang string) (f Forms, ok bool) {
	if IsUnigram(word) {
		return Forms{Prefixes: []string{word}, unigram: true}, true
	}
	s := stemmerOf(word, lang)
	if s == nil {
		return f, false
	}
	f = Forms{word: word, stems: s.stems(word), lang: s.lang}
	f.Prefixes = s.prefixes(word, f.stems)
	short := func(prefix string) bool { return utf8.RuneCountInString(prefix) < s.least }
	return f, len(f.Prefixes) > 0 && !slices.ContainsFunc(f.Prefixes, short)
}

// HasParticles reports whether a term is in a script that writes particles, articles or prepositions
// together with a word: Hangul, Hebrew or Arabic. What others write as several words is one form there,
// and a word by itself is rare.
func HasParticles(term string) bool {
	first, _ := utf8.DecodeRuneInString(term)
	return unicode.In(first, unicode.Hangul, unicode.Hebrew, unicode.Arabic)
}

// Contains reports whether a term is one of the forms.
func (f *Forms) Contains(word string) bool {
	i := slices.IndexFunc(f.Prefixes, func(prefix string) bool { return strings.HasPrefix(word, prefix) })
	if i < 0 {
		return false
	}
	if f.unigram {
		return word == f.Prefixes[i] || IsUnigram(word[len(f.Prefixes[i]):])
	}
	s := stemmerOf(word, f.lang)
	shared := func(stem string) bool { return slices.Contains(f.stems, stem) }
	return s != nil && s.lang == f.lang && (slices.ContainsFunc(s.stems(word), shared) || f.HasCompound(word))
}

// commonPrefix returns the longest common prefix of a and b.
func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n < len(a) && n > 0 && !utf8.RuneStart(a[n]) {
		n--
	}
	return a[:n]
}
