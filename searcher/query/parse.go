package query

import (
	"fmt"
	"strings"

	"anatomy/analysis"
)

// Parse parses a query. The time is linear in the first 8 KB of text.
func Parse(text string) Query { return new(Parser).Parse(text) }

// A Parser parses queries one after another in the same memory. The zero Parser is ready for use.
type Parser struct{ parser }

// Parse is like the function Parse, but the tree and the slices of the result are valid until the
// next call.
func (p *Parser) Parse(text string) Query {
	p.parser = parser{
		loose: p.loose[:0], minus: p.minus[:0], unnamed: p.unnamed[:0], bytes: p.bytes, tokens: p.tokens,
		nodes: p.nodes[:0], folds: p.folds[:0], signs: p.signs[:0],
	}
	p.text, p.tooLong = clean(text)
	p.bytes = append(p.bytes[:0], p.text...)
	p.vietnamese = analysis.IsVietnamese(p.bytes)
	root := p.withSigns(p.and())
	q := Query{Root: root, Cut: p.cuts(), Text: p.text, Name: p.name(), Loose: p.loose, ByDate: p.byDate}
	if len(p.minus) > 0 {
		if q.Command = isCommand(q.Text); q.Command || !hasOperators(q.Text) {
			q.Minus = p.minus
		}
	}
	return q
}

// A parser is a recursive descent parser that reads its text once.
type parser struct {
	scanner
	words    int   // number of words so far
	depth    int   // number of open parentheses
	extra    int   // open parentheses beyond MaxDepth
	excluded int   // number of minuses that apply here
	in       Field // field of words without an operator of their own
	loose    []Loose
	minus    []Loose // see Query.Minus
	signs    []string
	unnamed  []span // pieces of the text that are not part of Query.Name, in order

	byDate bool

	tooLong, tooMany, tooDeep bool

	vietnamese bool // words have accented terms

	tokenizer analysis.Tokenizer
	bytes     []byte  // text that is tokenized
	tokens    []token // tokens of bytes

	nodes []Node   // memory for Words nodes
	folds []string // memory for their words
}

// omit omits the text from a position up to the current one from the name.
func (p *parser) omit(from int) {
	for len(p.unnamed) > 0 && p.unnamed[len(p.unnamed)-1].from >= from {
		p.unnamed = p.unnamed[:len(p.unnamed)-1]
	}
	p.unnamed = append(p.unnamed, span{from, p.at})
}

// name returns the text without the omitted pieces.
func (p *parser) name() string {
	if len(p.unnamed) == 0 {
		return p.text
	}
	var b strings.Builder
	at := 0
	for _, s := range p.unnamed {
		b.WriteString(p.text[at:s.from])
		at = s.to
	}
	return b.String() + p.text[at:]
}

func (p *parser) cuts() []string {
	var all []string
	if p.tooLong {
		all = append(all, fmt.Sprintf("only the first %d bytes were read", MaxBytes))
	}
	if p.tooMany {
		all = append(all, fmt.Sprintf("only the first %d words were used", MaxWords))
	}
	if p.tooDeep {
		all = append(all, fmt.Sprintf("parentheses more than %d deep were left out", MaxDepth))
	}
	return all
}

// fewParts is the number of parts of a group for which no allocation is needed.
const fewParts = 8

// and parses up to the parenthesis that closes the group, or to the end.
func (p *parser) and() *Node {
	parts := make([]*Node, 0, fewParts)
	for p.skipSpaces() {
		if p.text[p.at] == ')' {
			if p.extra == 0 && p.depth > 0 {
				break
			}
			p.extra = max(p.extra-1, 0)
			p.at++
			continue
		}
		if signs := p.takeSigns(); signs != "" {
			if p.depth == 0 {
				p.signs = append(p.signs, signs)
			}
			continue
		}
		if _, ok := p.takeAround(); ok || p.takeOr() || p.takeWord("AND") {
			continue
		}
		parts = append(parts, p.or())
	}
	return join(And, parts)
}

// withSigns returns a query with the signs alone that it has, such as ->, if it has no words.
func (p *parser) withSigns(root *Node) *Node {
	if len(p.signs) == 0 || hasWords(root) {
		return root
	}
	parts := []*Node{root}
	for _, signs := range p.signs {
		if n := p.counted(Node{Op: Words, Words: []string{signs}, Text: signs, Times: 1}); n != nil {
			parts = append(parts, n)
		}
	}
	return join(And, parts)
}

func (p *parser) or() *Node {
	parts := []*Node{p.near()}
	for p.takeOr() {
		for p.takeOr() {
		}
		parts = append(parts, p.near())
	}
	return join(Or, parts)
}

// near parses operands of AROUND(n).
func (p *parser) near() *Node {
	for _, ok := p.takeAround(); ok; _, ok = p.takeAround() {
	}
	left := p.unary()
	var pairs []*Node
	for {
		within, ok := p.takeAround()
		switch {
		case ok && (p.atWord("OR") || p.atWord("AND")):
			continue
		case !ok && pairs == nil:
			return left
		case !ok:
			return join(And, pairs)
		}
		right := p.unary()
		pairs = append(pairs, p.around(left, right, within))
		left = right
	}
}

