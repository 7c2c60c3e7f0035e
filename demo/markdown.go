package demo

import (
	"bytes"
	"html/template"
	"net/netip"
	"net/url"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// A markdown renders Markdown with tables to HTML. It omits raw HTML.
type markdown struct{ goldmark.Markdown }

func newMarkdown() markdown {
	return markdown{goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))}
}

// page renders the body of a page.
func (m markdown) page(source string) (template.HTML, error) {
	return m.render(m.parse(source), source)
}

// document renders one of the project's own documents. Its first heading becomes the title. Links to
// files of the project become links to their pages, which pageOf returns, or plain text if a file has
// no page.
func (m markdown) document(source, name string, pageOf func(file string) (string, bool)) (title string, body template.HTML, err error) {
	root := m.parse(source)
	title = removeTitle(root, []byte(source))
	if title == "" {
		title = name
	}
	for _, link := range links(root) {
		relink(link, []byte(source), name, pageOf)
	}
	body, err = m.render(root, source)
	return title, body, err
}

func (m markdown) parse(source string) ast.Node {
	return m.Parser().Parse(text.NewReader([]byte(source)))
}

func (m markdown) render(root ast.Node, source string) (template.HTML, error) {
	var out bytes.Buffer
	err := m.Renderer().Render(&out, []byte(source), root)
	return template.HTML(out.String()), err
}

// removeTitle removes the first heading of level 1 and returns its text. Further ones become level 2, since
// a page has one heading of level 1.
func removeTitle(root ast.Node, source []byte) (title string) {
	for node := root.FirstChild(); node != nil; {
		next := node.NextSibling()
		if heading, ok := node.(*ast.Heading); ok && heading.Level == 1 {
			if title == "" {
				title = textOf(heading, source)
				root.RemoveChild(root, heading)
			} else {
				heading.Level = 2
			}
		}
		node = next
	}
	return title
}

// textOf returns the text within a node.
func textOf(node ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				out.Write(n.Value(source))
			}
		case *ast.String:
			if entering {
				out.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(out.String())
}

// links returns the links, images and bare URLs, in order.
func links(root ast.Node) (found []ast.Node) {
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n.(type) {
		case *ast.Link, *ast.Image, *ast.AutoLink:
			if entering {
				found = append(found, n)
			}
		}
		return ast.WalkContinue, nil
	})
	return found
}

func relink(node ast.Node, source []byte, name string, pageOf func(string) (string, bool)) {
	switch node := node.(type) {
	case *ast.Link:
		if to, ok := relocate(string(node.Destination), name, pageOf); ok {
			node.Destination = []byte(to)
			return
		}
		unwrap(node)
	case *ast.Image:
		unwrap(node)
	case *ast.AutoLink:
		if _, ok := relocate(string(node.URL(source)), name, pageOf); !ok {
			node.Parent().ReplaceChild(node.Parent(), node, ast.NewString(node.Label(source)))
		}
	}
}

// relocate returns the URL on the web for a link in the document name. ok is false for links to files
// without a page and to loopback addresses: a crawler that may visit private addresses would crawl
// the services there.
func relocate(dest, name string, pageOf func(string) (string, bool)) (to string, ok bool) {
	u, err := url.Parse(dest)
	if err != nil {
		return "", false
	}
	switch {
	case u.Host != "":
		_, notAddress := netip.ParseAddr(u.Hostname())
		return dest, notAddress != nil && u.Hostname() != "localhost"
	case u.Scheme != "":
		return dest, true
	case u.Path == "":
		return dest, true
	}
	page, ok := pageOf(path.Join(path.Dir(name), u.Path))
	if !ok {
		return "", false
	}
	if u.Fragment != "" {
		page += "#" + u.Fragment
	}
	return page, true
}

// unwrap replaces a node by its children.
func unwrap(node ast.Node) {
	parent := node.Parent()
	for child := node.FirstChild(); child != nil; {
		next := child.NextSibling()
		parent.InsertBefore(parent, node, child)
		child = next
	}
	parent.RemoveChild(parent, node)
}
