package query

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"anatomy/weburl"
	"anatomy/words"
)

// Parse reads a query. It takes time in proportion to the first 8 KB of text.
func Parse(text string) Query { return new(Parser).Parse(text) }

// A Parser reads one query after the other in the same memory. The zero Parser is ready for use.
type Parser struct{ parser }

// Parse is as the function, but for the tree and the slices of the query, which last until the next one is read.
func (p *Parser) Parse(text string) Query {
	p.parser = parser{loose: p.loose[:0], apart: p.apart[:0], bytes: p.bytes, tokens: p.tokens, nodes: p.nodes[:0], folds: p.folds[:0]}
	p.text = p.clean(text)
	root := p.and()
	return Query{Root: root, Cut: p.cuts(), Text: p.text, Name: p.name(), Loose: p.loose, ByDate: p.byDate}
}

// A parser goes through its text once, by recursive descent.
type parser struct {
	text   string
	at     int
	words  int   // taken so far
	depth  int   // of open parentheses
	extra  int   // open parentheses past MaxDepth
	minus  int   // of those that what is read stands behind
	in     Field // of what stands by itself
	object int   // where the object of an operator begins
	loose  []Loose
	apart  []span // pieces that are no part of a name, in their order

	byDate bool

	tooLong, tooMany, tooDeep bool

	tok    words.Tokenizer
	bytes  []byte  // of the text that is cut
	tokens []token // of it

	nodes []Node   // room for those of Words: a query has a few
	folds []string // and for their words
}

// A span is a piece of the text.
type span struct{ from, to int }

// leave notes that what was read from a place on is no part of a name that the query may be.
func (p *parser) leave(from int) {
	for len(p.apart) > 0 && p.apart[len(p.apart)-1].from >= from {
		p.apart = p.apart[:len(p.apart)-1]
	}
	p.apart = append(p.apart, span{from, p.at})
}

// name is the text without the pieces apart.
func (p *parser) name() string {
	if len(p.apart) == 0 {
		return p.text
	}
	var b strings.Builder
	at := 0
	for _, s := range p.apart {
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

// clean bounds the text, makes it UTF-8, control characters spaces and typographic quotes plain.
func (p *parser) clean(text string) string {
	if len(text) > MaxBytes {
		p.tooLong = true
		n := MaxBytes
		for n > MaxBytes-utf8.UTFMax && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '“' || r == '”' || r == '„' || r == '‟':
			return '"'
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.IsSpace(r):
			return ' '
		}
		return r
	}, text)
}

// fewParts is how many parts of a group find room without asking for any.
const fewParts = 8

// and reads up to the parenthesis that closes the group, or to the end.
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
		if _, ok := p.takeAround(); ok || p.takeOr() || p.takeWord("AND") {
			continue
		}
		parts = append(parts, p.or())
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

// unary reads a word, phrase, operator with its object, or group, with a minus before it or
// without. Nil where nothing of the kind is there.
func (p *parser) unary() *Node {
	if !p.skipSpaces() || p.text[p.at] == ')' {
		return nil
	}
	p.takeAll()
	start := p.at
	if p.takeMinus() {
		p.takeAll()
		p.minus++
		n := negate(p.primary(p.in))
		p.minus--
		p.leave(start)
		return n
	}
	return p.primary(p.in)
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
	if f, ok := p.takeField(); ok {
		return p.primary(f)
	}
	if p.takePlus() {
		if p.text[p.at] == '"' {
			return p.quote(in)
		}
		return p.phrase(p.word(), in)
	}
	start := p.at
	word := p.word()
	if p.sort(word) {
		p.leave(start)
		return nil
	}
	if n := p.operator(word); n != nil {
		p.leave(start)
		return n
	}
	if rest := withoutWWW(withoutScheme(word)); rest != word {
		return p.phrase(rest, in)
	}
	if p.minus > 0 {
		return p.newWords(word, p.cut(word), in, false)
	}
	n := p.leaf(word, in)
	if n != nil && n.Op == Words && len(n.Words) == 1 {
		from := start + strings.Index(word, n.Text)
		p.loose = append(room(p.loose), Loose{n.Words[0], from, from + len(n.Text)})
	}
	return n
}

