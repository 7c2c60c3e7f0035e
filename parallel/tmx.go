package parallel

import (
	"bufio"
	"encoding/xml"
	"io"
)

// A TMX writes segments as a translation memory (TMX 1.4b), one unit per segment. The file is
// complete after Close.
type TMX struct{ out *bufio.Writer }

// NewTMX begins a translation memory. sentences is whether segments are sentences.
func NewTMX(w io.Writer, version string, sentences bool) *TMX {
	t := &TMX{bufio.NewWriter(w)}
	kind := "block"
	if sentences {
		kind = "sentence"
	}
	t.texts(xml.Header+`<tmx version="1.4">`+"\n"+`<header creationtool="anatomy" creationtoolversion="`, version,
		`" segtype="`+kind+`" o-tmf="HTML" adminlang="en" srclang="*all*" datatype="PlainText"/>`+"\n<body>\n")
	return t
}

// texts writes markup and text in turn.
func (t *TMX) texts(markup ...string) {
	for i, s := range markup {
		if i%2 == 0 {
			t.out.WriteString(s)
		} else {
			xml.EscapeText(t.out, []byte(s))
		}
	}
}

// Write writes the segments of a pair of pages. It returns the first error of the writer.
func (t *TMX) Write(p Pair, segments []Segment) error {
	for _, s := range segments {
		t.out.WriteString("<tu>\n")
		t.version(p.LangA, p.A, s.A)
		t.version(p.LangB, p.B, s.B)
		t.out.WriteString("</tu>\n")
	}
	_, err := t.out.Write(nil)
	return err
}

func (t *TMX) version(lang, url, text string) {
	t.texts(`<tuv xml:lang="`, lang, `"><prop type="x-url">`, url, "</prop><seg>", text, "</seg></tuv>\n")
}

// Close writes the end. It returns the first error of the writer, which it does not close.
func (t *TMX) Close() error {
	t.out.WriteString("</body>\n</tmx>\n")
	return t.out.Flush()
}
