package query

import (
	"strings"
	"unicode"

	"anatomy/analysis"
)

// Bounds of prose: queries typed as sentences, such as questions, tasks and error messages. Few
// pages have all of their words. A bigram counts as a third of a word.
const (
	proseWords         = 4 // minimum number of words of prose
	proseWithFunctions = 3 // the same for a query with function words
	bigramsPerWord     = 3
)

// Prose returns a query that is prose with a Most node in place of its words, or nil for any other
// query. Words in quotes, after a plus or an operator are not part of the prose: they stay
// required. A word that the tokenizer splits, such as os.path, counts as one word here, and as
// several for matching.
func (n *Node) Prose() *Node {
	if n == nil || n.Op != And {
		return nil
	}
	var words, others []*Node
	typed, content := 0, 0 // in parts of a word; in words
	least := proseWords
	lang := n.Language()
	for _, kid := range n.Kids {
		switch {
		case kid.Joint && kid.In == Anywhere:
			isContraction := strings.ContainsAny(kid.Text, "'’") // what's, user's; not I/O
			for _, word := range kid.split() {
				word.Function = isContraction && analysis.IsFunctionWord(word.Words[0], lang)
				if !word.Function {
					content++
				}
				words = appendNew(words, word)
			}
			typed += bigramsPerWord * kid.Times
		case kid.mayMiss():
			word := *kid
			isForeign := lang == "" && kid.Op == Words && kid.hasAccents()
			word.Function = kid.Op == Words && !isForeign && analysis.IsFunctionWord(kid.Words[0], lang)
			words = appendNew(words, &word)
			typed += kid.parts()
			if word.Function {
				least = proseWithFunctions
			} else {
				content++
			}
		default:
			others = append(others, kid)
		}
	}
	if typed < least*bigramsPerWord || content == 0 {
		return nil
	}
	most := &Node{Op: Most, Kids: words}
	if len(others) == 0 {
		return most
	}
	return &Node{Op: And, Kids: append(others, most)}
}

// hasAccents reports whether a term of several ASCII letters was typed with accents, which no English
// function word has: sở is not so. One letter, as in "à", is a word of many languages.
func (n *Node) hasAccents() bool {
	isOther := func(r rune) bool { return r > unicode.MaxASCII }
	term := n.Words[0]
	return len(term) > 1 && !strings.ContainsFunc(term, isOther) && strings.ContainsFunc(n.Text, isOther)
}

// Language returns the language of the words of a query according to its function words, or "" for
// English. See [analysis.LanguageOf].
func (n *Node) Language() string {
	var words []string
	for _, word := range n.PositiveWords() {
		words = append(words, word.Words...)
	}
	return analysis.LanguageOf(words)
}

// FilteredLanguage returns the language that a filter of the query requires of pages, or "".
func FilteredLanguage(root *Node) string {
	for _, kid := range root.Required() {
		if kid.Op == Only && kid.Filter.Lang != "" {
			return kid.Filter.Lang
		}
	}
	return ""
}

// IsEnglish reports whether the function words of a query are English. See [analysis.IsEnglish].
func (n *Node) IsEnglish() bool {
	var words []string
	for _, word := range n.PositiveWords() {
		words = append(words, word.Words...)
	}
	return analysis.IsEnglish(words)
}

// parts returns the number of words in n, in units of which bigramsPerWord make one word.
func (n *Node) parts() int {
	switch {
	case n.Op == Words && analysis.IsBigram(n.Words[0]):
		return n.Times
	case n.Op == Words:
		return bigramsPerWord * n.Times
	}
	return bigramsPerWord
}

// split returns a node for each word of n.
func (n *Node) split() (words []*Node) {
	for i, word := range n.Words {
		one := &Node{Op: Words, Words: []string{word}, Text: word, Times: n.Times}
		for _, a := range n.Accented {
			if a.Word == i {
				one.Accented = append(one.Accented, Accented{0, a.Term, a.Text})
			}
		}
		words = append(words, one)
	}
	return words
}

// Content returns the words of a query that is prose, without function words.
func (n *Node) Content() (words []*Node) {
	if n.Op == And {
		for _, kid := range n.Kids {
			words = append(words, kid.Content()...)
		}
	}
	if n.Op == Most {
		for _, kid := range n.Kids {
			if !kid.Function {
				words = append(words, kid)
			}
		}
	}
	return words
}

// Titled returns a query for pages whose titles have all words of a query that is prose.
func (n *Node) Titled() *Node {
	if n.Op == And {
		var kids []*Node
		for _, kid := range n.Kids {
			kids = append(kids, kid.Titled())
		}
		return join(And, kids)
	}
	if n.Op != Most {
		return n
	}
	var words []*Node
	for _, word := range n.PositiveWords() {
		words = append(words, &Node{Op: Words, Words: word.Words, Text: word.Text, Times: 1, In: InTitle})
	}
	return join(And, words)
}