// operator reads what asks for pages by something else than words. Nil where a word is none of these.
func (p *parser) operator(word string) *Node {
	if !strings.Contains(word, ":") && !strings.Contains(word, "..") {
		return nil
	}
	if n := p.site(word); n != nil {
		return n
	}
	if n := p.filter(word); n != nil {
		return n
	}
	return p.ref(word)
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

// A token is a word of a text.
type token struct {
	word     string // folded
	from, to int    // where it stands
}

// cut cuts a text into words, as many as the query may still have. They last until the next text is cut.
func (p *parser) cut(text string) []token {
	p.bytes, p.tokens = append(p.bytes[:0], text...), p.tokens[:0]
	p.tok.Each(p.bytes, func(word []byte, from, to int, _ bool) {
		if p.full() {
			return
		}
		folded := text[from:to]
		if folded != string(word) {
			folded = string(word)
		}
		p.tokens = append(room(p.tokens), token{folded, from, to})
		p.words++
	})
	return p.tokens
}

// room makes some, at first.
func room[T any](all []T) []T {
	if all == nil {
		all = make([]T, 0, 4)
	}
	return all
}

// phrase makes a node of the words in text, next to each other and in this very form; nil where there are
// none.
func (p *parser) phrase(text string, in Field) *Node { return p.newWords(text, p.cut(text), in, true) }

// newWords makes a node of tokens. The last of a run of characters, if it ends a phrase, is left out, as on a
// page the run may go on.
func (p *parser) newWords(text string, tokens []token, in Field, exact bool) *Node {
	if last := len(tokens) - 1; overlaps(tokens, last) {
		tokens = tokens[:last]
	}
	if len(tokens) == 0 {
		return nil
	}
	if len(p.nodes) == cap(p.nodes) {
		p.nodes = make([]Node, 0, max(4, 2*cap(p.nodes))) // the others stay where they are
	}
	p.nodes = append(p.nodes, Node{Op: Words, In: in, Times: 1, Text: text[tokens[0].from:tokens[len(tokens)-1].to]})
	n := &p.nodes[len(p.nodes)-1]
	n.Exact = exact || len(tokens) > 1 || !bare(n.Text)
	first := len(p.folds)
	for _, t := range tokens {
		p.folds = append(room(p.folds), t.word)
	}
	n.Words = p.folds[first:len(p.folds):len(p.folds)]
	n.At = places(text, tokens)
	return n
}

// places says where words stand in a phrase, nil where they stand next to each other: a * by itself is a word
// that is left open.
func places(text string, tokens []token) []uint32 {
	if len(tokens) == 1 {
		return nil
	}
	at, open := make([]uint32, len(tokens)), uint32(0)
	for i := 1; i < len(tokens); i++ {
		if from, to := tokens[i-1].to, tokens[i].from; from < to && strings.Contains(text[from:to], "*") {
			pieces := strings.Split(text[from:to], " ")
			for _, piece := range pieces[1:max(1, len(pieces)-1)] { // what touches a word is left out
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

// overlaps says whether a token begins within the one before it: then that one is a bigram.
func overlaps(tokens []token, i int) bool {
	return 0 < i && i < len(tokens) && tokens[i].from < tokens[i-1].to
}

// leaf makes a node of a text without spaces: bigrams are asked for one by one, what is between them as
// phrases.
func (p *parser) leaf(text string, in Field) *Node {
	tokens := p.cut(text)
	parts := make([]*Node, 0, fewParts)
	first := 0 // of the phrase
	for i := range tokens {
		bigram, second := overlaps(tokens, i+1), overlaps(tokens, i)
		if !bigram && !second && !words.Single(tokens[i].word) {
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

// full says, on asking for one more word, whether there were enough; then nothing more is read.
func (p *parser) full() bool {
	if p.words < MaxWords {
		return false
	}
	p.tooMany = true
	p.at = len(p.text)
	return true
}

// site reads "site:" with a host that can be looked up. Nil for anything else.
func (p *parser) site(word string) *Node {
	spec, ok := cutFold(word, "site:")
	if !ok {
		return nil
	}
	spec = strings.TrimPrefix(withoutScheme(spec), "*.")
	host, path, _ := strings.Cut(spec, "/")
	if path = strings.TrimRight(path, "/"); path != "" {
		path = "/" + path
	}
	spec = strings.ToLower(host) + path
	if _, _, ok := weburl.SiteKeys(spec); !ok || p.full() {
		return nil
	}
	p.words++
	return &Node{Op: Site, Site: spec}
}

// The scanner.

// skipSpaces says whether there is anything after them.
func (p *parser) skipSpaces() bool {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	return p.at < len(p.text)
}

func (p *parser) takeOr() bool {
	if p.skipSpaces() && p.text[p.at] == '|' {
		p.at++
		return true
	}
	return p.takeWord("OR")
}

// takeWord takes an operator that stands alone between spaces and parentheses.
func (p *parser) takeWord(op string) bool {
	if !p.atWord(op) {
		return false
	}
	p.at += len(op)
	return true
}

func (p *parser) atWord(op string) bool {
	if !p.skipSpaces() || !strings.HasPrefix(p.text[p.at:], op) || !p.atStart() {
		return false
	}
	end := p.at + len(op)
	return end == len(p.text) || strings.ContainsRune(" ()|", rune(p.text[end]))
}

// takeMinus takes a single minus with something after it. Of two or more, as in --help, none is
// an operator, nor is one that is part of an option.
func (p *parser) takeMinus() bool {
	if p.text[p.at] != '-' || !p.atStart() || p.at+1 == len(p.text) || strings.IndexByte(" )|-", p.text[p.at+1]) >= 0 || isOption(p.text[p.at+1:]) {
		return false
	}
	p.at++
	return true
}

// isOption says whether a minus and then text is an option of a command, as in "tar -x": one letter or digit, or a word with two
// more minuses or an = in it, as in "-opt-bisect-limit" and "-std=c++11". What has a colon may be an operator.
func isOption(text string) bool {
	word := text
	if end := strings.IndexAny(text, " ()|"); end >= 0 {
		word = text[:end]
	}
	if word == "" || strings.Contains(word, ":") {
		return false
	}
	c := word[0]
	return ('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9') && (len(word) == 1 || strings.Contains(word, "=") || strings.Count(word, "-") >= 2)
}

// takePlus takes a single plus directly before a word or phrase.
func (p *parser) takePlus() bool {
	if p.text[p.at] != '+' || !p.atStart() || p.at+1 == len(p.text) || strings.IndexByte(" ()|+-", p.text[p.at+1]) >= 0 {
		return false
	}
	p.at++
	return true
}

// atStart says whether what comes next begins anew, after a space or parenthesis, or as the object of an operator.
func (p *parser) atStart() bool {
	return p.at == p.object || strings.IndexByte(" ()|", p.text[p.at-1]) >= 0
}

// fieldOperators are intitle: and its kin, with another name that people know.
var fieldOperators = [...]struct {
	name string
	in   Field
}{{"intitle:", InTitle}, {"inurl:", InURL}, {"inanchor:", InAnchor}, {"intext:", InText}, {"inbody:", InText}, {"inalt:", InAlt}}

// takeField takes intitle: and its kin, if an object follows.
func (p *parser) takeField() (Field, bool) {
	for _, f := range fieldOperators {
		if rest, ok := cutFold(p.text[p.at:], f.name); ok && rest != "" && strings.IndexByte(" )|", rest[0]) < 0 {
			start := p.at
			p.at += len(f.name)
			p.object = p.at
			p.leave(start)
			return f.in, true
		}
	}
	return Anywhere, false
}

// takeAll takes allintitle: and its kin, which are about all that follows in the group.
func (p *parser) takeAll() {
	behind, ok := cutFold(p.text[p.at:], "all")
	if !ok {
		return
	}
	for _, f := range fieldOperators {
		rest, ok := cutFold(behind, f.name)
		if object := strings.TrimLeft(rest, " "); ok && object != "" && strings.IndexByte(")|", object[0]) < 0 {
			start := p.at
			p.at = len(p.text) - len(object)
			p.object, p.in = p.at, f.in
			p.leave(start)
			return
		}
	}
}

// word reads up to a space, quote, bar or parenthesis. Parentheses are part of the object of site: and of
// what else takes a URL, where they come in pairs.
func (p *parser) word() string {
	start := p.at
	takesURL := p.takesURL()
	var open []int // where parentheses stand that are not closed
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '(' && takesURL:
			open = append(open, p.at)
			continue
		case c == ')' && len(open) > 0:
			open = open[:len(open)-1]
			continue
		case strings.IndexByte(" |()", c) < 0 && (c != '"' || p.hebrewQuote()):
			continue
		}
		break
	}
	if len(open) > 0 {
		p.at = open[0]
	}
	return p.text[start:p.at]
}

// takesURL says whether an operator comes whose object is a URL, or a part of one.
func (p *parser) takesURL() bool {
	for _, name := range [...]string{"site:", LinkTo.String(), Related.String(), Info.String(), Cache.String()} {
		if _, ok := cutFold(p.text[p.at:], name); ok {
			return true
		}
	}
	return false
}

// quoted reads the phrase that begins at a quote.
func (p *parser) quoted() string {
	p.at++
	start := p.at
	for p.at < len(p.text) && (p.text[p.at] != '"' || p.hebrewQuote()) {
		p.at++
	}
	text := p.text[start:p.at]
	if p.at < len(p.text) {
		p.at++
	}
	return text
}

// hebrewQuote says whether the quote at hand stands within a Hebrew abbreviation (UAX #29 WB7b).
func (p *parser) hebrewQuote() bool {
	before, _ := utf8.DecodeLastRuneInString(p.text[:p.at])
	after, _ := utf8.DecodeRuneInString(p.text[p.at+1:])
	return unicode.Is(unicode.Hebrew, before) && unicode.Is(unicode.Hebrew, after)
}

// withoutScheme makes a pasted URL what the index knows of it: host and path.
func withoutScheme(word string) string {
	for _, scheme := range [...]string{"https://", "http://"} {
		if rest, ok := cutFold(word, scheme); ok {
			return rest
		}
	}
	return word
}

// withoutWWW leaves out what some hosts have before their names, so that a host is found by its name with it and without.
func withoutWWW(host string) string {
	if rest, ok := cutFold(host, "www."); ok && strings.Contains(rest, ".") {
		return rest
	}
	return host
}

// cutFold cuts a prefix off that begins with a letter of ASCII, whatever its case.
func cutFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || s[0]|0x20 != prefix[0]|0x20 || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
