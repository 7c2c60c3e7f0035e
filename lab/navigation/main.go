// Command navigation measures whether names lead to the pages that links of other sites call by
// them, without these links' texts.
//
//	go run ./lab/navigation --data FOLDER --work FOLDER
//
// A query is a text of links from other sites, if all links with this text lead to one page; that
// page is the answer. Half of these texts are used; the other half is for verification. The web is
// crawled once more, without network and without the texts of the links that are queries: a link
// remains, and its text stays in the page that has it, but it does not count for the target,
// whatever site it is on. The table has MRR@10 and success@1 by default, without PageRank, without
// texts of links (what remains are other texts) and without both, with the differences of MRR@10 to
// the default and their 95 % interval by a paired bootstrap. WORK keeps the data folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"anatomy/disk/linkdb"
	"anatomy/eval"
	"anatomy/lab/rig"
	"anatomy/lab/rig/replay"
	"anatomy/searcher"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

func main() {
	data := flag.String("data", "anatomy-data", "read the crawl of the data folder `DIR`")
	work := flag.String("work", "", "make a data folder in `DIR`")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *data, *work); err != nil {
		fmt.Fprintln(os.Stderr, "navigation:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, data, work string) error {
	if work == "" {
		return errors.New("--work DIR is needed")
	}
	w, err := readWeb(data)
	if err != nil {
		return err
	}
	defer w.links.Close()
	all, err := readNames(w.links)
	if err != nil {
		return err
	}
	questions := w.questions(all)
	answers, links, err := w.without(all)
	if err != nil {
		return err
	}
	dir := filepath.Join(work, "navigation")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := replay.Crawl(ctx, dir, answers); err != nil {
		return err
	}
	left, err := countLeft(dir, all)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d names; %d links lost their text, %d others have one of the names\n",
		len(questions), links, left)
	var titled, other []eval.Judged
	for _, q := range questions {
		if q.titled {
			titled = append(titled, q.Judged)
		} else {
			other = append(other, q.Judged)
		}
	}
	return printTable(ctx, out, dir, [][]eval.Judged{titled, other})
}

// countLeft returns the number of links that have a name as their text.
func countLeft(dir string, all names) (n int, err error) {
	links, err := linkdb.OpenFolder(dir)
	if err != nil {
		return 0, err
	}
	defer links.Close()
	for a, err := range links.Anchors() {
		if err != nil {
			return 0, err
		}
		for _, t := range a.Texts {
			if _, isName := all[termsOf(t.Text)]; isName {
				n += len(t.Sources)
			}
		}
	}
	return n, nil
}

// settings are the weights of the columns.
var settings = []struct {
	name          string
	rank, anchors bool
}{{"default", true, true}, {"no rank", false, true}, {"no anchors", true, false}, {"neither", false, false}}

func printTable(ctx context.Context, out io.Writer, dir string, sets [][]eval.Judged) error {
	results := make([][][][]string, len(sets)) // by set, setting and query
	for _, setting := range settings {
		weights := scoring.Default.Clone()
		if !setting.rank {
			weights.Rank, weights.Prose.Rank = 0, 0
		}
		if !setting.anchors {
			weights = weights.Without(vocab.Anchor, vocab.AnchorOut)
		}
		s, err := searcher.Open(dir, searcher.Options{Weights: weights})
		if err != nil {
			return err
		}
		err = s.Learn(ctx)
		r := eval.Runner{Searcher: s}
		for i, judged := range sets {
			var run [][]eval.Entry
			if err == nil {
				run, err = r.Run(ctx, judged)
			}
			results[i] = append(results[i], eval.Pages(run))
		}
		if err := errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "| names | ranking | MRR@10 | success@1 | difference of MRR@10 |")
	fmt.Fprintln(out, "|---|---|---|---|---|")
	for i, name := range []string{"terms in the title", "others"} {
		for k, setting := range settings {
			m := eval.Measure(sets[i], results[i][k])
			gain := ""
			if k > 0 {
				gain = rig.GainText(eval.Compare(sets[i], results[i][0], results[i][k], 1).Gain)
			}
			fmt.Fprintf(out, "| %s (%d) | %s | %s | %s | %s |\n", name, len(sets[i]), setting.name,
				rig.Share(m.MRR10), rig.Share(m.Success1), gain)
		}
	}
	return nil
}
