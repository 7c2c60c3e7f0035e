package structure

import (
	"mime"
	"strings"

	"golang.org/x/net/html/atom"

	"anatomy/indexer/internal/decode"
	"anatomy/indexer/internal/htmltoken"
)

// A Text is a block of text between two tags of blocks.
type Text struct {
	Tag  atom.Atom // that begins the block; 0 for one that an end tag precedes
	Text string    // in one line, in UTF-8
}

// maxTexts bounds the blocks of a page.
const maxTexts = 100_000

// Texts returns the blocks of text of a page of HTML, without those of programs.
func Texts(body []byte, contentType string) ([]Text, error) {
	_, params, _ := mime.ParseMediaType(contentType)
	body, err := decode.UTF8(body, contentType, params["charset"])
	if err != nil {
		return nil, err
	}
	t := textReader{}
	t.tokens.Reset(body)
	for kind := t.tokens.Next(); kind != htmltoken.End && len(t.texts) < maxTexts; kind = t.tokens.Next() {
		switch kind {
		case htmltoken.Text:
			if t.hidden == 0 && t.code == 0 {
				t.text.Write(t.tokens.Content())
			}
		case htmltoken.Start, htmltoken.EmptyTag:
			t.start(t.tokens.Tag, kind == htmltoken.Start)
		case htmltoken.EndTag:
			t.end(t.tokens.Tag)
		}
	}
	t.endBlock(0)
	return t.texts, nil
}

type textReader struct {
	tokens htmltoken.Tokenizer
	texts  []Text
	tag    atom.Atom // of the block
	text   strings.Builder
	hidden atom.Atom // the script or style element that is open
	code   int       // pre elements that are open
}

func (t *textReader) start(tag atom.Atom, open bool) {
	switch {
	case (tag == atom.Script || tag == atom.Style) && open:
		t.hidden = tag
	case tag == atom.Pre && open:
		t.code++
		t.text.WriteByte(' ')
	case isBlock(tag):
		t.endBlock(tag)
	case !isInline(tag):
		t.text.WriteByte(' ')
	}
}

func (t *textReader) end(tag atom.Atom) {
	switch {
	case tag == t.hidden:
		t.hidden = 0
	case tag == atom.Pre:
		t.code = max(t.code-1, 0)
	case isBlock(tag):
		t.endBlock(tag)
	case !isInline(tag):
		t.text.WriteByte(' ')
	}
}

// endBlock ends a block at a tag.
func (t *textReader) endBlock(tag atom.Atom) {
	if words := strings.Fields(t.text.String()); len(words) > 0 {
		t.texts = append(t.texts, Text{t.tag, strings.ToValidUTF8(strings.Join(words, " "), "\uFFFD")})
	}
	t.text.Reset()
	t.tag = tag
}

// isInline reports whether words go on across a tag.
func isInline(tag atom.Atom) bool {
	switch tag {
	case atom.A, atom.Abbr, atom.Acronym, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code, atom.Data,
		atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd, atom.Mark, atom.Q, atom.S, atom.Samp,
		atom.Small, atom.Span, atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return false
}