// around returns the node of two operands. If they cannot be near each other, both are required.
func (p *parser) around(left, right *Node, within int) *Node {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	}
	n, words := around(left, right, within)
	if p.words += words; p.words > MaxWords {
		p.full()
		n = nil
	}
	if n == nil {
		return join(And, []*Node{left, right})
	}
	return n
}

// unary parses a word, phrase, operator with its object, or group, with or without a minus. It
// returns nil if there is none.
func (p *parser) unary() *Node {
	if !p.skipSpaces() || p.text[p.at] == ')' {
		return nil
	}
	p.allInField()
	start := p.at
	if p.takeMinus() {
		p.allInField()
		p.excluded++
		n := negate(p.primary(p.in))
		p.excluded--
		p.omit(start)
		if text := p.text[start+1 : p.at]; n != nil && n.Op == Not && isOptionName(text) {
			p.minus = append(p.minus, Loose{text, start, p.at})
		}
		return n
	}
	return p.primary(p.in)
}

// allInField sets the field of the group if the text continues with allintitle: or the like.
func (p *parser) allInField() {
	start := p.at
	if in, ok := p.takeAllInField(); ok {
		p.in = in
		p.omit(start)
	}
}

func (p *parser) primary(in Field) *Node {
	for p.depth == MaxDepth && p.text[p.at] == '(' {
		p.at++
		p.extra++
		p.tooDeep = true
		if !p.skipSpaces() {
			return nil
		}
	}
	switch p.text[p.at] {
	case ')', '|':
		return nil
	case '(':
		return p.group(in)
	case '"':
		return p.quote(in)
	}
	start := p.at
	if f, ok := p.takeField(); ok {
		p.omit(start)
		return p.primary(f)
	}
	if p.takePlus() {
		if p.text[p.at] == '"' {
			return p.quote(in)
		}
		return p.phrase(p.word(), in)
	}
	word := p.word()
	if p.excluded == 0 && strings.EqualFold(word, sortByDate) {
		p.byDate = true
		p.omit(start)
		return nil
	}
	if n := p.operator(p.withObject(word)); n != nil {
		p.omit(start)
		return n
	}
	if rest := withoutWWW(withoutScheme(word)); rest != word {
		return p.phrase(rest, in)
	}
	if p.excluded > 0 {
		return p.newWords(word, p.tokenize(word), in, false)
	}
	n := p.leaf(word, in)
	if n != nil && n.Op == Words && len(n.Words) == 1 {
		if in == Anywhere && !n.Exact {
			n.Signed = signed(word, n)
		}
		from := start + strings.Index(word, n.Text)
		p.loose = append(room(p.loose), Loose{n.Words[0], from, from + len(n.Text)})
	}
	return n
}

// signed returns the signed term of a typed word that consists of one term.
func signed(word string, n *Node) string {
	from := strings.Index(word, n.Text)
	return string(analysis.AppendSigned(nil, []byte(word), []byte(n.Words[0]), from, from+len(n.Text)))
}

func (p *parser) group(in Field) *Node {
	around := p.in
	p.at++
	p.depth++
	p.in = in
	n := p.and()
	p.in = around
	p.depth--
	if p.at < len(p.text) {
		p.at++
	}
	return n
}

// quote parses a phrase, or one followed by ~n: words near each other.
func (p *parser) quote(in Field) *Node {
	text := p.quoted()
	within, ok := p.takeTilde()
	if !ok {
		return p.phrase(text, in)
	}
	var kids []*Node
	for piece := range strings.FieldsSeq(text) {
		if n := p.phrase(piece, in); n != nil {
			kids = append(kids, n)
		}
	}
	return newNear(kids, within)
}

// withObject returns a word with its object in quotes, and goes behind it, if that is a filter:
// product:"Acme DB".
func (p *parser) withObject(word string) string {
	if !strings.HasSuffix(word, ":") {
		return word
	}
	quoted, ok := strings.CutPrefix(p.text[p.at:], `"`)
	object, _, closed := strings.Cut(quoted, `"`)
	if !ok || !closed || len(parseFilters(word+object)) == 0 {
		return word
	}
	p.at += len(object) + len(`""`)
	return word + object
}

// operator returns the node of an operator that does not match words, or nil if the word is not
// such an operator.
func (p *parser) operator(word string) *Node {
	if !strings.Contains(word, ":") && !strings.Contains(word, "..") {
		return nil
	}
	if site := parseSite(word); site != "" {
		return p.counted(Node{Op: Site, Site: site})
	}
	if filters := parseFilters(word); len(filters) > 0 {
		var parts []*Node
		for _, f := range filters {
			parts = append(parts, p.counted(Node{Op: Only, Filter: f}))
		}
		return join(And, parts)
	}
	if ref := parseRef(word); ref.URL != "" {
		return p.counted(Node{Op: Pages, Ref: ref})
	}
	return nil
}

// counted returns a node that counts as a word, or nil if the query is full.
func (p *parser) counted(n Node) *Node {
	if p.full() {
		return nil
	}
	p.words++
	return &n
}

