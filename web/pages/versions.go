package pages

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
	"anatomy/web/internal/address"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/text"
)

// versionsTime limits the search for versions in one request.
const versionsTime = 2 * time.Second

// A versionsView lists versions, or shows the difference of two.
type versionsView struct {
	URL    string // "" if it must not become a link
	Crumbs []string
	Rows   []versionRow
	Found  string // share of the repository that was searched, "" for all
	Again  string

	Old, New  versionRow // the compared versions
	Lines     []diffLine // nil without a difference
	Added     int
	Removed   int
	Different bool // the page shows a difference
}

type versionRow struct {
	At                   time.Time
	Size                 string
	Cached, Text, Change string // addresses; Change is the difference to the previous version, or ""
}

// A diffLine is a paragraph. Kind is ' ' for one in both versions, '+' or '-' for one in one of
// them, and '…' for omitted equal ones.
type diffLine struct {
	Kind rune
	Text string
}

func (l diffLine) Gap() bool { return l.Kind == '…' }

func (l diffLine) Added() bool { return l.Kind == '+' }

func (l diffLine) Removed() bool { return l.Kind == '-' }

// versionsPage lists the versions of a document or, with old and new, shows their difference.
func (s *documentPages) versionsPage(c *gin.Context) error {
	p := params.Read(c)
	doc, older, newer := p.Doc("doc"), p.Text("old", 100), p.Text("new", 100)
	if doc == 0 {
		p.Required("doc", "")
	}
	if p.Err != nil {
		return p.Err
	}
	leave, err := s.reader.Admit(c.Request.Context())
	if err != nil {
		return err
	}
	defer leave()
	v, view := s.View(c, "Versions", ""), &versionsView{}
	if older != "" || newer != "" {
		err = s.difference(c.Request.Context(), view, doc, older, newer)
	} else {
		err = s.listVersions(c.Request.Context(), v.Messages, view, doc)
	}
	if err != nil {
		return err
	}
	v.Body = view
	return s.Render(c, http.StatusOK, "versions", v)
}

func (s *documentPages) listVersions(
	ctx context.Context, m *messages.Printer, v *versionsView, doc vocab.DocID,
) error {
	looking, cancel := context.WithTimeout(ctx, versionsTime)
	defer cancel()
	all, err := s.reader.Collection.Versions(looking, doc)
	if err != nil {
		return err
	}
	if len(all.Pages) == 0 && all.Read >= 1 {
		return respond.NotFound("The collection has no version of that page.")
	}
	for i, one := range all.Pages {
		row := newVersionRow(doc, one.Place, one.Fetched, one.Bytes)
		if i+1 < len(all.Pages) {
			row.Change = address.VersionsHref(doc, url.Values{"old": {all.Pages[i+1].Place}, "new": {one.Place}})
		}
		v.Rows = append(v.Rows, row)
	}
	if len(all.Pages) > 0 {
		page, err := s.reader.Version(ctx, doc, all.Pages[0].Place)
		if err != nil {
			return err
		}
		v.URL, v.Crumbs = text.Linkable(page.URL), text.Breadcrumb(page.URL)
	}
	if all.Read < 1 {
		v.Found, v.Again = m.WholePercent(all.Read), address.VersionsHref(doc, nil)
	}
	return nil
}

func newVersionRow(doc vocab.DocID, place string, fetched time.Time, size int) versionRow {
	values := address.CachedValues(uint64(doc), "", false)
	values.Set("version", place)
	row := versionRow{At: fetched.UTC(), Size: fmt.Sprintf("%.1f kB", float64(size)/1000), Cached: "/cached?" + values.Encode()}
	values.Set("text", "1")
	row.Text = "/cached?" + values.Encode()
	return row
}

// maxDiff limits the compared text of a version, in bytes.
const maxDiff = 1 << 20

// difference compares the texts of two versions by paragraph.
func (s *documentPages) difference(ctx context.Context, v *versionsView, doc vocab.DocID, older, newer string) error {
	before, err := s.reader.Version(ctx, doc, older)
	if err != nil {
		return err
	}
	after, err := s.reader.Version(ctx, doc, newer)
	if err != nil {
		return err
	}
	v.Different = true
	v.URL, v.Crumbs = text.Linkable(after.URL), text.Breadcrumb(after.URL)
	v.Old, v.New = newVersionRow(doc, older, before.Fetched, len(before.Body)), newVersionRow(doc, newer, after.Fetched, len(after.Body))
	v.Lines = differ(comparable(before.Page), comparable(after.Page))
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

// comparable returns the text of a page, title first, one paragraph per line.
func comparable(page *vocab.Page) []byte {
	plain := text.PlainOf(page)
	text := []byte(plain.Title + "\n" + plain.Text)
	if len(text) > maxDiff {
		text = bytes.ToValidUTF8(text[:maxDiff], nil)
	}
	return append(text, '\n')
}

// differ returns the changed paragraphs with some around them.
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
