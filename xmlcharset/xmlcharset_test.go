package xmlcharset

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestMaxToken: a long tag, comment or text is an error before it is in memory; many short ones are none.
func TestMaxToken(t *testing.T) {
	read := func(text string) (tokens int, err error) {
		d := NewDecoder(strings.NewReader(text))
		for {
			if _, err := d.RawToken(); err != nil {
				return tokens, err
			}
			tokens++
		}
	}
	long := strings.Repeat("a=''", 2*MaxToken)
	for name, text := range map[string]string{
		"a tag": "<a><b " + long + ">", "a comment": "<a><!--" + long + "-->", "a text": "<a>" + long, "CDATA": "<a><![CDATA[" + long + "]]>",
		"a declaration": "<a><?b " + long + "?>", "a directive": "<a><!B " + long + ">",
	} {
		var syntax *xml.SyntaxError
		if n, err := read(text); n > 2 || err == nil || err == io.EOF || errors.As(err, &syntax) {
			t.Errorf("%s: %d tokens, %v", name, n, err)
		}
	}
	many := "<a b='c'>text</a>"
	if n, err := read(strings.Repeat(many, 3*MaxToken/len(many))); err != io.EOF || n != 3*(3*MaxToken/len(many)) {
		t.Errorf("%d tokens, %v", n, err)
	}
}
