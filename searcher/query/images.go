package query

import "strings"

// CutImages takes type:image out of a text, and says whether it was there: then images are asked for, of
// the pages that the rest asks for. Within quotes it is words like any others.
func CutImages(text string) (rest string, images bool) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); {
		if n := typeImage(text[i:]); n > 0 && !quoted && (i == 0 || strings.IndexByte(" \t\n()|", text[i-1]) >= 0) {
			images = true
			i += n
			continue
		}
		quoted = quoted != (text[i] == '"')
		b.WriteByte(text[i])
		i++
	}
	if !images {
		return text, false
	}
	return strings.TrimSpace(b.String()), true
}

// InImages asks of the pages that n asks for those which have one of its words in what stands for an image;
// nil where it wants no words.
func (n *Node) InImages() *Node {
	var any []*Node
	for _, leaf := range n.Wanted() {
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

// typeImage is the length of type:image or type:images at the beginning of a text, 0 where neither is.
func typeImage(text string) int {
	rest, ok := cutFold(text, "type:image")
	if !ok {
		return 0
	}
	if plural, ok := cutFold(rest, "s"); ok {
		rest = plural
	}
	if rest != "" && strings.IndexByte(" \t\n()|", rest[0]) < 0 {
		return 0
	}
	return len(text) - len(rest)
}
