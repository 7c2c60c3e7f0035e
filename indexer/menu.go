package indexer

import (
	"bytes"
	"slices"
	"unsafe"

	"golang.org/x/net/html/atom"

	"anatomy/indexer/internal/htmltoken"
	"anatomy/vocab"
)

// Navigation is separated from content, since a menu that is on every page of a site describes none
// of them. A block is navigation if it is in an element that is marked as such, or in a run of blocks
// that are links and little else: link density is the best single feature (KFN10). Headings are never
// navigation, and neither are links within the page. Terms of navigation are hits of type
// [vocab.Menu].
const (
	menuLinks = 3 // minimum of links in a run
	menuGap   = 2 // maximum of words in a block between links of a run
)

// A textBlock holds the features of a block by which navigation is detected.
type textBlock struct {
	hits    int // hits[:hits] are those up to the end of the block
	text    int // text[:text] is the text up to the end of the block
	terms   int
	linked  int // terms in links
	inner   int // terms in links within the page
	links   int
	heading bool
	menu    bool              // navigation
	toc     bool              // of a table of contents
	sign    bool              // of the heading after it
	layout  byte              // as in [blockContext]
	mark    vocab.SectionMark // as in [blockContext]
}

// dense reports whether a block consists almost only of links.
func (b *textBlock) dense() bool { return b.linked > 0 && 3*b.linked >= 2*b.terms && !b.heading }

// gap reports whether a block may be between links of a run.
func (b *textBlock) gap() bool { return b.terms <= menuGap && !b.heading }

// contents reports whether a block consists almost only of links within the page. A block that
// begins a section is a target of such links, not a list of them.
func (b *textBlock) contents() bool {
	return b.inner > 0 && 3*b.inner >= 2*b.terms && !b.heading && b.mark.Level == 0
}

// markMenus detects the blocks of navigation, changes the type of their hits, and returns the
// number of their terms.
func markMenus(blocks []textBlock, hits []occurrence) (terms uint32) {
	for i := 0; i < len(blocks); {
		n, links := linkRun(blocks[i:])
		if links >= menuLinks {
			for k := range n {
				blocks[i+k].menu = true
			}
		}
		i += max(n, 1)
	}
	from := 0
	for i := range blocks {
		b := &blocks[i]
		b.menu = b.menu && !b.heading
		if b.menu {
			terms += uint32(b.terms)
			for k := from; k < b.hits; k++ {
				h := hits[k].hit
				hits[k].hit = vocab.MakeHit(h.Position(), vocab.Menu, false, h.Size())
			}
		}
		from = b.hits
	}
	return terms
}

// linkRun returns the number of blocks and of links in the run of links that blocks begin with.
func linkRun(blocks []textBlock) (n, links int) {
	for k := range blocks {
		b := &blocks[k]
		switch {
		case b.dense():
			links += b.links
			n = k + 1
		case n < k || n == 0 || !b.gap():
			return n, links
		}
	}
	return n, links
}

// markContents finds the blocks of tables of contents: runs of links within the page. Snippets omit
// them. Their hits are unchanged, because the words are from the page's own headings.
func markContents(blocks []textBlock) {
	for i := 0; i < len(blocks); {
		n := i
		for n < len(blocks) && blocks[n].contents() {
			n++
		}
		if n-i >= menuLinks {
			for k := i; k < n; k++ {
				blocks[k].toc = true
			}
		}
		i = max(n, i+1)
	}
}

// markSigns marks the blocks with links that begin at offset from or after it as signs of the heading after
// them. Snippets omit them.
func markSigns(blocks []textBlock, from int) {
	for i := len(blocks) - 1; i >= 0 && from >= 0; i-- {
		start := 0
		if i > 0 {
			start = blocks[i-1].text
		}
		if start < from {
			return
		}
		blocks[i].sign = blocks[i].linked > 0
	}
}

// markedText returns text with the marks of navigation and sections before its blocks, see
// [vocab.DocInfo], and without signs of headings. Blocks may extend past its end, or have no text that is shown.
func markedText(text []byte, blocks []textBlock) string {
	marks, signs := 0, false
	for i := range blocks {
		switch b := &blocks[i]; {
		case b.sign:
			signs = true
		case b.menu || b.toc:
			marks++
		case b.mark.Level > 0:
			marks += len(b.mark.ID) + len("\f0\f")
		case b.layout != 0:
			marks++
		}
	}
	if marks == 0 && !signs {
		return string(text)
	}
	marked := make([]byte, 0, len(text)+marks)
	from := 0
	for i := range blocks {
		b := &blocks[i]
		to := min(b.text, len(text))
		if from >= to {
			continue
		}
		if b.sign {
			from = to
			continue
		}
		switch {
		case b.menu || b.toc:
			marked = append(marked, '\t')
		case b.mark.Level > 0:
			marked = b.mark.Append(marked)
		case b.layout != 0:
			marked = append(marked, b.layout)
		}
		marked = append(marked, text[from:to]...)
		from = to
	}
	marked = append(marked, text[from:]...)
	return unsafe.String(unsafe.SliceData(marked), len(marked)) // marked does not change any more
}

// A nav is the open element of navigation. Its end is found by counting elements of its name.
type nav struct {
	tag   atom.Atom // 0: none is open
	depth int
}

func (n *nav) open() bool { return n.tag != 0 }

// start handles a start tag. An element that only the page's own content has ends navigation that
// was left open.
func (n *nav) start(tags *htmltoken.Tokenizer) {
	switch tag := tags.Tag; {
	case tag == 0:
	case tag == n.tag:
		n.depth++
	case tag == atom.Main || tag == atom.Article || tag == atom.H1:
		n.tag = 0
	case n.tag == 0 && navigates(tags):
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

// navigates reports whether the current tag begins navigation: by its name, its role, or a class or
// id of documentation generators.
func navigates(tags *htmltoken.Tokenizer) bool {
	switch tags.Tag {
	case atom.Nav, atom.Footer:
		return true
	case atom.Div, atom.Section, atom.Aside, atom.Header, atom.Table, atom.Ul, atom.Ol:
	default:
		return false
	}
	for i := range tags.Attrs() {
		key, val := tags.RawAttr(i)
		if !slices.ContainsFunc(menuAttributes[:], func(name string) bool { return htmltoken.EqualLower(key, name) }) {
			continue
		}
		for name := range bytes.FieldsSeq(val) {
			if slices.ContainsFunc(menuNames[:], func(menu string) bool { return htmltoken.EqualLower(name, menu) }) {
				return true
			}
		}
	}
	return false
}

var menuAttributes = [...]string{"class", "id", "role"}

// menuNames are in lower case.
var menuNames = [...]string{
	"nav", "navbar", "navigation", "navheader", "navfooter", "nav-path", "navpath", "menu", "menubar",
	"sidebar", "footer", "contentinfo", "breadcrumb", "breadcrumbs",
}
