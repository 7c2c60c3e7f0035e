package upkeep

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/repository"
	"anatomy/disk/shards"
	"anatomy/vocab"
	"anatomy/warc"
)

// ExportOptions are the options of Export. The zero value is ready to use.
type ExportOptions struct {
	Software string               // named in the first record of the archive
	Progress func(r ExportReport) // called several times a second; default: none
	Now      func() time.Time     // clock for the date of the first record, default time.Now
	Written  func(e warc.Entry)   // called for each record of a page or redirect; default: none
}

// signedInField is our header field for records that were fetched with credentials. An import keeps
// the mark.
const signedInField = "Anatomy-Signed-In"

// An ExportReport counts the records written.
type ExportReport struct {
	Pages, Duplicates, Redirects int
	Lost                         int // duplicates whose canonical page is no longer stored
}

// Export writes the current pages as a web archive, in the order of the repository, shard by shard:
// responses, revisit records for duplicates, and redirects. If a page's headers were kept, its response has
// the header as it was received, and a request record follows; other HTTP headers have the stored fields.
// Bodies have no content coding: fields about the coding begin with "X-Archive-Orig-".
func Export(ctx context.Context, w *warc.Writer, dir string, o ExportOptions) (report ExportReport, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	dirs, err := shards.Folders(dir)
	for _, dir := range dirs {
		if err == nil {
			err = exportFolder(ctx, w, dir, o, &report)
		}
	}
	return report, err
}

