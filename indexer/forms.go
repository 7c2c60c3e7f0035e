package indexer

import (
	"bytes"
	"net/url"

	"golang.org/x/net/html/atom"

	"anatomy/indexer/internal/htmltoken"
	"anatomy/vocab"
)

// Bounds of the forms of a page.
const (
	maxButtons    = 16   // of one form
	maxFormFields = 1024 // bytes of the hidden fields of one form
)

// A form is the open form element. A GET form without fields to fill in or choose from becomes a
// link for each of its buttons. No other form is followed: it has as many answers as inputs, and
// POST may change state.
type form struct {
	open    bool
	unfit   bool // it is sent by POST, or has something to fill in
	flags   vocab.LinkFlags
	action  []byte // nil if it names none
	fields  []byte // hidden ones, as in a query
	buttons []formButton
}

// A formButton sends a form.
type formButton struct {
	action []byte // of its own; nil for that of the form
	field  string // name=value as in a query, or ""
}

// start handles the start of a form element.
func (f *form) start(tags *htmltoken.Tokenizer) {
	*f = form{open: true, fields: f.fields[:0], buttons: f.buttons[:0]}
	if method, ok := tags.Attr("method"); ok {
		f.unfit = !isGet(method)
	}
	if rel, ok := tags.Attr("rel"); ok && forbidsFollowing(rel) {
		f.flags = vocab.NoFollow
	}
	if action, ok := tags.Attr("action"); ok {
		f.action = append([]byte{}, action...)
	}
}

// isGet reports whether a method attribute means GET. Every value but the other methods does (HTML
// 4.10.19.6).
func isGet(method []byte) bool {
	return !bytes.EqualFold(method, []byte("post")) && !bytes.EqualFold(method, []byte("dialog"))
}

// addControl handles a start tag within the form.
func (f *form) addControl(tags *htmltoken.Tokenizer) {
	if !f.open || f.unfit {
		return
	}
	what, _ := tags.Attr("type")
	is := func(name string) bool { return bytes.EqualFold(what, []byte(name)) }
	switch {
	case tags.Has("disabled"):
	case tags.Tag == atom.Button && (len(what) == 0 || is("submit")),
		tags.Tag == atom.Input && (is("submit") || is("image")):
		f.addButton(tags)
	case tags.Tag == atom.Button, tags.Tag == atom.Input && (is("button") || is("reset")):
	case tags.Tag == atom.Input && is("hidden"):
		field := fieldOf(tags)
		f.unfit = len(f.fields)+len(field) > maxFormFields
		f.fields = appendField(f.fields, field)
	default:
		f.unfit = true
	}
}

func (f *form) addButton(tags *htmltoken.Tokenizer) {
	if method, ok := tags.Attr("formmethod"); ok && !isGet(method) || len(f.buttons) >= maxButtons {
		return
	}
	b := formButton{field: fieldOf(tags)}
	if action, ok := tags.Attr("formaction"); ok {
		b.action = append([]byte{}, action...)
	}
	f.buttons = append(f.buttons, b)
}

// end adds the links of the form's buttons.
func (f *form) end(links *linkCollector) {
	if f.open && !f.unfit {
		for _, b := range f.buttons {
			f.addLink(links, b)
		}
	}
	f.open = false
}

// addLink adds the link of a button. It adds nothing if neither the button nor the form has an
// action: then a script handles it.
func (f *form) addLink(links *linkCollector, b formButton) {
	action := b.action
	if action == nil {
		action = f.action
	}
	if action == nil {
		return
	}
	action, _, _ = bytes.Cut(action, []byte("#"))
	if query := appendField(bytes.Clone(f.fields), b.field); len(query) > 0 {
		action, _, _ = bytes.Cut(action, []byte("?"))
		action = bytes.Join([][]byte{action, query}, []byte("?"))
	}
	links.add(action, f.flags, nil)
}

// fieldOf returns the name and value of a control in query form, or "" if it has no name.
func fieldOf(tags *htmltoken.Tokenizer) string {
	name, _ := tags.Attr("name")
	if len(name) == 0 || len(name) > maxFormFields {
		return ""
	}
	value, _ := tags.Attr("value")
	return url.QueryEscape(string(name)) + "=" + url.QueryEscape(string(value[:min(len(value), maxFormFields)]))
}

func appendField(query []byte, field string) []byte {
	if len(query) > 0 && field != "" {
		query = append(query, '&')
	}
	return append(query, field...)
}
