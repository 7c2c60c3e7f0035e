package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"anatomy/engine"
	"anatomy/storeserver"
	"anatomy/vocab"
	"anatomy/warc"
	"anatomy/weburl"
)

// ImportOptions are the options of Import. Dir, Files and Open are required.
type ImportOptions struct {
	Dir     string // data folder, created if it does not exist
	Files   []string
	Open    func(name string) (io.ReadCloser, error) // opens one of Files
	MinFree int64                                    // bytes that must stay free on the disk, default 256 MiB

	// InOrder parses pages one at a time, so that docIDs depend on the archives only.
	InOrder bool

	Log      *slog.Logger
	Damaged  func(file string, err error)           // called for each damaged record; default: none
	Progress func(file string, report ImportReport) // called several times a second; default: none
}

// An ImportReport counts the records of archives by result.
type ImportReport struct {
	Records     int   // read completely
	Bytes       int64 // bytes of the files read
	Pages       int64 // kept
	Duplicates  int64 // of these or other pages
	Redirects   int64 // kept
	Gone        int   // responses 404, 410 and the like
	Old         int   // pages known in the same version or a newer one
	Unsupported int   // responses of unsupported types, and server errors
	Unresolved  int   // revisit records whose page is neither in the folder nor in the archives
	Other       int   // requests, metadata, and URLs other than http and https
	Damaged     int
	Took        time.Duration
}

// Import adds the responses in web archives to a data folder as if they had been fetched at the
// times in the archives. The same rules apply to content types, robots fields and duplicates. Pages
// that are known in the same version or a newer one are kept. Targets of links are fetched by the
// next crawl with them in its scope. Import makes everything durable and searchable before it
// returns. After an interruption, importing the same files again adds the rest.
func Import(ctx context.Context, o ImportOptions) (ImportReport, error) {
	began := time.Now()
	i := &importer{o: o, digests: map[vocab.ContentID]vocab.DocID{}, work: make(chan answer)}
	crawl := engine.Options{Dir: o.Dir, MinFree: o.MinFree, Log: o.Log}
	stored, err := engine.RunOffline(ctx, crawl, i.source)
	i.count(stored)
	i.report.Took = time.Since(began)
	return i.report, errors.Join(err, context.Cause(ctx))
}

const (
	maxRevisits = 10_000  // revisit records that wait for earlier pages to be committed
	maxDigests  = 1 << 20 // digests of pages that revisit records may refer to, about 50 MB
	reportEvery = 250 * time.Millisecond
)

// An importer reads archives and passes their responses to an offline crawl.
type importer struct {
	crawl    engine.Offline
	o        ImportOptions
	report   ImportReport
	reported time.Time
	work     chan answer                     // claimed answers to be parsed
	digests  map[vocab.ContentID]vocab.DocID // pages by the hash of their digest
	revisits []revisit
	answered bool // the file has responses: conversions are made of them
}

// An answer is the outcome of a URL at a time.
type answer struct {
	vocab.Fetch
	at time.Time
}

// A revisit is a record whose body is in another record (WARC revisit).
type revisit struct {
	url      weburl.URL
	at       time.Time
	signedIn bool
	of       string // URL of the other record, if this one has it
	original time.Time
	digest   vocab.ContentID
}

// source reads all files, with one parsing worker per processor.
func (i *importer) source(ctx context.Context, crawl engine.Offline) error {
	i.crawl = crawl
	var workers errgroup.Group
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() error {
			for a := range i.work {
				i.crawl.Accept(ctx, a.Fetch, a.at)
			}
			return nil
		})
	}
	var err error
	for _, name := range i.o.Files {
		if err = i.file(ctx, name); err != nil {
			break
		}
	}
	if err == nil {
		err = i.repeat(ctx)
	}
	close(i.work)
	workers.Wait()
	if errors.Is(err, context.Canceled) {
		err = nil // Import returns the cause
	}
	return err
}

