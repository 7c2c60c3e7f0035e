package analysis

// Accents are the words of a text with accents, kept until it is known whether the text is in
// Vietnamese.
type Accents struct {
	text  []byte // the words in a row
	words []accentedWord
	term  []byte
}

// An accentedWord is a word that ends at text[:end].
type accentedWord struct{ end, number int }

// Reset removes all words and keeps the memory.
func (a *Accents) Reset() { *a = Accents{a.text[:0], a.words[:0], a.term} }

// Add adds a word with a number of the caller.
func (a *Accents) Add(word []byte, number int) {
	a.text = append(a.text, word...)
	a.words = append(a.words, accentedWord{len(a.text), number})
}

// Each calls visit with the accented term and the number of each word that has one, if the text is in
// Vietnamese. The term is valid until visit returns.
func (a *Accents) Each(visit func(term []byte, number int)) {
	if !a.areVietnamese() {
		return
	}
	from := 0
	for _, w := range a.words {
		a.term = AppendAccented(a.term[:0], a.text[from:w.end])
		if len(a.term) > 0 {
			visit(a.term, w.number)
		}
		from = w.end
	}
}

// areVietnamese reports whether a third of the words have letters that only Vietnamese has. Of
// Vietnamese text two thirds do.
func (a *Accents) areVietnamese() bool {
	if !IsVietnamese(a.text) {
		return false
	}
	n, from := 0, 0
	for _, w := range a.words {
		if IsVietnamese(a.text[from:w.end]) {
			n++
		}
		from = w.end
	}
	return 3*n >= len(a.words)
}
