package officetext

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"anatomy/xmlcharset"
)

// The bounds of the XML files of a document, each for itself.
const (
	maxDepth  = 256
	maxTokens = 3_000_000
)

// An action is what an element does to the text, a set of bits.
type action uint8

const (
	block action = 1 << iota // begins and ends a block of text
	text                     // its characters are text, and those of elements in it
	space                    // separates words
	skip                     // it is left out with its content
	table
	row
	cell
	void // has no end tag
)

// A rule is what an element means. Its action comes before start, and end before the end of its action.
type rule struct {
	do    action
	start func(w *walker, e element)
	end   func(w *walker)
}

// rules are the rules of a format, by the local names of elements: prefixes differ between programs.
// Where two elements of a name mean different things, start looks at the prefix.
type rules map[string]rule

// An element is a start tag.
type element struct{ xml.StartElement }

// attr returns the value of the attribute with a local name, or "". One with a prefix counts first:
// elements have id and r:id.
func (e element) attr(name string) (value string) {
	for _, a := range e.Attr {
		if a.Name.Local == name && (value == "" || a.Name.Space != "") {
			value = a.Value
		}
	}
	return value
}

// A walker reads an XML file.
type walker struct {
	*page
	rules   rules
	depth   int
	skipped int                 // depth of the element that is left out, 0 if none is
	texts   int                 // open elements of text
	decode  func([]byte) []byte // of text, unless it is nil
}

// skip leaves out the content of the open element.
func (w *walker) skip() { w.skipped = w.depth }

// walk reads the XML file of a name by rules, which write to p. It ends early where a bound is reached.
func (a *archive) walk(name string, rules rules, p *page) error {
	r, err := a.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	if p == nil {
		p = new(page)
	}
	w := &walker{page: p, rules: rules}
	if err := w.read(r); err != nil {
		return fmt.Errorf("file %.100q: %w", name, err)
	}
	return nil
}

func (w *walker) read(r io.Reader) error {
	dec := xmlcharset.NewDecoder(r)
	dec.Entity = xml.HTMLEntity
	for range maxTokens {
		if w.full() {
			return nil
		}
		token, err := dec.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if !w.void(t.Name) {
				w.depth++
			}
			if w.depth > maxDepth {
				return fmt.Errorf("XML deeper than %d elements", maxDepth)
			}
			w.start(element{t})
		case xml.EndElement:
			if !w.void(t.Name) {
				w.end(t.Name.Local)
			}
		case xml.CharData:
			if w.texts > 0 && w.skipped == 0 {
				w.text(t)
			}
		}
	}
	return nil
}

// void reports whether an element has no end tag. If the file has one, it is ignored.
func (w *walker) void(name xml.Name) bool { return w.rules[name.Local].do&void != 0 }

// text writes characters.
func (w *walker) text(s []byte) {
	if w.decode != nil {
		s = w.decode(s)
	}
	w.write(s)
}

func (w *walker) start(e element) {
	r, ok := w.rules[e.Name.Local]
	if !ok || w.skipped > 0 {
		return
	}
	w.begin(r.do)
	if r.do&text != 0 {
		w.texts++
	}
	if r.do&skip != 0 {
		w.skip()
	}
	if r.start != nil {
		r.start(w, e)
	}
}

func (w *walker) end(name string) {
	within := w.skipped > 0 && w.depth > w.skipped
	if w.depth <= w.skipped {
		w.skipped = 0
	}
	w.depth = max(w.depth-1, 0)
	r, ok := w.rules[name]
	if !ok || within {
		return
	}
	if r.end != nil {
		r.end(w)
	}
	if r.do&text != 0 {
		w.texts = max(w.texts-1, 0)
	}
	w.finish(r.do)
}

// field is the rule of an element of metadata: to gets its text, unless it has one.
func field(to *string) rule {
	return rule{
		do:    text,
		start: func(w *walker, _ element) { w.capture = []byte{} },
		end: func(w *walker) {
			if *to == "" {
				*to = fold(w.capture)
			}
			w.capture = nil
		},
	}
}
