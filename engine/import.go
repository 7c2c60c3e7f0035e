package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/warc"
	"anatomy/weburl"
)

// ImportOptions say what to import.
type ImportOptions struct {
	Dir     string // data folder, made where there is none
	Files   []string
	Open    func(name string) (io.ReadCloser, error) // opens one of Files
	MinFree int64                                    // bytes that must stay free on the disk, default 256 MiB

	Log      *slog.Logger
	Damaged  func(file string, err error)           // called for each record that could not be read
	Progress func(file string, report ImportReport) // called now and then
}

// An ImportReport counts what became of the records of archives.
type ImportReport struct {
	Records     int   // read whole
	Bytes       int64 // of the files, read
	Pages       int64 // kept
	Duplicates  int64 // of these or other pages, kept as such
	Redirects   int64 // kept
	Gone        int   // pages that were not there
	Old         int   // of which something as new is known, or which are in the archives twice
	Unsupported int   // answers that are no page that we index, or an error of their server
	Unresolved  int   // revisits of pages that are neither in the folder nor in the archives
	Other       int   // requests, metadata, and what is not of the web
	Damaged     int
	Took        time.Duration
}

// Import takes the answers in web archives into a data folder as if they had been fetched when the
// archives say: the same rules decide what is a page, what its robots fields forbid, what is a
// duplicate. What is known already as of the same time or later stays. Links become known, and are
// fetched by a crawl within whose scope they are. It makes everything durable and searchable before it
// returns; importing again what was interrupted goes on with the rest.
func Import(ctx context.Context, o ImportOptions) (ImportReport, error) {
	began := time.Now()
	c, err := Open(ctx, Options{Dir: o.Dir, MinFree: o.MinFree, Log: o.Log})
	if err != nil {
		return ImportReport{}, err
	}
	c.offline = true
	i := &importer{Crawl: c, o: o, digests: map[vocab.ContentID]vocab.DocID{}, work: make(chan answer)}
	err = errors.Join(c.run(ctx, i.source), c.Close())
	i.count()
	i.report.Took = time.Since(began)
	return i.report, errors.Join(err, context.Cause(ctx))
}

const (
	maxRevisits = 10_000  // that wait until the pages before them are settled
	maxDigests  = 1 << 20 // of pages of these archives that revisits may name, some 50 MB
	tellEvery   = 250 * time.Millisecond
)

// An importer reads archives and puts their answers into the stages of a crawl.
type importer struct {
	*Crawl
	o        ImportOptions
	report   ImportReport
	told     time.Time
	work     chan answer                     // claimed, to be parsed
	digests  map[vocab.ContentID]vocab.DocID // of payloads, by the hash of their digest's text
	revisits []revisit
}

// An answer is what came of a URL at a time.
type answer struct {
	vocab.Fetch
	at time.Time
}

// A revisit repeats the body of another answer.
type revisit struct {
	url      weburl.URL
	at       time.Time
	of       string // URL of the other; "" where the record does not say
	original time.Time
	digest   vocab.ContentID
}

