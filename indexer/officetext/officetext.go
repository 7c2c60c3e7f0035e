// Package officetext converts the documents of office programs to HTML: Word, PowerPoint and Excel
// files (ECMA-376), OpenDocument texts, presentations and sheets (ISO 26300), EPUB, and RTF. The page
// has title, description, dates and language as the file states them, headings with ids, paragraphs,
// tables and links. Cells of RTF are paragraphs.
//
// Files are untrusted. The number and inflated size of the files in a zip file, and the depth,
// tokens and text of what is read, are bounded, and memory with them. No declared or external
// entity is resolved, and no file is written. A reader of a format is a table of elements and their
// meanings.
package officetext

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"anatomy/vocab"
)

var (
	// ErrFormat is the error of Convert for a body that is not an office document.
	ErrFormat = errors.New("not an office document")

	// ErrNoText is the error of Convert for a document without text.
	ErrNoText = errors.New("office document has no text")
)

// A format is a kind of office document.
type format struct {
	medium vocab.Medium
	main   string // a file that such a zip file has, or the text of its file "mimetype"
	read   func(a *archive, p *page) error
}

// formats are those in zip files. Templates and documents with macros are read as documents.
var formats = []format{
	{vocab.DOCX, "word/document.xml", readWord},
	{vocab.PPTX, "ppt/presentation.xml", readSlides},
	{vocab.XLSX, "xl/workbook.xml", readWorkbook},
	{vocab.ODT, "application/vnd.oasis.opendocument.text", readOpenDocument},
	{vocab.ODP, "application/vnd.oasis.opendocument.presentation", readOpenDocument},
	{vocab.ODS, "application/vnd.oasis.opendocument.spreadsheet", readOpenDocument},
	{vocab.EPUB, "application/epub+zip", readEPUB},
}

// IsOffice reports whether a body begins as an office document does. It may still be another zip file.
func IsOffice(body []byte) bool { return vocab.IsZip(body) || isRTF(body) }

// Convert converts an office document to a page of HTML in UTF-8. Of a damaged document it returns
// what can be read, and fails if that is nothing.
func Convert(body []byte) (html []byte, medium vocab.Medium, err error) {
	p := new(page)
	if isRTF(body) {
		medium, err = vocab.RTF, readRTF(body, p)
	} else {
		medium, err = readZip(body, p)
	}
	p.endBlock()
	switch {
	case errors.Is(err, ErrBomb):
		return nil, medium, err
	case p.hasText:
		return p.html(), medium, nil
	case err == nil:
		err = ErrNoText
	}
	return nil, medium, err
}

// readZip reads the document in a zip file.
func readZip(body []byte, p *page) (vocab.Medium, error) {
	a, err := openArchive(body)
	if err != nil {
		return vocab.OtherMedium, err
	}
	f, err := a.format()
	if err != nil {
		return vocab.OtherMedium, err
	}
	if err := f.read(a, p); err != nil {
		return f.medium, fmt.Errorf("%s: %w", f.medium, err)
	}
	return f.medium, nil
}

// format returns the format of the document: that of its file "mimetype", or of the main part.
func (a *archive) format() (format, error) {
	stated, _ := a.readAll("mimetype", 100)
	media := strings.TrimSuffix(strings.TrimSpace(string(stated)), "-template")
	main := strings.ToLower(a.relationships("").mainPart())
	i := slices.IndexFunc(formats, func(f format) bool {
		return f.main == media || a.file(f.main) != nil || main != "" && strings.HasPrefix(main, f.folder())
	})
	if i < 0 {
		return format{}, fmt.Errorf("zip file: %w", ErrFormat)
	}
	return formats[i], nil
}

// folder returns the folder of the main part, with its slash.
func (f format) folder() string {
	folder, _, _ := strings.Cut(f.main, "/")
	return folder + "/"
}

func isRTF(body []byte) bool { return bytes.HasPrefix(body, []byte(`{\rtf`)) }
