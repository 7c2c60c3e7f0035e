package indexer

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"anatomy/vocab"
)

// Navigation is told from what a page is about, as a menu that stands on each page of a site says nothing about any of
// them. A block is a menu's where it stands in an element that says so, or in a run of blocks that are links and little
// else: link density is what tells most (KFN10). Headings are never a menu's,
// and links within a page lead to what the page is about. Its words are hits of type [vocab.Menu].
const (
	menuLinks = 3 // links that a run has at least
	menuGap   = 2 // words of a block between links that belongs to them
)

// A textBlock is what menus are found by.
type textBlock struct {
	hits    int // where its occurrences end
	text    int // where its text ends
	words   int
	linked  int // of them in links
	links   int
	heading bool
	within  bool // an element of navigation
}

// dense says whether a block is links and little else.
func (b *textBlock) dense() bool { return b.linked > 0 && 3*b.linked >= 2*b.words && !b.heading }

// gap says whether a block may stand between links.
func (b *textBlock) gap() bool { return b.words <= menuGap && !b.heading }

// endMenuBlock takes note of a block whose words were taken.
func (p *parser) endMenuBlock(words int) {
	b := &p.block
	b.hits, b.text, b.words, b.within = len(p.hits), len(p.text), words, p.nav.on()
	b.links, p.linksBefore = len(p.links)-p.linksBefore, len(p.links)
	p.blocks = append(p.blocks, *b)
	p.block = textBlock{}
}

// findMenus gives the words of menus their type, and takes them off the length of the text.
func (p *parser) findMenus() {
	for i := 0; i < len(p.blocks); {
		to, links := p.run(i)
		if links >= menuLinks {
			for ; i < to; i++ {
				p.blocks[i].within = true
			}
		}
		i = max(to, i+1)
	}
	from := 0
	for i := range p.blocks {
		b := &p.blocks[i]
		b.within = b.within && !b.heading
		if b.within {
			p.wordCount -= uint32(b.words)
			for k := from; k < b.hits; k++ {
				h := p.hits[k].hit
				p.hits[k].hit = vocab.MakeHit(h.Position(), vocab.Menu, h.Capital(), h.Size())
			}
		}
		from = b.hits
	}
}

// run is where the run of links from block i on ends, i if there is none, and how many links it has.
func (p *parser) run(i int) (to, links int) {
	to = i
	for k := i; k < len(p.blocks); k++ {
		b := &p.blocks[k]
		switch {
		case b.dense():
			links += b.links
			to = k + 1
		case to < k || to == i || !b.gap():
			return to, links
		}
	}
	return to, links
}

// markedText is the text that is kept, with a tab before each block of a menu.
func (p *parser) markedText() string {
	marks := 0
	for i := range p.blocks {
		if p.blocks[i].within {
			marks++
		}
	}
	text := p.text[:p.textEnd]
	if marks == 0 {
		return string(text)
	}
	var marked strings.Builder
	marked.Grow(len(text) + marks)
	from := 0
	for i := range p.blocks {
		to := min(p.blocks[i].text, len(text))
		if from >= to {
			break
		}
		if p.blocks[i].within {
			marked.WriteByte('\t')
		}
		marked.Write(text[from:to])
		from = to
	}
	marked.Write(text[from:])
	return marked.String()
}

// A nav is the open element of navigation, whose end is found by counting elements of its name.
type nav struct {
	tag   atom.Atom
	depth int
}

func (n *nav) on() bool { return n.tag != 0 }

// start takes a start tag. What can only be the page's own ends an element that was left open.
func (n *nav) start(tag atom.Atom, tags *tokenizer) {
	switch {
	case tag == 0:
	case tag == n.tag:
		n.depth++
	case tag == atom.Main || tag == atom.Article || tag == atom.H1:
		n.tag = 0
	case n.tag == 0 && tags.navigates():
		n.tag, n.depth = tag, 0
	}
}

func (n *nav) end(tag atom.Atom) {
	switch {
	case tag == 0 || tag != n.tag:
	case n.depth == 0:
		n.tag = 0
	default:
		n.depth--
	}
}

// navigates says whether the current tag begins navigation: by its name, its role, or a class or id that
// generators of documentation give it.
func (z *tokenizer) navigates() bool {
	switch z.tag {
	case atom.Nav, atom.Footer:
		return true
	case atom.Div, atom.Section, atom.Aside, atom.Header, atom.Table, atom.Ul, atom.Ol:
	default:
		return false
	}
	for _, a := range z.attrs {
		key := z.page[a.key[0]:a.key[1]]
		if !equalLower(key, "class") && !equalLower(key, "id") && !equalLower(key, "role") {
			continue
		}
		for name := range bytes.FieldsSeq(z.page[a.val[0]:a.val[1]]) {
			if slices.ContainsFunc(menuNames[:], func(menu string) bool { return equalLower(name, menu) }) {
				return true
			}
		}
	}
	return false
}

// menuNames are in lower case.
var menuNames = [...]string{
	"nav", "navbar", "navigation", "navheader", "navfooter", "nav-path", "navpath", "menu", "menubar", "sidebar", "footer", "contentinfo", "breadcrumb", "breadcrumbs",
}
