package query

import (
	"slices"
	"strings"
	"unicode"

	"anatomy/vocab"
)

// Rewriting a query returns a new tree that shares unchanged nodes with the old one.

// WithForms returns the tree with the forms that a function returns for terms. isExcluded reports
// whether the term is under a Not.
func (n *Node) WithForms(forms func(n *Node, isExcluded bool) []string) *Node {
	return n.withForms(forms, false)
}

func (n *Node) withForms(forms func(*Node, bool) []string, isExcluded bool) *Node {
	switch n.Op {
	case Near: // forms do not match where positions count
		return n
	case Words:
		found := forms(n, isExcluded)
		if len(found) == 0 {
			return n
		}
		changed := *n
		changed.Forms = found
		return &changed
	}
	return n.withKids(func(kid *Node) *Node { return kid.withForms(forms, isExcluded || n.Op == Not) })
}

// WithoutForms returns the tree without the forms of its terms, except of excluded ones.
func (n *Node) WithoutForms() *Node {
	switch {
	case n.Op == Not:
		return n
	case len(n.Forms) > 0:
		changed := *n
		changed.Forms = nil
		return &changed
	}
	return n.withKids((*Node).WithoutForms)
}

// withKids returns n with its kids rewritten, or n itself if none has changed.
func (n *Node) withKids(rewrite func(kid *Node) *Node) *Node {
	var kids []*Node
	for i, kid := range n.Kids {
		rewritten := rewrite(kid)
		if rewritten != kid && kids == nil {
			kids = slices.Clone(n.Kids)
		}
		if kids != nil {
			kids[i] = rewritten
		}
	}
	if kids == nil {
		return n
	}
	changed := *n
	changed.Kids = kids
	return &changed
}

// Without returns the tree without those of its required nodes that a function names, nil if nothing is
// left.
func (n *Node) Without(out func(*Node) bool) *Node {
	required := n.Required()
	if !slices.ContainsFunc(required, out) {
		return n
	}
	return join(And, slices.DeleteFunc(slices.Clone(required), out))
}

// Locate returns the tree with the documents that a function returns for references.
func (n *Node) Locate(docs func(Ref) []vocab.DocID) *Node {
	if n == nil || n.Op == Words {
		return n
	}
	if n.Op == Pages {
		changed := *n
		changed.Docs = docs(n.Ref)
		return &changed
	}
	return n.withKids(func(kid *Node) *Node { return kid.Locate(docs) })
}

// InImages restricts a query to pages with one of its words in the alternative text of an image. It
// returns nil if the query has no words.
func (n *Node) InImages() *Node {
	var any []*Node
	for _, leaf := range n.PositiveWords() {
		if leaf.In <= InText && leaf.In != InURL {
			leaf := *leaf
			leaf.In = InAlt
			any = append(any, &leaf)
		}
	}
	either := join(Or, any)
	if either == nil {
		return nil
	}
	return join(And, []*Node{n, either})
}

// Most relaxes a query: pages may lack all but one of its words, except words in quotes, after a
// plus or an operator. The words of a joint word such as HashMap::entry and Rc<RefCell<T>> need not
// be next to each other: a page about the class describes its method as "fn entry". It also returns
// the optional words, at least two; or nil.
func (n *Node) Most() (most *Node, words []*Node) {
	if n == nil || n.Op != And && !n.isSeparable() {
		return nil, nil
	}
	var others []*Node
	for _, kid := range n.Required() {
		switch {
		case kid.mayMiss():
			words = append(words, kid)
		case kid.isSeparable():
			for _, word := range kid.split() {
				if !slices.ContainsFunc(words, word.same) {
					words = append(words, word)
				}
			}
		default:
			others = append(others, kid)
		}
	}
	if len(words) < 2 {
		return nil, nil
	}
	most = &Node{Op: Or, Kids: words}
	if len(others) > 0 {
		most = &Node{Op: And, Kids: append(others, most)}
	}
	return most, words
}

// isSeparable reports whether n is a joint word whose words may be apart on a page: a name with signs
// between its words, and not a compound with hyphens or apostrophes, a version or a date.
func (n *Node) isSeparable() bool {
	if !n.Joint || n.In != Anywhere {
		return false
	}
	isSign := func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N) && !strings.ContainsRune("-'’‐‑", r)
	}
	hasLetter := func(word string) bool { return strings.ContainsFunc(word, unicode.IsLetter) }
	return strings.ContainsFunc(n.Text, isSign) && slices.ContainsFunc(n.Words, hasLetter) &&
		!hasVersion(n.Text)
}

// hasVersion reports whether a text has a number directly after a word and a dot, minus or slash.
func hasVersion(text string) bool {
	var before, sign rune
	for _, r := range text {
		isJoined := sign == '.' || sign == '-' || sign == '/'
		if unicode.IsDigit(r) && isJoined && (unicode.IsLetter(before) || unicode.IsDigit(before)) {
			return true
		}
		before, sign = sign, r
	}
	return false
}

// mayMiss reports whether n is an optional word, or alternative words.
func (n *Node) mayMiss() bool {
	if n.Op == Or {
		return !slices.ContainsFunc(n.Kids, func(kid *Node) bool { return kid.Op == Or || !kid.mayMiss() })
	}
	return n.Op == Words && n.In == Anywhere && !n.Exact
}
