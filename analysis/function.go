package analysis

import "strings"

// functionWords are English words that join others and say nothing of a subject by themselves, with
// what the tokenizer leaves of "don't" or "we'll". They are the closed classes of the language:
// articles, pronouns, auxiliary verbs, conjunctions, prepositions, question words.
var functionWords = setOf(`
	a an the this that these those
	i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
	myself yourself itself themselves
	am is are was were be been being do does did doing done has have had having
	can could will would shall should may might must let lets get
	and or nor but if then than so as because while
	of at by for with about against between into through during before after above below to from up
	down in out on off over under again further once upon within without via per
	what which who whom whose when where why how
	here there all any both each few more most other some such no not only own same too very just also
	s t don ll re ve d m`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// IsFunctionWord reports whether a term is an English function word.
func IsFunctionWord(word string) bool { return functionWords[word] }
