package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"anatomy/collection"
	"anatomy/disk/datadir"
	"anatomy/disk/segment"
	"anatomy/eval"
	"anatomy/searcher"
	"anatomy/searcher/scoring"
	"anatomy/upkeep"
	"anatomy/vocab"
)

const depth = 10 // results of a query

// settings are Lucene's, see Lucene.java.
var settings = []string{"text", "fields", "names"}

//go:embed Lucene.java
var luceneSource []byte

func (b *bench) columns() []string {
	names := []string{"default", "`bm25`"}
	if slices.Contains(b.engines, "lucene") {
		for _, s := range settings {
			names = append(names, "Lucene, "+s)
		}
	}
	if slices.Contains(b.engines, "bleve") {
		names = append(names, "bleve, any", "bleve, all first")
	}
	return names
}

// answer returns the results of the queries of some sets over one text: by set, column and query.
func (b *bench) answer(ctx context.Context, sets []*set) ([][][][]string, error) {
	results := make([][][][]string, len(sets))
	text := sets[0].text
	fmt.Fprintln(os.Stderr, text)
	name := fmt.Sprintf("%s-%08x", filepath.Base(text), crc32.ChecksumIEEE([]byte(text)))
	dir := filepath.Join(b.work, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	tsv, data := filepath.Join(dir, "text.tsv"), text
	if err := once(tsv, func(to string) error { return writeText(text, to) }); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(text, "docs.jsonl")); err == nil {
		data = filepath.Join(dir, "anatomy")
		if err := once(data, func(to string) error {
			return command(ctx, b.anatomy, "index", "--text", tsv, "--data", to).Run()
		}); err != nil {
			return nil, err
		}
	}
	if err := keepAnswerable(tsv, sets); err != nil {
		return nil, err
	}
	for _, w := range []searcher.Weights{scoring.Default, scoring.BM25} {
		if err := ours(ctx, data, w, sets, results); err != nil {
			return nil, err
		}
	}
	for _, engine := range b.engines {
		var err error
		switch engine {
		case "lucene":
			err = b.lucene(ctx, dir, sets, results)
		case "bleve":
			err = b.bleve(ctx, dir, sets, results)
		default:
			err = fmt.Errorf("there is no engine %q", engine)
		}
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// keepAnswerable leaves out the queries of which no right page is in the text.
func keepAnswerable(tsv string, sets []*set) error {
	f, err := os.Open(tsv)
	if err != nil {
		return err
	}
	defer f.Close()
	pages, lines := map[string]bool{}, bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		id, _, _ := strings.Cut(line, "\t")
		pages[eval.Page(id)] = true
	}
	for _, s := range sets {
		s.judged = slices.DeleteFunc(s.judged, func(j eval.Judged) bool {
			for page, grade := range j.Grades {
				if grade > 0 && pages[page] {
					return false
				}
			}
			return true
		})
		if len(s.judged) == 0 {
			return fmt.Errorf("no query of %s has a right page in %s", s.name, s.text)
		}
	}
	return nil
}

// once makes a file or folder unless it is there.
func once(path string, create func(to string) error) error {
	if exists(path) {
		return nil
	}
	part := path + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	return errors.Join(create(part), os.Rename(part, path))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	return c
}

// ours appends our results to those of each set.
func ours(
	ctx context.Context, data string, w searcher.Weights, sets []*set, results [][][][]string,
) error {
	links := collection.NewSharedLinks(data)
	defer links.Close()
	s, err := searcher.Open(data, searcher.Options{Weights: w, Links: links})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Learn(ctx); err != nil {
		return err
	}
	r := eval.Runner{Searcher: s, Mode: eval.Fill, Depth: depth, ID: upkeep.TextID}
	for i, set := range sets {
		run, err := r.Run(ctx, set.judged)
		if err != nil {
			return err
		}
		results[i] = append(results[i], eval.Pages(run))
	}
	return nil
}

// lucene appends the results of Lucene, setting by setting.
func (b *bench) lucene(ctx context.Context, dir string, sets []*set, results [][][][]string) error {
	source := filepath.Join(b.work, "Lucene.java")
	if err := os.WriteFile(source, luceneSource, 0o644); err != nil {
		return err
	}
	run := func(args ...string) error {
		jars := filepath.Join(b.programs, "jars", "*")
		return command(ctx, b.java, append([]string{"-Xmx2g", "-cp", jars, source}, args...)...).Run()
	}
	for _, setting := range settings {
		index := filepath.Join(dir, "lucene-"+setting)
		err := once(index, func(to string) error {
			return run("build", filepath.Join(dir, "text.tsv"), to, sets[0].lang, setting)
		})
		if err != nil {
			return err
		}
		err = askAll(dir, "lucene-"+setting, sets, results, func(files []string) error {
			return run(append([]string{"ask", index, sets[0].lang, setting, fmt.Sprint(depth)}, files...)...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// bleve appends the results of bleve for any of the words, and for all words first and then any.
func (b *bench) bleve(ctx context.Context, dir string, sets []*set, results [][][][]string) error {
	program, index := filepath.Join(b.programs, "bleve"), filepath.Join(dir, "bleve")
	err := once(index, func(to string) error {
		return command(ctx, program, "build", filepath.Join(dir, "text.tsv"), to).Run()
	})
	if err != nil {
		return err
	}
	ways := map[string][][][][]string{}
	for _, mode := range []string{"any", "all"} {
		ways[mode] = make([][][][]string, len(sets))
		err := askAll(dir, "bleve-"+mode, sets, ways[mode], func(files []string) error {
			for i := 0; i < len(files); i += 2 {
				to, k := files[i+1], fmt.Sprint(depth)
				err := command(ctx, program, "run", index, files[i], mode, "multi", k, to).Run()
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for i := range sets {
		any, all := ways["any"][i][0], ways["all"][i][0]
		filled := make([][]string, len(all))
		for k := range all {
			filled[k] = fill(all[k], any[k])
		}
		results[i] = append(results[i], any, filled)
	}
	return nil
}

// fill returns the first results, and others after them, each once and at most depth.
func fill(first, others []string) (all []string) {
	for _, page := range slices.Concat(first, others) {
		if len(all) < depth && !slices.Contains(all, page) {
			all = append(all, page)
		}
	}
	return all
}

// askAll writes the queries of each set, has them answered, and appends the results. Ask is called
// with pairs of a file of queries and one for their results, of those that were not asked before.
func askAll(
	dir, name string, sets []*set, results [][][][]string, ask func(files []string) error,
) error {
	var missing, runs []string
	for _, s := range sets {
		var b strings.Builder
		for _, j := range s.judged {
			b.WriteString(oneLine(j.Query) + "\n")
		}
		at := filepath.Join(dir, fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(b.String()))))
		run := at + "." + name
		if runs = append(runs, run); exists(run) {
			continue
		}
		if err := os.WriteFile(at+".queries", []byte(b.String()), 0o644); err != nil {
			return err
		}
		missing = append(missing, at+".queries", run+".part")
	}
	if len(missing) > 0 {
		if err := ask(missing); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for i := 1; i < len(missing); i += 2 {
		if err := os.Rename(missing[i], strings.TrimSuffix(missing[i], ".part")); err != nil {
			return err
		}
	}
	for i, s := range sets {
		found, err := readRun(runs[i], s.judged)
		if err != nil {
			return err
		}
		results[i] = append(results[i], found)
	}
	return nil
}

// readRun reads lines of a query and the ids of its results, separated by tabs.
func readRun(file string, judged []eval.Judged) ([][]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != len(judged) {
		return nil, fmt.Errorf("%s: %d lines for %d queries", file, len(lines), len(judged))
	}
	results := make([][]string, len(judged))
	for i, line := range lines {
		for _, id := range strings.Split(line, "\t")[1:] {
			if page := eval.Page(id); !slices.Contains(results[i], page) {
				results[i] = append(results[i], page)
			}
		}
	}
	return results, nil
}

// writeText writes lines of id, title, words of the path and body of the documents of a text.
func writeText(text, to string) error {
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	write := func(id, title, path, body string) error {
		_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", id, oneLine(title), oneLine(path), oneLine(body))
		return err
	}
	docs, err := os.ReadFile(filepath.Join(text, "docs.jsonl"))
	if errors.Is(err, os.ErrNotExist) {
		err = writePages(text, write)
	} else if err == nil {
		err = writeDocs(docs, write)
	}
	return errors.Join(err, w.Flush(), f.Close())
}

func writeDocs(jsonl []byte, write func(id, title, path, body string) error) error {
	for line := range bytes.Lines(jsonl) {
		var doc struct {
			ID    string `json:"_id"`
			Title string `json:"title"`
			Text  string `json:"text"`
		}
		if err := json.Unmarshal(line, &doc); err != nil {
			return err
		}
		if err := write(doc.ID, doc.Title, "", doc.Text); err != nil {
			return err
		}
	}
	return nil
}

// writePages writes the pages of a data folder that were fetched.
func writePages(data string, write func(id, title, path, body string) error) error {
	m, err := datadir.ReadManifest(data)
	if err != nil {
		return err
	}
	cache, err := segment.NewCache(segment.CacheOptions{Blocks: 8 << 20, Docs: 8 << 20})
	if err != nil {
		return err
	}
	defer cache.Close()
	seen := map[vocab.DocID]bool{}
	for _, name := range slices.Backward(m.Segments) { // the newest version of a page first
		seg, err := segment.Open(datadir.Segment(data, name), cache)
		if err != nil {
			return err
		}
		err = seg.EachDoc(func(_ vocab.Ordinal, info vocab.DocInfo) error {
			if seen[info.Doc] || !info.Crawled {
				return nil
			}
			seen[info.Doc] = true
			return write(info.URL, info.Title, pathWords(info.URL), vocab.WithoutSectionMarks(info.Text))
		})
		for _, doc := range seg.Tombstones() {
			seen[doc] = true
		}
		if err = errors.Join(err, seg.Close()); err != nil {
			return err
		}
	}
	return nil
}

// pathWords returns the words of the path of a URL.
func pathWords(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	_, path, _ := strings.Cut(rest, "/")
	return strings.NewReplacer("/", " ", "-", " ", "_", " ", ".", " ", "?", " ", "=", " ", "&", " ").Replace(path)
}

// oneLine returns a text with spaces for tabs and line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