// file reads one archive.
func (i *importer) file(ctx context.Context, name string) (err error) {
	f, err := i.o.Open(name)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := warc.NewReader(f, warc.ReaderOptions{})
	before := i.report.Bytes
	i.answered = false
	for ctx.Err() == nil {
		rec, err := r.Next()
		i.report.Bytes = before + r.Offset()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			i.damaged(name, err)
			if !errors.As(err, new(*warc.DamageError)) {
				return nil // the other files may be intact
			}
			continue
		}
		i.report.Records++
		if err := i.record(ctx, name, rec); err != nil {
			return err
		}
		if err := i.reportProgress(name); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (i *importer) damaged(name string, err error) {
	i.report.Damaged++
	if i.o.Damaged != nil {
		i.o.Damaged(name, err)
	}
}

// reportProgress reports progress if it is due, and checks the space on the disk.
func (i *importer) reportProgress(name string) error {
	now := time.Now()
	if now.Sub(i.reported) < reportEvery {
		return nil
	}
	i.reported = now
	if i.o.Progress != nil {
		i.count(i.crawl.Stored())
		i.o.Progress(name, i.report)
	}
	return i.crawl.CheckSpace()
}

func (i *importer) count(s storeserver.Stats) {
	i.report.Pages, i.report.Duplicates, i.report.Redirects = s.Pages, s.Duplicates, s.Redirects
}

// record processes one record.
func (i *importer) record(ctx context.Context, name string, rec *warc.Record) error {
	kind := rec.Type()
	isText := kind == warc.Conversion && !i.answered && rec.Get("Content-Type") == "text/plain"
	if kind != warc.Response && kind != warc.Resource && kind != warc.Revisit && !isText {
		i.report.Other++
		return nil
	}
	i.answered = i.answered || kind == warc.Response
	u, err := weburl.Parse(rec.URL())
	if err != nil || u.Path() == "/robots.txt" {
		i.report.Other++
		return nil
	}
	at, err := rec.Date()
	if err != nil {
		i.damaged(name, fmt.Errorf("%s: %w", u.String(), err))
		return nil
	}
	at = at.Truncate(time.Second)
	if kind == warc.Revisit {
		return i.revisit(ctx, rec, u, at)
	}
	if rec.Long {
		i.report.Unsupported++
		return nil
	}
	if !rec.Intact() {
		i.damaged(name, fmt.Errorf("%s: its digest is not that of its block", u.String()))
		return nil
	}
	resp, err := rec.HTTP()
	if err != nil {
		i.damaged(name, err)
		return nil
	}
	f := i.crawl.Replay(&u, resp, at)
	f.SignedIn = rec.Get(signedInField) != ""
	truncate(&f, rec.Get(warc.Truncated))
	switch f.Outcome {
	case vocab.Fetched, vocab.Redirected:
	case vocab.NotFound:
		i.report.Gone++
	default:
		i.report.Unsupported++
		return nil
	}
	return i.claim(ctx, &u, answer{f, at}, rec.Digest())
}

// truncate marks the page of a response that the archive has only in part. An empty part is no
// page.
func truncate(f *vocab.Fetch, why string) {
	if why == "" || f.Page == nil {
		return
	}
	if len(f.Page.Body) == 0 {
		f.Outcome, f.Page = vocab.Unsupported, nil
		return
	}
	f.Page.Truncated = vocab.ParseTruncation(strings.ToLower(strings.TrimSpace(why)))
	f.Reason = "the web archive has only a part of it"
	f.Validators = vocab.Validators{}
}

// claim adds the URL of an answer and passes the answer to the workers, unless the same version or
// a newer one is known.
func (i *importer) claim(ctx context.Context, u *weburl.URL, a answer, digest string) error {
	doc, err := i.crawl.Add(u)
	if err != nil {
		return err
	}
	a.Doc = doc
	if a.Page != nil {
		a.Page.Doc = a.Doc
	}
	if digest != "" && len(i.digests) < maxDigests {
		i.digests[vocab.ContentOf([]byte(digest))] = a.Doc
	}
	claimed, err := i.crawl.Claim(ctx, doc, u, a.at)
	if err != nil {
		return err
	}
	if !claimed {
		i.report.Old++
		return nil
	}
	if i.o.InOrder {
		i.crawl.Accept(ctx, a.Fetch, a.at)
		return ctx.Err()
	}
	return send(ctx, i.work, a)
}

// revisit keeps a revisit record for later, because the page that it refers to may not be committed
// yet.
func (i *importer) revisit(ctx context.Context, rec *warc.Record, u weburl.URL, at time.Time) error {
	r := revisit{url: u, at: at, signedIn: rec.Get(signedInField) != "", of: rec.RefersTo(), digest: vocab.ContentOf([]byte(rec.Digest()))}
	if t, err := time.Parse(time.RFC3339Nano, rec.Get("WARC-Refers-To-Date")); err == nil {
		r.original = t.UTC().Truncate(time.Second)
	}
	if i.revisits = append(i.revisits, r); len(i.revisits) < maxRevisits {
		return nil
	}
	return i.repeat(ctx)
}

// repeat processes the waiting revisit records.
func (i *importer) repeat(ctx context.Context) error {
	if len(i.revisits) == 0 {
		return nil
	}
	if err := i.crawl.WaitCommitted(ctx); err != nil {
		return err
	}
	for _, r := range i.revisits {
		page, err := i.crawl.Page(r.of, i.digests[r.digest], r.original)
		if err != nil {
			return err
		}
		if page == nil || page.SignedIn != r.signedIn {
			i.report.Unresolved++
			continue
		}
		if page.URL == r.url.String() { // unchanged
			i.report.Old++
			continue
		}
		page.URL, page.Fetched = r.url.String(), r.at
		f := vocab.Fetch{Target: vocab.Target{URL: page.URL}, Outcome: vocab.Fetched, Status: 200, Page: page, SignedIn: r.signedIn}
		if err := i.claim(ctx, &r.url, answer{f, r.at}, ""); err != nil {
			return err
		}
	}
	i.revisits = i.revisits[:0]
	return nil
}
