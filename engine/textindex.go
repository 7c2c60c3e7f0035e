package engine

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/linkdb"
	"anatomy/indexer"
	"anatomy/vocab"
	"anatomy/weburl"
)

// textHost is the host of the URLs of given texts. No such host can exist (RFC 6761 §6.4).
const textHost = "http://text.invalid/"

// TextURL is the URL under which a given text is indexed: its id, where that is a canonical http(s)
// URL, else a URL that [TextID] makes the id of again. The error is for an id that has no such URL:
// an empty one, one with a path segment . or .., one over 2,048 bytes.
func TextURL(id string) (string, error) {
	raw := id
	if !strings.HasPrefix(id, "http://") && !strings.HasPrefix(id, "https://") {
		raw = textHost + strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(id), "+", "%20"), "%2F", "/")
	}
	u, err := weburl.Parse(raw)
	if err != nil {
		return "", fmt.Errorf("id %q: %w", id, err)
	}
	if raw != id && (id == "" || TextID(u.String()) != id) {
		return "", fmt.Errorf("id %q cannot be kept", id)
	}
	return u.String(), nil
}

// TextID is the id of the text at a URL; of other pages, the URL.
func TextID(pageURL string) string {
	if path, ok := strings.CutPrefix(pageURL, textHost); ok {
		if id, err := url.PathUnescape(path); err == nil {
			return id
		}
	}
	return pageURL
}

// TextOptions say how to index given text.
type TextOptions struct {
	Workers    int   // that take lines apart, default one a core
	BatchBytes int64 // memory of a batch before it is sorted, default 48 MiB
	Log        *slog.Logger
	Bad        func(line int, err error)        // called for each line that is left out
	Progress   func(documents int, bytes int64) // called now and then
}

// A TextReport says what was indexed, and what it cost.
type TextReport struct {
	Documents, BadLines int
	Bytes               int64         // read
	Took                time.Duration // wall time
	CPU                 time.Duration // of this process, while it was indexed; 0 where the system does not tell
	IndexBytes          int64         // of the segments
}

// PerCPUSecond is the MB of text indexed in a second of CPU time.
func (r TextReport) PerCPUSecond() float64 {
	return float64(r.Bytes) / 1e6 / max(r.CPU.Seconds(), 1e-3)
}

// ErrHasPages says that a folder holds pages of a crawl, ErrGivenText that its index is of given text.
var (
	ErrHasPages  = errors.New("the data folder holds pages of a crawl")
	ErrGivenText = errors.New("the index was made of given text, and there are no pages to make it of")
)

// IndexText makes a data folder whose index holds given texts and no pages, in place of what texts it
// held before. Each line of text is a document: id, title, words of its path and body, parted by
// tabs; DocIDs count the good lines from 1. A line that is not so is left out. The error is
// ErrHasPages for a folder with a repository: its DocIDs are taken.
func IndexText(ctx context.Context, dir string, text io.Reader, o TextOptions) (report TextReport, err error) {
	began, cpu := time.Now(), processTime()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	w, err := datadir.Create(dir)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	b, err := newBuilder(dir, w, noNames, o.Log, nil)
	if err != nil {
		return report, err
	}
	if m := b.Manifest(); m.Indexed != 0 || m.Known != 0 || repositoryHolds(dir) {
		return report, fmt.Errorf("%s: %w", dir, ErrHasPages)
	}
	docs, err := docindex.Open(filepath.Join(dir, "docindex"), docindex.Options{}) // empty, for the readers of data folders
	if err != nil {
		return report, err
	}
	if err := docs.Close(); err != nil {
		return report, err
	}
	b.anew(o.BatchBytes, nil)
	t := &textIndexer{o: o, builder: b, report: &report}
	if err := t.run(ctx, text); err != nil {
		return report, err
	}
	if err := errors.Join(b.Flush(ctx), b.Settle(ctx)); err != nil {
		return report, err
	}
	if err := b.release(); err != nil {
		return report, err
	}
	for _, name := range b.Manifest().Segments {
		size, err := folderSize(datadir.Segment(dir, name))
		if err != nil {
			return report, err
		}
		report.IndexBytes += size
	}
	report.Took, report.CPU = time.Since(began), processTime()-cpu
	return report, nil
}

// noNames: given texts have no links, so the link database has no names.
func noNames(vocab.DocID) iter.Seq2[linkdb.Name, error] {
	return func(func(linkdb.Name, error) bool) {}
}

func repositoryHolds(dir string) bool {
	entries, err := os.ReadDir(datadir.Repository(dir))
	return err == nil && len(entries) > 0
}

// The bounds of given text.
const (
	maxTextLine = 64 << 20  // bytes of a line
	lineGroup   = 256 << 10 // bytes of lines, about, that one worker takes at a time
)