// source reads all files, while as many workers as there are cores parse.
func (i *importer) source(ctx context.Context) error {
	var workers errgroup.Group
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() error {
			for a := range i.work {
				i.bring(ctx, a)
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
		err = nil // Import says so
	}
	return errors.Join(err, i.urls.Err())
}

// bring hands a claimed answer to the stages that follow.
func (c *Crawl) bring(ctx context.Context, a answer) {
	result := urlserver.Result{Doc: a.Doc, Outcome: a.Outcome, Status: a.Status, Reason: a.Reason, Fetched: a.at}
	s := settled{result: result, before: c.known(a.Doc)}
	switch a.Outcome {
	case vocab.Fetched:
		c.page(ctx, a.Fetch, s)
	case vocab.Redirected:
		c.redirect(ctx, a.Fetch, a.Location, s)
	default:
		c.settle(s)
	}
}

func (i *importer) file(ctx context.Context, name string) (err error) {
	f, err := i.o.Open(name)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := warc.NewReader(f, warc.ReaderOptions{})
	before := i.report.Bytes
	for ctx.Err() == nil {
		rec, err := r.Next()
		i.report.Bytes = before + r.Offset()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			i.damaged(name, err)
			if !errors.As(err, new(*warc.DamageError)) {
				return nil // the other files may be whole
			}
			continue
		}
		i.report.Records++
		if err := i.record(ctx, name, rec); err != nil {
			return err
		}
		if err := i.tell(name); err != nil {
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

// tell reports progress now and then, and sees that the disk has room.
func (i *importer) tell(name string) error {
	now := time.Now()
	if now.Sub(i.told) < tellEvery {
		return nil
	}
	i.told = now
	if i.o.Progress != nil {
		i.count()
		i.o.Progress(name, i.report)
	}
	return i.enoughSpace()
}

func (i *importer) count() {
	s := i.store.Stats()
	i.report.Pages, i.report.Duplicates, i.report.Redirects = s.Pages, s.Duplicates, s.Redirects
}

// record takes one record.
func (i *importer) record(ctx context.Context, name string, rec *warc.Record) error {
	kind := rec.Type()
	if kind != warc.Response && kind != warc.Resource && kind != warc.Revisit {
		i.report.Other++
		return nil
	}
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
	f := i.crawler.Replay(&u, resp, at)
	switch f.Outcome {
	case vocab.Fetched, vocab.Redirected:
	case vocab.Gone:
		i.report.Gone++
	default:
		i.report.Unsupported++
		return nil
	}
	return i.claim(ctx, &u, answer{f, at}, rec.Digest())
}

// claim makes the document of an answer known and hands it to the workers, unless something as new is
// known of it.
func (i *importer) claim(ctx context.Context, u *weburl.URL, a answer, digest string) error {
	docs, err := i.urls.Add([]urlserver.Found{{URL: *u}})
	if err != nil {
		return err
	}
	a.Doc = docs[0]
	if a.Page != nil {
		a.Page.Doc = a.Doc
	}
	if digest != "" && len(i.digests) < maxDigests {
		i.digests[vocab.ContentOf([]byte(digest))] = a.Doc
	}
	for {
		claim, err := i.urls.Claim(a.Doc, u, a.at)
		switch {
		case err != nil:
			return err
		case claim == urlserver.Known:
			i.report.Old++
			return nil
		case claim == urlserver.Claimed:
			return send(ctx, i.work, a)
		}
		i.store.Hurry() // another version is on its way
		if i.sleep(ctx, idle); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// revisit takes the header of a page whose body stands elsewhere, for later: what it repeats may still
// be on its way.
func (i *importer) revisit(ctx context.Context, rec *warc.Record, u weburl.URL, at time.Time) error {
	r := revisit{url: u, at: at, of: rec.RefersTo(), digest: vocab.ContentOf([]byte(rec.Digest()))}
	if t, err := time.Parse(time.RFC3339Nano, rec.Get("WARC-Refers-To-Date")); err == nil {
		r.original = t.UTC().Truncate(time.Second)
	}
	if i.revisits = append(i.revisits, r); len(i.revisits) < maxRevisits {
		return nil
	}
	return i.repeat(ctx)
}

// repeat takes the revisits that wait.
func (i *importer) repeat(ctx context.Context) error {
	for len(i.revisits) > 0 && i.urls.Stats().InFlight > 0 {
		i.store.Hurry()
		if i.sleep(ctx, idle); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for _, r := range i.revisits {
		page, err := i.original(&r)
		if err != nil {
			return err
		}
		if page == nil {
			i.report.Unresolved++
			continue
		}
		if page.URL == r.url.String() { // still as it was
			i.report.Old++
			continue
		}
		page.URL, page.Fetched = r.url.String(), r.at
		f := vocab.Fetch{Target: vocab.Target{URL: page.URL}, Outcome: vocab.Fetched, Status: 200, Page: page}
		if err := i.claim(ctx, &r.url, answer{f, r.at}, ""); err != nil {
			return err
		}
	}
	i.revisits = i.revisits[:0]
	return nil
}

// original is the page that a revisit repeats, as it is in the repository; nil where that is not there,
// or a later version of it.
func (i *importer) original(r *revisit) (*vocab.Page, error) {
	doc := i.digests[r.digest]
	if u, err := weburl.Parse(r.of); err == nil {
		known, ok, err := i.urls.Lookup(u)
		if err != nil {
			return nil, err
		}
		if ok {
			doc = known.Doc
		}
	}
	doc, err := i.urls.Canonical(doc)
	if err != nil || doc == 0 {
		return nil, err
	}
	d, ok, err := i.urls.Get(doc)
	if err != nil || !ok || !d.IsPage() {
		return nil, err
	}
	if !r.original.IsZero() && d.Fetch.Fetched.After(r.original) {
		return nil, nil
	}
	rec, err := i.repo.Read(d.Fetch.Place)
	if err != nil {
		return nil, err
	}
	return &rec.Page, nil
}
