package indexer

import "golang.org/x/net/html/atom"

// A kind is a set of properties of an element.
type kind uint16

const (
	block     kind = 1 << iota // its tags begin and end blocks
	spacer                     // its tags separate words
	emphasis                   // makes text Emphasis
	code                       // makes text Code
	sized                      // changes the font size
	skipped                    // its content is not text
	void                       // has no content and no end tag
	breaks                     // ends an unclosed heading: a heading cannot contain it
	container                  // may contain optional elements
	optional                   // its end tag is optional: the next of its kind ends it
	foreign                    // svg, math: tokenized by other rules
	cell                       // a table cell: formatting is reset
)

// kindOf returns the kind of an element, or 0 for an inline element without properties.
func kindOf(tag atom.Atom) kind {
	switch tag {
	case atom.Div, atom.Main, atom.Body, atom.Html, atom.Head, atom.Address, atom.Center, atom.Details, atom.Dialog, atom.Fieldset, atom.Figure,
		atom.Figcaption, atom.Footer, atom.Frameset, atom.Header, atom.Hgroup, atom.Legend, atom.Nav, atom.Summary, atom.Aside,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Caption, atom.Tbody, atom.Thead, atom.Tfoot, atom.Title, atom.Search:
		return block
	case atom.Article, atom.Section, atom.Blockquote, atom.Form:
		return block | breaks
	case atom.Ul, atom.Ol, atom.Dl, atom.Menu, atom.Dir, atom.Table:
		return block | breaks | container
	case atom.P, atom.Li, atom.Dd, atom.Dt, atom.Tr:
		return block | breaks | optional
	case atom.Td, atom.Th:
		return block | breaks | optional | cell
	case atom.Hr:
		return block | breaks | void
	case atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext:
		return block | breaks | code
	case atom.Br, atom.Img, atom.Input, atom.Embed:
		return spacer | void
	case atom.Button, atom.Object, atom.Video, atom.Audio, atom.Canvas:
		return spacer
	case atom.B, atom.Strong, atom.Em, atom.I, atom.Mark, atom.Dfn, atom.U, atom.Ins:
		return emphasis
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		return code
	case atom.Big, atom.Small, atom.Font:
		return sized
	case atom.Script, atom.Style, atom.Template, atom.Noembed:
		return skipped
	case atom.Textarea, atom.Select, atom.Datalist, atom.Iframe:
		return skipped | spacer
	case atom.Svg, atom.Math:
		return skipped | foreign
	case atom.Area, atom.Base, atom.Col, atom.Frame, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return void
	}
	return 0
}