// full reports whether the query cannot have another word. Then the rest of the text is ignored.
func (p *parser) full() bool {
	if p.words < MaxWords {
		return false
	}
	p.tooMany = true
	p.at = len(p.text)
	return true
}

// A token is a word of a text.
type token struct {
	word     string // folded
	accented string // [analysis.AppendAccented], or ""
	from, to int    // in the text
}

// tokenize returns the tokens of a text, at most as many as the query may still have. They are
// valid until the next call.
func (p *parser) tokenize(text string) []token {
	p.bytes, p.tokens = append(p.bytes[:0], text...), p.tokens[:0]
	p.tokenizer.EachTerm(p.bytes, func(word []byte, from, to int) {
		if p.full() {
			return
		}
		folded := text[from:to]
		if folded != string(word) {
			folded = string(word)
		}
		accented := ""
		if p.vietnamese && len(word) < to-from {
			accented = string(analysis.AppendAccented(nil, p.bytes[from:to]))
		}
		p.tokens = append(room(p.tokens), token{folded, accented, from, to})
		p.words++
	})
	return p.tokens
}

// room returns all, with a small capacity if it is nil.
func room[T any](all []T) []T {
	if all == nil {
		all = make([]T, 0, 4)
	}
	return all
}

// phrase returns a node of the words of a text, next to each other and in exactly this form, or nil
// if there are none.
func (p *parser) phrase(text string, in Field) *Node {
	return p.newWords(text, p.tokenize(text), in, true)
}

// newWords returns a node of tokens. It drops the last character of a run at the end of a phrase,
// because the run may continue on a page.
func (p *parser) newWords(text string, tokens []token, in Field, exact bool) *Node {
	if last := len(tokens) - 1; overlaps(tokens, last) {
		tokens = tokens[:last]
	}
	if len(tokens) == 0 {
		return nil
	}
	if len(p.nodes) == cap(p.nodes) {
		p.nodes = make([]Node, 0, max(4, 2*cap(p.nodes))) // earlier nodes stay where they are
	}
	typed := text[tokens[0].from:tokens[len(tokens)-1].to]
	p.nodes = append(p.nodes, Node{Op: Words, In: in, Times: 1, Text: typed})
	n := &p.nodes[len(p.nodes)-1]
	n.Joint = !exact && len(tokens) > 1
	n.Exact = exact || len(tokens) > 1 || !isBare(n.Text)
	first := len(p.folds)
	for i, t := range tokens {
		p.folds = append(room(p.folds), t.word)
		if t.accented != "" {
			n.Accented = append(n.Accented, Accented{i, t.accented, text[t.from:t.to]})
		}
	}
	n.Words = p.folds[first:len(p.folds):len(p.folds)]
	n.At = offsets(text, tokens)
	if first := tokens[0]; in == Anywhere && len(tokens) > 1 {
		number := analysis.AppendNumber(nil, []byte(typed), 0, first.to-first.from)
		if len(number) == len(typed) {
			n.Signed = typed
		}
	}
	return n
}

// isBare reports whether the text of one word parses as that word without quotes.
func isBare(text string) bool {
	return text != "OR" && text != "AND" && !strings.ContainsAny(text, "\"():|- +")
}

// offsets returns the offsets of words in a phrase, or nil if they are adjacent: a * alone is an
// open word.
func offsets(text string, tokens []token) []uint32 {
	if len(tokens) == 1 {
		return nil
	}
	at, open := make([]uint32, len(tokens)), uint32(0)
	for i := 1; i < len(tokens); i++ {
		if from, to := tokens[i-1].to, tokens[i].from; from < to && strings.Contains(text[from:to], "*") {
			pieces := strings.Split(text[from:to], " ")
			for _, piece := range pieces[1:max(1, len(pieces)-1)] { // the outer pieces are adjacent to a word
				if piece == "*" {
					open++
				}
			}
		}
		at[i] = uint32(i) + open
	}
	if open == 0 {
		return nil
	}
	return at
}

// overlaps reports whether a token begins within the previous one, which then is a bigram.
func overlaps(tokens []token, i int) bool {
	return 0 < i && i < len(tokens) && tokens[i].from < tokens[i-1].to
}

// leaf returns a node for a text without spaces: each bigram and each Thai word is a node, and the
// text between them is a phrase.
func (p *parser) leaf(text string, in Field) *Node {
	tokens := p.tokenize(text)
	parts := make([]*Node, 0, fewParts)
	first := 0 // of the phrase
	for i := range tokens {
		bigram, second := overlaps(tokens, i+1), overlaps(tokens, i)
		if word := tokens[i].word; !bigram && !second && !analysis.IsUnigram(word) && !analysis.IsThai(word) {
			continue
		}
		parts = append(parts, p.newWords(text, tokens[first:i], in, false))
		if bigram || !second {
			parts = append(parts, p.newWords(text, tokens[i:i+1], in, false))
		}
		first = i + 1
	}
	return join(And, append(parts, p.newWords(text, tokens[first:], in, false)))
}
