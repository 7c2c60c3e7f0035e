package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/rogpeppe/go-internal/diff"

	"anatomy/vocab"
)

// Versions are the pages that are kept of one document.
type Versions struct {
	Pages []Version // the newest first
	Read  float64   // share of the repository that was looked through; below 1 there may be more, and asking again goes on
}

// A Version is a page as it once was.
type Version struct {
	Fetched time.Time
	Place   string // by which it is asked for
	Bytes   int
}

// versionsTime is how long one request looks for versions.
const versionsTime = 2 * time.Second

// A versionsView lists versions, or shows what two of them differ in.
type versionsView struct {
	URL    string // "" where it is not one that may be linked
	Crumbs []string
	Rows   []versionRow
	Found  string // how much was looked through, "" for all
	Again  string

	Old, New  versionRow // of a difference
	Lines     []diffLine // nil where there is none
	Added     int
	Removed   int
	Different bool // a difference was asked for
}

type versionRow struct {
	At                   time.Time
	Size                 string
	Cached, Text, Change string // addresses; Change leads to the difference to the version before, "" of the first
}

// A diffLine is a paragraph: Kind is ' ' where both have it, '+' or '-', '…' where equal ones are left out.
type diffLine struct {
	Kind rune
	Text string
}

func (l diffLine) Gap() bool     { return l.Kind == '…' }
func (l diffLine) Added() bool   { return l.Kind == '+' }
func (l diffLine) Removed() bool { return l.Kind == '-' }

// versionsPage lists the versions of a document, or with old and new, what those differ in.
func (s *Server) versionsPage(c *gin.Context) error {
	p := readParams(c)
	doc, older, newer := p.doc("doc"), p.text("old", 100), p.text("new", 100)
	if doc == 0 {
		p.required("doc", "")
	}
	if p.err != nil {
		return p.err
	}
	if s.o.Versions == nil {
		return notFound("Older versions are not shown here.")
	}
	if err := s.gate.enter(c.Request.Context()); err != nil {
		return err
	}
	defer s.gate.leave()
	view, err := &versionsView{}, error(nil)
	if older != "" || newer != "" {
		err = s.difference(c.Request.Context(), view, doc, older, newer)
	} else {
		err = s.listVersions(c.Request.Context(), view, doc)
	}
	if err != nil {
		return err
	}
	v := s.view("Versions", "")
	v.Versions = view
	return s.render(c, http.StatusOK, s.pages.versions, v)
}

func (s *Server) listVersions(ctx context.Context, v *versionsView, doc vocab.DocID) error {
	looking, cancel := context.WithTimeout(ctx, versionsTime)
	defer cancel()
	all, err := s.o.Versions(looking, doc)
	if err != nil {
		return err
	}
	if len(all.Pages) == 0 && all.Read >= 1 {
		return notFound("No version of that page is kept.")
	}
	for i, one := range all.Pages {
		row := newVersionRow(doc, one.Place, one.Fetched, one.Bytes)
		if i+1 < len(all.Pages) {
			row.Change = versionsHref(doc, url.Values{"old": {all.Pages[i+1].Place}, "new": {one.Place}})
		}
		v.Rows = append(v.Rows, row)
	}
	if len(all.Pages) > 0 {
		page, err := s.o.VersionAt(ctx, doc, all.Pages[0].Place)
		if err != nil {
			return err
		}
		v.URL, v.Crumbs = linkable(page.URL), breadcrumb(page.URL)
	}
	if all.Read < 1 {
		v.Found, v.Again = fmt.Sprintf("%.0f %%", 100*all.Read), versionsHref(doc, nil)
	}
	return nil
}

func newVersionRow(doc vocab.DocID, place string, fetched time.Time, size int) versionRow {
	values := cachedValues(uint64(doc), "", false)
	values.Set("version", place)
	row := versionRow{At: fetched.UTC(), Size: fmt.Sprintf("%.1f kB", float64(size)/1000), Cached: "/cached?" + values.Encode()}
	values.Set("text", "1")
	row.Text = "/cached?" + values.Encode()
	return row
}

func versionsHref(doc vocab.DocID, values url.Values) string {
	v := cachedValues(uint64(doc), "", false)
	for name := range values {
		v.Set(name, values.Get(name))
	}
	return "/versions?" + v.Encode()
}

// maxDiff bounds the text of a version that is compared, in bytes.
const maxDiff = 1 << 20

// difference compares the texts of two versions, paragraph by paragraph.
func (s *Server) difference(ctx context.Context, v *versionsView, doc vocab.DocID, older, newer string) error {
	before, err := s.o.VersionAt(ctx, doc, older)
	if err != nil {
		return err
	}
	after, err := s.o.VersionAt(ctx, doc, newer)
	if err != nil {
		return err
	}
	v.Different = true
	v.URL, v.Crumbs = linkable(after.URL), breadcrumb(after.URL)
	v.Old, v.New = newVersionRow(doc, older, before.Fetched, len(before.Body)), newVersionRow(doc, newer, after.Fetched, len(after.Body))
	v.Lines = differ(comparable(before), comparable(after))
	for _, l := range v.Lines {
		switch l.Kind {
		case '+':
			v.Added++
		case '-':
			v.Removed++
		}
	}
	return nil
}

// comparable is the text of a page, title first, a paragraph a line.
func comparable(page *vocab.Page) []byte {
	plain := textOf(page)
	text := []byte(plain.Title + "\n" + plain.Text)
	if len(text) > maxDiff {
		text = bytes.ToValidUTF8(text[:maxDiff], nil)
	}
	return append(text, '\n')
}

// differ gives the paragraphs that differ, with some around them.
func differ(before, after []byte) (lines []diffLine) {
	text := string(diff.Diff("old", before, "new", after))
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "@@ "):
			if inside {
				lines = append(lines, diffLine{Kind: '…'})
			}
			inside = true
		case inside && line != "" && strings.ContainsRune(" +-", rune(line[0])):
			lines = append(lines, diffLine{rune(line[0]), line[1:]})
		}
	}
	return lines
}
