// Command judged asks judged queries of anatomy and of other search libraries over the same text, and
// prints one table in Markdown.
//
//	go run ./lab/judged --sets FILE --programs FOLDER --work FOLDER [--engines "lucene bleve"]
//
// A line of FILE describes a set of queries by its name, the language, the text that is searched,
// and the queries with their judgements, separated by tabs:
//
//	CISI            en  collections/cisi      collections/cisi
//	questions, test en  /data/of/a/crawl      typed/question-test.tsv
//
// Names of files are relative to the folder of FILE. The text is that of a collection, which has
// docs.jsonl, or of a data folder; of this our answers also have the links, and the others get title,
// words of the URL and text as it is stored. Judgements are a TSV of [eval.ReadTSV], the folder of a
// collection with queries.tsv and qrels.txt, or two files with a comma between them.
//
// FOLDER of the programs has jars/ of Lucene 10 (core, analysis-common) and bleve, which takes the
// arguments `build TEXT INDEX` and `run INDEX QUERIES MODE multi K RUN`. The settings of Lucene are
// those of Lucene.java. Indexes and runs that WORK has are used again. Queries without a right page in the
// text are left out.
//
// bleve ranks by BM25 over title, words of the URL and text with its standard analyzer: any of the
// words, or all and then any.
//
// A cell is nDCG@10 where judgements have grades, else MRR@10. The last column compares our default
// with the best of the other columns but bleve: the difference and its 95 % interval by a paired
// bootstrap.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"anatomy/eval"
	"anatomy/lab/rig"
)

// A set is a set of judged queries.
type set struct {
	name, lang string
	text       string // folder of the text that is searched
	judged     []eval.Judged
	graded     bool
}

// A bench is a comparison of engines.
type bench struct {
	programs, work string
	anatomy        string // our program
	engines        []string
	java           string
}

func main() {
	var b bench
	sets := flag.String("sets", "", "file that describes the sets")
	flag.StringVar(&b.programs, "programs", "", "folder of the other libraries")
	flag.StringVar(&b.work, "work", "", "folder for indexes and runs")
	flag.StringVar(&b.java, "java", "java", "program that runs Java 21 or later")
	flag.StringVar(&b.anatomy, "anatomy", "", "our program, which indexes collections (default: built from this tree)")
	engines := flag.String("engines", "lucene bleve", "libraries to compare with")
	flag.Parse()
	b.engines = strings.Fields(*engines)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx, *sets); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, file string) error {
	sets, err := readSets(file)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.work, 0o755); err != nil {
		return err
	}
	if b.anatomy == "" {
		if b.anatomy, err = rig.Build(b.work); err != nil {
			return err
		}
	}
	var rows []row
	for _, corpus := range byText(sets) {
		results, err := b.answer(ctx, corpus)
		if err != nil {
			return err
		}
		for i, s := range corpus {
			rows = append(rows, newRow(s, results[i]))
		}
	}
	return printTable(os.Stdout, b.columns(), rows)
}

// byText groups sets that ask the same text.
func byText(sets []*set) (all [][]*set) {
	at := map[string]int{}
	for _, s := range sets {
		i, known := at[s.text]
		if !known {
			i = len(all)
			at[s.text], all = i, append(all, nil)
		}
		all[i] = append(all[i], s)
	}
	return all
}

// readSets reads the file that describes the sets. Lines that are empty or begin with # are left out.
func readSets(file string) (sets []*set, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, n := bufio.NewScanner(f), 0
	for lines.Scan() {
		n++
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		s, err := readSet(filepath.Dir(file), strings.FieldsFunc(line, func(r rune) bool { return r == '\t' }))
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", file, n, err)
		}
		sets = append(sets, s)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("%s describes no set", file)
	}
	return sets, nil
}

func readSet(dir string, fields []string) (*set, error) {
	if len(fields) != 4 {
		return nil, errors.New("want name, language, text and judgements, separated by tabs")
	}
	path := func(name string) string {
		if name = strings.TrimSpace(name); filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(dir, name)
	}
	s := &set{
		name: strings.TrimSpace(fields[0]), lang: strings.TrimSpace(fields[1]), text: path(fields[2]),
	}
	queries, qrels, two := strings.Cut(fields[3], ",")
	if !two && strings.HasSuffix(strings.TrimSpace(queries), ".tsv") {
		f, err := os.Open(path(queries))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		s.judged, err = eval.ReadTSV(f, queries)
		return s, err
	}
	if !two {
		queries, qrels = filepath.Join(queries, "queries.tsv"), filepath.Join(queries, "qrels.txt")
	}
	q, err := os.Open(path(queries))
	if err != nil {
		return nil, err
	}
	defer q.Close()
	r, err := os.Open(path(qrels))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s.graded = true
	backwards := strings.Contains(queries, "cranfield") // its best grade is 1
	s.judged, err = eval.ReadTREC(q, queries, r, qrels, backwards)
	return s, err
}