// Lines are some that follow one another, the first of which has the number first. Their
// documents come back over done.
type lines struct {
	first int
	at    []int // where each line begins in text; one too long is an empty one
	text  []byte
	long  map[int]bool // index of lines over the bound
	done  chan []given
}

// A given is what came of a line.
type given struct {
	document *indexer.Document
	err      error
}

type textIndexer struct {
	o       TextOptions
	builder *Builder
	report  *TextReport
	next    vocab.DocID
}

// run reads lines, has workers take them apart, and gives the documents to the builder in the order
// of the lines, so that neither workers nor memory change the index.
func (t *textIndexer) run(ctx context.Context, text io.Reader) error {
	workers := t.o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	group, ctx := errgroup.WithContext(ctx)
	tasks := make(chan *lines)
	turns := make(chan *lines, 2*workers) // the same, in order
	group.Go(func() error {
		defer close(tasks)
		defer close(turns)
		return readLines(text, func(l *lines) error {
			return errors.Join(send(ctx, turns, l), send(ctx, tasks, l))
		})
	})
	for range workers {
		group.Go(func() error {
			var buffer indexer.Buffer
			for l := range tasks {
				l.done <- l.documents(&buffer)
			}
			return nil
		})
	}
	group.Go(func() error {
		for l := range turns {
			select {
			case documents := <-l.done:
				if err := t.take(ctx, l, documents); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return group.Wait()
}

// readLines gives the lines of a text in groups. Of a line over the bound no more than a part is in
// memory at a time.
func readLines(text io.Reader, visit func(*lines) error) error {
	r := bufio.NewReaderSize(text, 1<<20)
	number, l := 1, newLines(1)
	for {
		start, long := len(l.text), false
		piece, err := r.ReadSlice('\n')
		for ; err == bufio.ErrBufferFull; piece, err = r.ReadSlice('\n') {
			if long = long || len(l.text)-start+len(piece) > maxTextLine; !long {
				l.text = append(l.text, piece...)
			}
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("engine: read text: %w", err)
		}
		if !long {
			l.text = append(l.text, piece...)
		}
		if err == io.EOF && len(l.text) == start && !long {
			break
		}
		if long {
			l.text, l.long[len(l.at)] = l.text[:start], true
		}
		l.at = append(l.at, start)
		number++
		if len(l.text) >= lineGroup {
			if err := visit(l); err != nil {
				return err
			}
			l = newLines(number)
		}
		if err == io.EOF {
			break
		}
	}
	if len(l.at) == 0 {
		return nil
	}
	return visit(l)
}

func newLines(first int) *lines {
	return &lines{first: first, text: make([]byte, 0, lineGroup+lineGroup/4), long: map[int]bool{}, done: make(chan []given, 1)}
}

// documents takes the lines apart. DocIDs are given out later.
func (l *lines) documents(buffer *indexer.Buffer) []given {
	all := make([]given, len(l.at))
	for i, start := range l.at {
		end := len(l.text)
		if i+1 < len(l.at) {
			end = l.at[i+1]
		}
		if l.long[i] {
			all[i].err = fmt.Errorf("over %d MB long", maxTextLine>>20)
			continue
		}
		all[i].document, all[i].err = readLine(l.text[start:end], buffer)
	}
	return all
}

// readLine makes a document, without DocID, of a line.
func readLine(line []byte, buffer *indexer.Buffer) (*indexer.Document, error) {
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	fields := bytes.SplitN(line, []byte("\t"), 5)
	if len(fields) != 4 {
		return nil, fmt.Errorf("want 4 fields parted by tabs: id, title, path words, body")
	}
	if !utf8.Valid(line) {
		for i, f := range fields {
			fields[i] = bytes.ToValidUTF8(f, []byte("\uFFFD"))
		}
	}
	at, err := TextURL(string(fields[0]))
	if err != nil {
		return nil, err
	}
	return indexer.ReadGiven(&indexer.Given{URL: at, Title: fields[1], Path: fields[2], Body: fields[3]}, buffer)
}

// take gives the documents of some lines to the builder.
func (t *textIndexer) take(ctx context.Context, l *lines, documents []given) error {
	for i, g := range documents {
		if g.err != nil {
			t.report.BadLines++
			if t.o.Bad != nil {
				t.o.Bad(l.first+i, g.err)
			}
			continue
		}
		t.next++
		g.document.Info.Doc = t.next
		if err := t.builder.Add(g.document, 0, nil); err != nil {
			return err
		}
		t.report.Documents++
		if t.builder.Full() {
			if err := t.builder.Flush(ctx); err != nil {
				return err
			}
		}
	}
	t.report.Bytes += int64(len(l.text))
	if t.o.Progress != nil {
		t.o.Progress(t.report.Documents, t.report.Bytes)
	}
	return nil
}
