// Package indexer parses pages (BP98 §4.4). One pass over a page returns its terms with their hits,
// its links with their texts, and the text from which snippets are cut. A [Batch] collects documents
// and writes them as barrels (BP98 §4.2.6).
//
// Words are separated where a browser separates them: at blocks, table cells, line breaks and images,
// not at other elements. Text is what a browser without scripts shows: hidden elements, scripts,
// templates, form controls and drawings are not, the content of noscript is.
package indexer

import (
	"errors"
	"fmt"
	"mime"
	"path"
	"strings"

	"anatomy/indexer/datatext"
	"anatomy/indexer/internal/decode"
	"anatomy/indexer/internal/markdown"
	"anatomy/indexer/officetext"
	"anatomy/indexer/servicetext"
	"anatomy/vocab"
)

var (
	// ErrPDF is the error of Parse for a PDF if Buffer.PDF is nil.
	ErrPDF = errors.New("PDF is not read here")

	// errXML is the error of Parse for XML that is neither a feed nor a page.
	errXML = errors.New("XML that is neither a feed nor a page")

	// errData is the error of Parse for YAML that does not define a service.
	errData = fmt.Errorf("data: %w", servicetext.ErrFormat)
)

// A Buffer holds the memory for parsing one page after the other. The zero value is ready. A Buffer
// is not safe for concurrent use and must not be copied after its first use.
type Buffer struct {
	// PDF converts a PDF to a page of HTML in UTF-8. If it is nil, Parse fails with ErrPDF.
	PDF func(body []byte) ([]byte, error)

	parser htmlParser
}

// Parse parses a page. The document owns its memory: page and buf may be used again at once. Parse
// fails with ErrPDF, on an invalid page.URL, on a body that is not text, on XML that is neither a
// feed nor a page, on YAML that defines no service, and with the errors of [officetext.Convert],
// [datatext.CSV] and [datatext.JSON]. Bad markup is never an error.
func Parse(page *vocab.Page, buf *Buffer) (*Document, error) {
	if err := buf.parse(page, false); err != nil {
		return nil, err
	}
	p := &buf.parser
	return p.document(page, p.links.page.AppendText(nil)), nil
}

// parse makes the pass over page. With outlineOnly set it omits texts if the format allows.
func (b *Buffer) parse(page *vocab.Page, outlineOnly bool) error {
	p := &b.parser
	err := p.startAt(page.URL)
	if err == nil {
		p.meta.obeyHeader(page.Robots)
		p.relations.addHeader(&p.links, page.Links)
		err = b.read(page, outlineOnly)
	}
	if err != nil {
		return fmt.Errorf("parse %s: %w", page.URL, err)
	}
	return nil
}

// read reads the body according to its medium.
func (b *Buffer) read(page *vocab.Page, outlineOnly bool) error {
	p := &b.parser
	medium, charset := mediumOf(page)
	if vocab.IsPDF(page.Body) {
		p.meta.medium = vocab.PDF
		return b.readPDF(page.Body)
	}
	if officetext.IsOffice(page.Body) || medium.Office() {
		return p.readOffice(page.Body)
	}
	if p.meta.medium = medium; medium == vocab.OtherMedium {
		p.meta.medium = vocab.HTML // or a feed that does not declare itself
	}
	body, err := decode.UTF8(page.Body, page.ContentType, charset)
	switch {
	case err != nil:
		return err
	case medium != vocab.Markdown && p.readService(body):
	case medium == vocab.JSON:
		return p.readData(body, datatext.JSON)
	case medium == vocab.CSV:
		return p.readData(body, datatext.CSV)
	case medium.Data():
		return errData
	case medium == vocab.XML:
		switch root := rootOf(body); {
		case isFeed(root):
			p.sample.addRaw(body)
			p.readFeed(body, page.Fetched)
		case root == "html":
			p.read(body)
		default:
			return errXML
		}
	case medium == vocab.Markdown:
		p.readMarkdown(body)
	case medium == vocab.PlainText:
		p.sample.addRaw(body)
		p.readPlain(body)
	case feedAsPage(body):
		p.sample.addRaw(body)
		p.readFeed(body, page.Fetched)
	default:
		p.links.outlineOnly = outlineOnly
		p.read(body)
	}
	return nil
}

func (b *Buffer) readPDF(body []byte) error {
	if b.PDF == nil {
		return ErrPDF
	}
	page, err := b.PDF(body)
	if err == nil {
		b.parser.read(page)
	}
	return err
}

// readMarkdown converts a text from Markdown to HTML and reads that. The first heading is the
// title.
func (p *htmlParser) readMarkdown(body []byte) {
	if len(body) > markdown.MaxBytes {
		p.readPlain(body)
		return
	}
	page, heading := markdown.HTML(body)
	p.read(page)
	p.meta.setTitle([]byte(withoutTags(string(heading))))
}

// readOffice reads an office document with any media type.
func (p *htmlParser) readOffice(body []byte) error {
	page, medium, err := officetext.Convert(body)
	if err == nil {
		p.meta.medium = medium
		p.read(page)
	}
	return err
}

// readData reads the page into which convert turns data.
func (p *htmlParser) readData(body []byte, convert func([]byte) ([]byte, error)) error {
	page, err := convert(body)
	if err == nil {
		p.read(page)
	}
	return err
}

// mediumOf returns medium and charset of a page as its Content-Type states them. Text of other
// types is plain text. The medium is OtherMedium, which is read as HTML, if the type is unusable.
// CSV sent with a generic text type is recognised by the extension of its URL.
func mediumOf(page *vocab.Page) (medium vocab.Medium, charset string) {
	media, params, _ := mime.ParseMediaType(page.ContentType)
	medium = vocab.MediumOf(page.ContentType)
	if medium == vocab.OtherMedium && !strings.HasPrefix(media, "text/") || medium == vocab.PlainText {
		urlPath, _, _ := strings.Cut(page.URL, "?")
		if m, _ := vocab.ParseMedium(strings.TrimPrefix(path.Ext(urlPath), ".")); m == vocab.CSV {
			return m, params["charset"]
		}
	}
	if medium == vocab.OtherMedium && strings.HasPrefix(media, "text/") && !strings.HasSuffix(media, "xml") {
		medium = vocab.PlainText
	}
	return medium, params["charset"]
}

// DecodeUndeclared returns the body of a page in UTF-8 as Parse reads it, if its encoding is another one
// and is not declared.
func DecodeUndeclared(page *vocab.Page) (text []byte, ok bool) {
	return decode.Undeclared(page.Body, page.ContentType)
}
