package query

import (
	"strconv"
	"strings"
)

// MaxWithin is the most words that may stand between the words of a Near node; a larger number means it.
const MaxWithin = 1000

// The bounds of what is made of an AROUND between groups, which asks for each of one with each of the other.
const (
	maxPairWords = 16
	maxPairText  = 1 << 10 // bytes
)

// writeNear writes phrases of one of the user's words each as one, two of any kind with AROUND between them.
func (n *Node) writeNear(b *strings.Builder) {
	if n.spaced() {
		n.Kids[0].write(b)
		b.WriteString(" AROUND(" + strconv.Itoa(n.Within) + ") ")
		n.Kids[1].write(b)
		return
	}
	b.WriteString(n.In.String() + `"`)
	for i, kid := range n.Kids {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(kid.Text)
	}
	b.WriteString(`"~` + strconv.Itoa(n.Within))
}

// spaced says whether a phrase of a Near node is written with spaces.
func (n *Node) spaced() bool {
	return n.Op == Near && (strings.Contains(n.Kids[0].Text, " ") || strings.Contains(n.Kids[1].Text, " "))
}

// quote reads a phrase, or one with ~n behind it: its words near each other.
func (p *parser) quote(in Field) *Node {
	text := p.quoted()
	within, ok := p.takeTilde()
	if !ok {
		return p.phrase(text, in)
	}
	var kids []*Node
	for piece := range strings.FieldsSeq(text) {
		if n := p.phrase(piece, in); n != nil {
			kids = appendNew(kids, n)
		}
	}
	return newNear(kids, within)
}

// newNear asks for phrases of one field near each other; it is the only one where there is one.
func newNear(phrases []*Node, within int) *Node {
	switch len(phrases) {
	case 0:
		return nil
	case 1:
		return phrases[0]
	}
	return &Node{Op: Near, In: phrases[0].In, Kids: phrases, Within: within}
}

// near reads what AROUND(n) may join.
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
		pairs = append(pairs, p.pair(left, right, within))
		left = right
	}
}

// pair asks for each of one side near each of the other. What is no word or phrase, or of another field, is
// asked for by itself.
func (p *parser) pair(left, right *Node, within int) *Node {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	}
	n, words, size := pairs(left, right, within)
	if n == nil || words > maxPairWords || size > maxPairText {
		return join(And, []*Node{left, right})
	}
	p.words += words
	if p.words > MaxWords {
		p.full()
		return join(And, []*Node{left, right})
	}
	return n
}

// pairs gives nil where a side is of another kind; words and size are how much is asked for.
func pairs(left, right *Node, within int) (n *Node, words, size int) {
	group, others, turned := left, right, false
	if left.Op == Words {
		group, others, turned = right, left, true
	}
	if group.Op == Words {
		if left.In != right.In {
			return nil, 0, 0
		}
		return newNear(appendNew(nil, left.exactly(), right.exactly()), within), len(left.Words) + len(right.Words), len(left.Text) + len(right.Text)
	}
	if group.Op != And && group.Op != Or {
		return nil, 0, 0
	}
	var parts []*Node
	for _, kid := range group.Kids {
		a, b := kid, others
		if turned {
			a, b = others, kid
		}
		part, w, s := pairs(a, b, within)
		if words, size = words+w, size+s; part == nil || words > maxPairWords {
			return nil, 0, 0
		}
		parts = append(parts, part)
	}
	return join(group.Op, parts), words, size
}

// exactly is a Words node as it stands in quotes.
func (n *Node) exactly() *Node {
	m := *n
	m.Exact = true
	return &m
}

// takeAround takes AROUND(n).
func (p *parser) takeAround() (within int, ok bool) {
	if !p.skipSpaces() || !strings.HasPrefix(p.text[p.at:], "AROUND(") || !p.atStart() {
		return 0, false
	}
	from := p.at + len("AROUND(")
	within, end := number(p.text, from)
	if end == from || end == len(p.text) || p.text[end] != ')' {
		return 0, false
	}
	p.at = end + 1
	return within, true
}

// takeTilde takes ~n directly behind a quote.
func (p *parser) takeTilde() (within int, ok bool) {
	if p.at == len(p.text) || p.text[p.at] != '~' {
		return 0, false
	}
	within, end := number(p.text, p.at+1)
	if end == p.at+1 || end < len(p.text) && strings.IndexByte(" ()|", p.text[end]) < 0 {
		return 0, false
	}
	p.at = end
	return within, true
}

// number reads digits, MaxWithin at most.
func number(text string, from int) (n, end int) {
	for end = from; end < len(text) && '0' <= text[end] && text[end] <= '9'; end++ {
		n = min(10*n+int(text[end]-'0'), MaxWithin)
	}
	return n, end
}
