package datatext

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"anatomy/indexer/internal/jsontoken"
)

const (
	maxDepth  = 60
	maxFields = 1000 // of an object that are one paragraph
	maxNames  = 3    // of objects, of which the title is made if the root has none
	maxMarkup = 500  // bytes of a tag after its first letter, or within a comment
)

// Fields of the root that describe the whole, and what names an object, in lower case.
var (
	nameFields        = []string{"title", "name", "headline", "label", "displayname", "dc:title", "schema:name"}
	descriptionFields = []string{"description", "summary", "abstract", "subtitle"}
	keywordFields     = []string{"keywords", "tags"}
	languageFields    = []string{"language", "lang", "inlanguage"}
	createdFields     = []string{"datepublished", "published", "created", "created_at", "issued", "date"}
	modifiedFields    = []string{"datemodified", "modified", "updated", "updated_at", "last_modified"}
)

// JSON converts UTF-8 text. Each object is a paragraph of its fields, with its name as a heading if it
// is an element of an array. Null, true and false are left out, and so are strings that nobody reads.
// The title is the name of the root, or the names of the first objects.
func JSON(body []byte) ([]byte, error) {
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	d := json.NewDecoder(bytes.NewReader(body[:min(len(body), maxRead)]))
	d.UseNumber()
	r := &jsonReader{page: &page{}, d: d, seen: map[string]bool{}}
	root := &object{}
	if token, err := d.Token(); err == nil {
		r.value(token, 0, "", root, false) // what was read before a fault is kept
	}
	r.flush(root)
	r.title = cmp.Or(r.title, strings.Join(r.names, ", "))
	return r.html()
}

// A jsonReader reads JSON token by token.
type jsonReader struct {
	*page
	d     *json.Decoder
	names []string        // of the first objects
	seen  map[string]bool // keys that were written, at most maxFields: each is written once
	items int             // headings
}

// An object has the fields that were read and not written. One without a name of its own is around
// the root, for arrays and scalars.
type object struct {
	root    bool
	element bool // of an array
	named   bool // its name was found
	fields  []field
}

type field struct{ key, text string }

// value reads the value that begins with a token, the value of a key of o, or an element of an array
// there. It returns false when nothing more can be read or written.
func (r *jsonReader) value(token json.Token, depth int, key string, o *object, element bool) bool {
	switch t := token.(type) {
	case json.Delim:
		switch {
		case depth >= maxDepth:
			return jsontoken.Skip(r.d)
		case t == '[':
			return r.array(depth, key, o)
		}
		r.flush(o)
		return r.object(depth, &object{root: depth == 0, element: element})
	case json.Number:
		r.add(o, key, t.String())
	case string:
		r.add(o, key, t)
	}
	return !r.full()
}

// object reads the rest of an object.
func (r *jsonReader) object(depth int, o *object) bool {
	defer r.flush(o)
	for r.d.More() {
		key, err := r.d.Token()
		if err != nil {
			return false
		}
		token, err := r.d.Token()
		if err != nil || !r.value(token, depth+1, fmt.Sprint(key), o, false) {
			return false
		}
	}
	_, err := r.d.Token()
	return err == nil
}

// array reads the rest of an array, the value of a key of o.
func (r *jsonReader) array(depth int, key string, o *object) bool {
	for r.d.More() {
		token, err := r.d.Token()
		if err != nil || !r.value(token, depth+1, key, o, true) {
			return false
		}
	}
	_, err := r.d.Token()
	return err == nil
}

// add adds a scalar to o. Elements of an array are one field.
func (r *jsonReader) add(o *object, key, text string) {
	var last *field
	if n := len(o.fields); n > 0 && o.fields[n-1].key == key {
		if last = &o.fields[n-1]; len(last.text) >= maxCell {
			return
		}
	}
	text = fold(withoutMarkup(cut(text, maxCell)))
	switch {
	case text == "" || isCode(text):
		return
	case last != nil:
		last.text += ", " + text
		return
	case len(o.fields) == maxFields:
		r.flush(o)
	}
	o.fields = append(o.fields, field{key, text})
}

// withoutMarkup replaces the tags and comments of HTML within a string by spaces. Its time is linear in
// the length of s.
func withoutMarkup(s string) string {
	var b strings.Builder
	done, commentEnd := 0, 0 // commentEnd is where the next "-->" is, or len(s)
	for i := 0; i < len(s); i++ {
		skip := strings.IndexByte(s[i:], '<')
		if skip < 0 {
			break
		}
		i += skip
		end := tagEnd(s, i)
		if start := i + len("<!--"); strings.HasPrefix(s[i:], "<!--") {
			if commentEnd < start {
				commentEnd = len(s)
				if n := strings.Index(s[start:], "-->"); n >= 0 {
					commentEnd = start + n
				}
			}
			if commentEnd < len(s) && commentEnd-start <= maxMarkup {
				end = commentEnd + len("-->")
			}
		}
		if end > 0 {
			b.WriteString(s[done:i] + " ")
			done, i = end, end-1
		}
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

// tagEnd returns the index after the tag that begins at start, 0 if there is no tag.
func tagEnd(s string, start int) int {
	name := start + 1
	if strings.HasPrefix(s[name:], "/") {
		name++
	}
	if name >= len(s) || s[name]|0x20 < 'a' || s[name]|0x20 > 'z' {
		return 0
	}
	n := strings.IndexAny(s[name+1:], "<>")
	if n < 0 || n > maxMarkup || s[name+1+n] == '<' {
		return 0
	}
	return name + 1 + n + 1
}

// isCode reports whether a string is a long token, such as a picture in Base64.
func isCode(s string) bool {
	const long = 200 // bytes; scripts without spaces are not ASCII
	return len(s) > long && !strings.ContainsFunc(s, func(c rune) bool { return c == ' ' || c >= 0x80 })
}

// flush writes the fields of o that were read.
func (r *jsonReader) flush(o *object) {
	if o.root {
		r.describe(o)
	}
	if name := o.first(nameFields); name != "" && !o.named {
		o.named = true
		if len(r.names) < maxNames && len(name) <= maxTitle {
			r.names = append(r.names, name)
		}
		if o.element && len(name) <= maxTitle && !r.full() {
			r.items++
			r.tag(fmt.Sprintf("<h2 id=\"item-%d\">", r.items))
			r.text(name)
			r.tag("</h2>\n")
		}
	}
	between := "<p>"
	for _, f := range o.fields {
		if r.full() {
			break
		}
		r.tag(between)
		between = "<br>\n"
		if f.key != "" && !r.seen[f.key] {
			if len(r.seen) < maxFields {
				r.seen[f.key] = true
			}
			r.name(f.key + ": ")
		}
		r.text(f.text)
	}
	if between != "<p>" {
		r.tag("</p>\n")
	}
	o.fields = o.fields[:0]
}

// describe sets the description, keywords, dates and language of the page from the fields of the root.
func (r *jsonReader) describe(o *object) {
	for _, about := range [...]struct {
		to     *string
		fields []string
	}{
		{&r.title, nameFields}, {&r.description, descriptionFields}, {&r.keywords, keywordFields},
		{&r.language, languageFields}, {&r.created, createdFields}, {&r.modified, modifiedFields},
	} {
		*about.to = cmp.Or(*about.to, o.first(about.fields))
	}
}

// first returns the text of the first of some keys that o has, "" for none.
func (o *object) first(keys []string) string {
	for _, key := range keys {
		for _, f := range o.fields {
			if strings.EqualFold(f.key, key) {
				return f.text
			}
		}
	}
	return ""
}
