package analysis

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Stemmers for languages that Snowball has none for, or one that suits search less. They are applied
// to folded terms.

// arabicBefore are an article, conjunctions and prepositions that are written together with a word.
var arabicBefore = []string{"", "ال", "وال", "بال", "كال", "فال", "لل", "و"}

var arabicAfter = []string{"ها", "ان", "ات", "ون", "ين", "يه", "ه", "ي"}

// arabicStem returns the stem of Larkey's light10 ("Light Stemming for Arabic Information Retrieval",
// 2007), as Lucene's ArabicStemmer has it.
func arabicStem(word string) string {
	for _, before := range arabicBefore[1:] {
		least := utf8.RuneCountInString(before) + 2
		if before == "و" {
			least = 4
		}
		if rest, ok := strings.CutPrefix(word, before); ok && utf8.RuneCountInString(word) >= least {
			word = rest
			break
		}
	}
	for _, after := range arabicAfter {
		if rest, ok := strings.CutSuffix(word, after); ok && utf8.RuneCountInString(rest) >= 2 {
			word = rest
		}
	}
	return word
}

// hindiAfter are the suffixes of Ramanathan and Rao ("A Lightweight Stemmer for Hindi", 2003).
var hindiAfter = longestFirst(`
	ो े ू ु ी ि ा कर ाओ िए ाई ाए ने नी ना ते ीं ती ता ां ों ें
	ाकर ाइए ाईं ाया ेगी ेगा ोगी ोगे ाने ाना ाते ाती ाता तीं ाओं ाएं ुओं ुएं ुआं
	ाएगी ाएगा ाओगी ाओगे एंगी ेंगी एंगे ेंगे ूंगी ूंगा ातीं नाओं नाएं ताओं ताएं ियों ियां
	ाएंगी ाएंगे ाऊंगी ाऊंगा ाइयों ाइयां`)

// hindiStem removes the longest suffix that leaves two characters.
func hindiStem(word string) string { return cutLongest(word, hindiAfter, 2) }

// greekAfter are endings of nouns, adjectives and verbs, longest first: case and number of the declensions
// in -ος, -ας, -ης, -α, -η, -ο, -ι and -μα, and person and tense of verbs. They are folded: σ for ς.
var greekAfter = longestFirst(`
	οσ ου ο ον ε οι ων ουσ ασ α εσ αδεσ αδων ησ η εισ εων εωσ ι ια ιασ ιεσ ιων ιου ιοσ ιο ιοι ιουσ μα ματα ματοσ ματων
	υσ υ εα εασ ω ει ουμε ετε ουν ουνε αμε ατε αν εται ονται ομαι εστε ηκε ηκαν θηκε θηκαν σε σει σουν σαν
	ομενοσ ομενη ομενο ομενου ομενησ ομενεσ ομενοι ομενα ομενων μενοσ μενη μενο μενου μενησ μενεσ μενοι μενα μενων`)

// greekStem removes the longest ending that leaves three letters.
func greekStem(word string) string { return cutLongest(word, greekAfter, 3) }

// turkishStem returns the first five letters, which find about as much as a dictionary does (Can and
// others, "Information Retrieval on Turkish Texts", 2008). Snowball's stemmer needs the dots of vowels,
// which folded terms lack.
func turkishStem(word string) string {
	const letters = 5
	count := 0
	for i := range word {
		if count == letters {
			return word[:i]
		}
		count++
	}
	return word
}

// longestFirst returns the words of a text, those with most letters first.
func longestFirst(text string) []string {
	words := strings.Fields(text)
	slices.SortStableFunc(words, func(a, b string) int { return utf8.RuneCountInString(b) - utf8.RuneCountInString(a) })
	return words
}

// cutLongest removes the first of the endings that leaves enough letters.
func cutLongest(word string, endings []string, enough int) string {
	for _, after := range endings {
		if rest, ok := strings.CutSuffix(word, after); ok && utf8.RuneCountInString(rest) >= enough {
			return rest
		}
	}
	return word
}

// hebrewBefore are an article, conjunctions and prepositions that are written together with a word,
// alone and one after the other.
var hebrewBefore = append([]string{""}, strings.Fields("ה ו ב כ ל מ ש וה וב וכ ול ומ וש שה שב של כש מה בה כשה לכש ושה")...)

var hebrewAfter = []string{"", "ים", "ות"}

// hebrewStems returns the possible stems of a word, without prefixes and plural: at least three letters.
func hebrewStems(word string) (all []string) {
	for _, before := range hebrewBefore {
		rest, ok := strings.CutPrefix(word, before)
		if !ok {
			continue
		}
		for _, after := range hebrewAfter {
			if stem, ok := strings.CutSuffix(rest, after); ok && (stem == word || utf8.RuneCountInString(stem) >= 3) {
				all = append(all, stem)
			}
		}
	}
	return all
}

// Korean particles follow a noun: a plural, a case or the ending of a verb made of the noun, and a
// topic, each of which may be missing.
var (
	koreanPlural = []string{"", "들"}
	koreanCase   = append([]string{""}, strings.Fields(`
		이 가 을 를 의 에 에서 에게 에게서 한테 께 로 으로 와 과 랑 이랑 하고 나 이나 부터 까지 에서부터 로부터 으로부터
		처럼 보다 마다 밖에 조차 마저 로서 로써 으로서 으로써 라도 이라도 란 이란 라는 이라는 라고 이라고 라면 이라면
		인 일 이다 이고 이며 이면 인데 이었다 였다 입니다 이에요 예요
		하다 하는 하고 하며 하면 하여 하기 하게 하지 한 할 함 해 해서 했다 합니다 했습니다 하려면
		되다 되는 되고 되며 되면 되어 되지 된 될 됨 됐다 되었다 됩니다 되었습니다`)...)
	koreanTopic = append([]string{""}, strings.Fields("은 는 도 만 의")...)
)

// koreanStems returns the possible stems of a word, without particles: at least two syllables.
func koreanStems(word string) (all []string) {
	for _, topic := range koreanTopic {
		rest, ok := strings.CutSuffix(word, topic)
		if !ok {
			continue
		}
		for _, ending := range koreanCase {
			rest, ok := strings.CutSuffix(rest, ending)
			if !ok {
				continue
			}
			for _, plural := range koreanPlural {
				stem, ok := strings.CutSuffix(rest, plural)
				if ok && (stem == word || utf8.RuneCountInString(stem) >= 2) && !slices.Contains(all, stem) {
					all = append(all, stem)
				}
			}
		}
	}
	return all
}
