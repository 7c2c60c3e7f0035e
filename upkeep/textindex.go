package upkeep

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/index"
	"anatomy/indexer"
	"anatomy/vocab"
	"anatomy/weburl"
)

// textHost is the prefix of the URLs of given texts. No such host can exist (RFC 6761 §6.4).
const textHost = "http://text.invalid/"

// TextURL returns the URL under which a given text is indexed: its id, if that is an http or https
// URL, or a URL from which [TextID] returns the id. It fails for an id without such a URL: an empty
// one, one with a path segment . or .., and one of over 2,048 bytes.
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

// TextID returns the id of the text at a URL, and other URLs unchanged.
func TextID(pageURL string) string {
	if path, ok := strings.CutPrefix(pageURL, textHost); ok {
		if id, err := url.PathUnescape(path); err == nil {
			return id
		}
	}
	return pageURL
}

// TextOptions are the options of IndexText. The zero value is ready to use.
type TextOptions struct {
	Workers    int   // workers that parse lines, default one per processor
	BatchBytes int64 // memory of a batch before it is sorted, default 48 MiB
	Log        *slog.Logger
	Bad        func(line int, err error)        // called for each line that is skipped; default: none
	Progress   func(documents int, bytes int64) // called after each group of lines; default: none
}

// A TextReport describes what was indexed, and the cost.
type TextReport struct {
	Documents, BadLines int
	Bytes               int64         // bytes of text read
	Took                time.Duration // wall time
	CPU                 time.Duration // CPU time of this process meanwhile; 0 if the system does not report it
	IndexBytes          int64         // bytes of the segments
}

// PerCPUSecond returns the MB of text indexed per second of CPU time.
func (r TextReport) PerCPUSecond() float64 {
	return float64(r.Bytes) / 1e6 / max(r.CPU.Seconds(), 1e-3)
}

// Errors about the source of an index.
var (
	ErrHasPages  = errors.New("the data folder holds pages of a crawl")
	ErrGivenText = errors.New("the index was made from given text: it has no pages to rebuild it from")
)

// IndexText makes a data folder whose index has given texts and no pages. It replaces the texts
// in the folder. Each line of text is a document: id, title, words of its path, and body, separated
// by tabs. Other lines are skipped. DocIDs number the documents from 1. The error wraps ErrHasPages
// for a folder with a repository, whose docIDs are in use.
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
	docs, err := docindex.OpenFolder(w, docindex.Options{}) // an empty one, which readers of data folders expect
	if err != nil {
		return report, err
	}
	if err := docs.Close(); err != nil {
		return report, err
	}
	b, err := index.New(index.Options{Dir: dir, Writer: w, BatchBytes: o.BatchBytes, Log: o.Log})
	if err != nil {
		return report, err
	}
	if m := b.Manifest(); m.Indexed != 0 || m.Known != 0 || datadir.HasRepository(dir) {
		return report, fmt.Errorf("%s: %w", dir, ErrHasPages)
	}
	b.StartOver(nil)
	t := &textIndexer{o: o, builder: b, report: &report}
	if err := t.run(ctx, text); err != nil {
		return report, err
	}
	if err := errors.Join(b.Flush(ctx), b.MergeAll(ctx)); err != nil {
		return report, err
	}
	if err := b.Release(); err != nil {
		return report, err
	}
	for _, name := range b.Manifest().Segments {
		size, err := datadir.FolderSize(datadir.Segment(dir, name))
		if err != nil {
			return report, err
		}
		report.IndexBytes += size
	}
	report.Took, report.CPU = time.Since(began), processTime()-cpu
	return report, nil
}

// The bounds of given text.
const (
	maxTextLine = 64 << 20  // bytes of a line
	lineGroup   = 256 << 10 // approximate bytes of lines that a worker parses at a time
)

// lines are consecutive lines of the text. Their documents are sent to done.
type lines struct {
	first int   // number of the first line
	at    []int // start of each line in text; too long lines are empty
	text  []byte
	long  map[int]bool // lines over maxTextLine, by index
	done  chan []parsedLine
}

// A parsedLine is the document of a line, or the reason why it has none.
type parsedLine struct {
	document *indexer.Document
	err      error
}

type textIndexer struct {
	o       TextOptions
	builder *index.Builder
	report  *TextReport
	next    vocab.DocID
}

// run reads lines, has workers parse them, and adds the documents to the builder in the order of
// the lines. So neither the number of workers nor the memory changes the index.
func (t *textIndexer) run(ctx context.Context, text io.Reader) error {
	workers := t.o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	group, ctx := errgroup.WithContext(ctx)
	tasks := make(chan *lines)
	turns := make(chan *lines, 2*workers) // the same groups, in order
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
				if err := t.addDocuments(ctx, l, documents); err != nil {
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

// readLines calls visit with groups of lines. It buffers only a part of a line over maxTextLine.
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
			return fmt.Errorf("read the text: %w", err)
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
	return &lines{first: first, text: make([]byte, 0, lineGroup+lineGroup/4), long: map[int]bool{}, done: make(chan []parsedLine, 1)}
}

// documents parses the lines. DocIDs are assigned later.
func (l *lines) documents(buffer *indexer.Buffer) []parsedLine {
	all := make([]parsedLine, len(l.at))
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

// readLine returns the document of a line, without a docID.
func readLine(line []byte, buffer *indexer.Buffer) (*indexer.Document, error) {
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	fields := bytes.SplitN(line, []byte("\t"), 5)
	if len(fields) != 4 {
		return nil, fmt.Errorf("want 4 fields separated by tabs: id, title, path words, body")
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
	return indexer.ParseFields(&indexer.Fields{URL: at, Title: fields[1], Path: fields[2], Body: fields[3]}, buffer)
}

// addDocuments adds the documents of some lines to the builder.
func (t *textIndexer) addDocuments(ctx context.Context, l *lines, documents []parsedLine) error {
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
		if err := t.builder.AddPage(g.document, 0, nil); err != nil {
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