// exportFolder is Export for one data folder.
func exportFolder(
	ctx context.Context, w *warc.Writer, dir string, o ExportOptions, report *ExportReport,
) error {
	return docindex.Use(dir, func(db *docindex.DB) error {
		repo, err := repository.OpenReader(datadir.Repository(dir))
		if err != nil {
			return err
		}
		defer repo.Close()
		e := exporter{w: w, db: db, repo: repo, o: o, report: report}
		if err := e.begin(); err != nil {
			return err
		}
		return repo.Scan(0, func(at vocab.Address, rec *repository.Record) error {
			d, ok, err := db.Get(rec.Page.Doc)
			if err != nil || !ok || d.Fetch == nil || d.Fetch.Address != at {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			return e.record(rec, &d)
		})
	})
}

// An exporter writes the records of a repository to an archive.
type exporter struct {
	w        *warc.Writer
	db       *docindex.DB
	repo     *repository.Reader
	o        ExportOptions
	report   *ExportReport
	info     string // ID of the first record
	block    bytes.Buffer
	status   int // of the block
	reported time.Time
}

func (e *exporter) begin() (err error) {
	e.info, err = e.w.Write(warc.Info, e.o.Now(), []warc.Field{{Name: "Content-Type", Value: "application/warc-fields"}}, warc.FieldsBlock(
		warc.Field{Name: "software", Value: e.o.Software},
		warc.Field{Name: "format", Value: "WARC File Format 1.1"},
		warc.Field{Name: "conformsTo", Value: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
		warc.Field{Name: "description", Value: "headers hold what was kept; bodies are without content coding, fields about it begin with " + originalField},
	))
	return err
}

func (e *exporter) record(rec *repository.Record, d *docindex.Record) (err error) {
	switch rec.Kind {
	case repository.PageRecord:
		e.report.Pages++
		err = e.page(&rec.Page, d.Fetch.Status)
	case repository.DuplicateRecord:
		err = e.duplicate(rec, d)
	case repository.RedirectRecord:
		e.report.Redirects++
		err = e.redirect(rec, d.Fetch.Status)
	}
	if now := time.Now(); e.o.Progress != nil && now.Sub(e.reported) >= reportEvery {
		e.reported = now
		e.o.Progress(*e.report)
	}
	return err
}

func (e *exporter) page(p *vocab.Page, status int) error {
	if status == 0 {
		status = http.StatusOK
	}
	refresh, links := p.HeaderFields()
	fields := []string{
		"Content-Type", p.ContentType, "Content-Language", p.Language, "Last-Modified", p.LastModified,
		"ETag", p.ETag, "X-Robots-Tag", p.Robots, "Refresh", refresh, "Link", links, "Content-Length", fmt.Sprint(len(p.Body)),
	}
	request, answer, ok := p.CutHeaders()
	if ok {
		e.received(status, answer, p, fields)
	} else {
		e.head(status, fields...)
	}
	e.block.Write(p.Body)
	id, err := e.write(warc.Response, p, warc.Digest(p.Body))
	if !ok || err != nil {
		return err
	}
	_, err = e.w.Write(warc.Request, p.Fetched, []warc.Field{
		{Name: "WARC-Target-URI", Value: p.URL},
		{Name: "WARC-Warcinfo-ID", Value: e.info},
		{Name: "WARC-Concurrent-To", Value: id},
		{Name: "Content-Type", Value: "application/http;msgtype=request"},
	}, []byte(request))
	return err
}

// originalField begins the names of fields that describe the body as it was sent, not as it is stored.
const originalField = "X-Archive-Orig-"

// received starts a block with the header of an answer as it was received, and the stored fields that it
// lacks because it was cut. A page has another type after its scripts have run; the type of others may be
// guessed, and is not added.
func (e *exporter) received(status int, header string, p *vocab.Page, fields []string) {
	e.block.Reset()
	e.status = status
	has := map[string]bool{}
	for line := range strings.SplitSeq(strings.TrimSuffix(header, "\r\n\r\n"), "\r\n") {
		name, _, _ := strings.Cut(line, ":")
		switch {
		case name == "Content-Length" && line == fmt.Sprint("Content-Length: ", len(p.Body)):
		case name == "Content-Type" && p.Rendered(), name == "Content-Encoding", name == "Content-Length", name == "Transfer-Encoding":
			line = originalField + line
			name = ""
		}
		has[strings.ToLower(name)] = true
		e.block.WriteString(line + "\r\n")
	}
	for i := 0; i < len(fields); i += 2 {
		if !has[strings.ToLower(fields[i])] && (fields[i] != "Content-Type" || p.Rendered()) {
			e.fields(fields[i : i+2])
		}
	}
	e.block.WriteString("\r\n")
}

// duplicate writes a revisit record of the canonical page, if that still has the same body.
func (e *exporter) duplicate(rec *repository.Record, d *docindex.Record) error {
	of, ok, err := e.db.Get(d.Fetch.Alias) // the current canonical page; rec may name a former one
	if err != nil {
		return err
	}
	if !ok || of.Fetch == nil || of.Fetch.Content != d.Fetch.Content {
		e.report.Lost++
		return nil
	}
	original, err := e.repo.Read(of.Fetch.Address)
	if err != nil {
		return err
	}
	e.report.Duplicates++
	e.head(http.StatusOK)
	_, err = e.write(warc.Revisit, &rec.Page, warc.Digest(original.Page.Body), warc.Field{Name: "WARC-Profile", Value: warc.SameDigest},
		warc.Field{Name: "WARC-Refers-To-Target-URI", Value: of.URL},
		warc.Field{Name: "WARC-Refers-To-Date", Value: of.Fetch.Fetched.Format(time.RFC3339)})
	return err
}

func (e *exporter) redirect(rec *repository.Record, status int) error {
	if status < 300 || status > 399 { // a meta refresh
		status = http.StatusFound
	}
	e.head(status, "Location", rec.Location, "Content-Length", "0")
	_, err := e.write(warc.Response, &rec.Page, warc.Digest(nil))
	return err
}

// head starts a block with an HTTP header.
func (e *exporter) head(status int, fields ...string) {
	e.block.Reset()
	e.status = status
	fmt.Fprintf(&e.block, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	e.fields(fields)
	e.block.WriteString("\r\n")
}

// fields writes header fields: alternating names and values. Empty values are omitted, and a value of several
// lines is written as several fields.
func (e *exporter) fields(fields []string) {
	for i := 0; i < len(fields); i += 2 {
		for value := range strings.SplitSeq(fields[i+1], "\n") {
			if value != "" {
				fmt.Fprintf(&e.block, "%s: %s\r\n", fields[i], value)
			}
		}
	}
}

// write writes a record with the block, and returns its ID.
func (e *exporter) write(kind string, p *vocab.Page, digest string, more ...warc.Field) (id string, err error) {
	fields := append([]warc.Field{
		{Name: "WARC-Target-URI", Value: p.URL},
		{Name: "WARC-Warcinfo-ID", Value: e.info},
		{Name: "Content-Type", Value: "application/http;msgtype=response"},
		{Name: "WARC-Payload-Digest", Value: digest},
	}, more...)
	if p.SignedIn {
		fields = append(fields, warc.Field{Name: signedInField, Value: "yes"})
	}
	if p.Truncated != vocab.Whole {
		fields = append(fields, warc.Field{Name: warc.Truncated, Value: p.Truncated.String()})
	}
	from := e.w.Offset()
	if id, err = e.w.Write(kind, p.Fetched, fields, e.block.Bytes()); err != nil || e.o.Written == nil {
		return id, err
	}
	media, _, _ := strings.Cut(p.ContentType, ";")
	if kind == warc.Revisit {
		media = "warc/revisit"
	}
	e.o.Written(warc.Entry{
		URL: p.URL, At: p.Fetched, Media: strings.ToLower(strings.TrimSpace(media)), Status: e.status, Digest: digest,
		Length: e.w.Offset() - from, Offset: from,
	})
	return id, nil
}
