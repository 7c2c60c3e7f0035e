// Command all repeats the experiments of the papers that anatomy is built after, each at a small size,
// and writes one page of HTML with the papers' figures beside ours.
//
//	go run ./lab/all [--output report.html] [--only urlcache,dns]
//	go run ./lab/all --docsweb PROGRAM --pages DIR
//	go run ./lab/all --data FOLDER --translations FOLDER --truth pages.tsv --topicweb FOLDER --topic FOLDER
//
// Each experiment is a program of lab, which can be run by itself at its full size; the report has its
// command, its output and its plots. PROGRAM is a built docsweb, DIR the folder of its small web; with
// them the pipeline is measured on real pages, too, and ports 80, 443 and 5353 on loopback must be free.
// Experiments on the links of a crawl use that of --data, else the one that firstbench made of docsweb.
// With --translations, a crawl of sites in several languages, and a table of the truth, pairs of
// translations are counted. With --topicweb and --topic, focused crawls are simulated, see lab/focused.
// Times depend on the machine, and what they are compared with was measured in 1998 to 2014.
//
// It exits with status 1 where an experiment fails, or does not print a figure that the report needs.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anatomy/lab/rig"
)

// options are the flags.
type options struct {
	docsweb, pages string
	data           string
	translations   string
	truth          string
	topicWeb       string
	topic          string
	output         string
	only           string
	kept           string // where firstbench leaves its crawl
}

func main() {
	var o options
	flag.StringVar(&o.docsweb, "docsweb", "", "the built `PROGRAM` docsweb; without it the experiments on real pages are left out")
	flag.StringVar(&o.pages, "pages", "", "`FOLDER` of docsweb's pages")
	flag.StringVar(&o.data, "data", "", "the data `FOLDER` of a crawl, whose links are measured")
	flag.StringVar(&o.translations, "translations", "", "the data `FOLDER` of a crawl of sites in several languages")
	flag.StringVar(&o.truth, "truth", "", "the `TABLE` of its pages, as for lab/parallel")
	flag.StringVar(&o.topicWeb, "topicweb", "", "the `FOLDER` of a web for focused crawls")
	flag.StringVar(&o.topic, "topic", "", "the `FOLDER` of a topic of that web")
	flag.StringVar(&o.output, "output", "report.html", "write the report to `FILE`")
	flag.StringVar(&o.only, "only", "", "run only the experiments `NAME,NAME`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "all:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, o options) error {
	work, err := os.MkdirTemp("", "anatomy-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	o.kept = filepath.Join(work, "firstbench of docsweb")
	chosen, err := o.chosen()
	if err != nil {
		return err
	}
	if err := os.Mkdir(o.kept, 0o700); err != nil {
		return err
	}
	var results []*result
	var failed error
	for _, e := range chosen {
		fmt.Fprintf(out, "%-12s %s … ", e.program, e.Source)
		r, err := e.run(ctx, work, o)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		if err != nil {
			r.Trouble = err.Error()
			failed = errors.Join(failed, fmt.Errorf("%s: %w", e.program, err))
			fmt.Fprintln(out, "failed")
		} else {
			fmt.Fprintf(out, "%.0f s\n", r.Took.Seconds())
		}
		results = append(results, r)
	}
	var page bytes.Buffer
	if err := write(&page, results); err != nil {
		return err
	}
	if err := os.WriteFile(o.output, page.Bytes(), 0o644); err != nil {
		return errors.Join(failed, err)
	}
	fmt.Fprintln(out, "report:", o.output)
	return failed
}

// chosen returns the experiments of --only; without it, all that can run.
func (o *options) chosen() ([]experiment, error) {
	if (o.docsweb == "") != (o.pages == "") {
		return nil, errors.New("--docsweb and --pages belong together")
	}
	if (o.translations == "") != (o.truth == "") {
		return nil, errors.New("--translations and --truth belong together")
	}
	if (o.topicWeb == "") != (o.topic == "") {
		return nil, errors.New("--topicweb and --topic belong together")
	}
	if flag.NArg() > 0 {
		return nil, fmt.Errorf("%q is no flag", flag.Arg(0))
	}
	var names []string
	if o.only != "" {
		names = strings.Split(o.only, ",")
	}
	for _, name := range names {
		if !slices.ContainsFunc(experiments, func(e experiment) bool { return e.program == name }) {
			return nil, fmt.Errorf("there is no experiment %q; there are %s", name, known())
		}
	}
	if o.data == "" && o.docsweb != "" && (len(names) == 0 || slices.Contains(names, "firstbench")) {
		o.data = filepath.Join(o.kept, "data") // firstbench is the first experiment
	}
	var chosen []experiment
	needs := map[string]string{} // by program, the flags that an experiment of it lacks
	for _, e := range experiments {
		wanted := len(names) == 0 || slices.Contains(names, e.program)
		if missing := e.missing(o); wanted && missing != "" {
			needs[e.program] = missing
			wanted = false
		}
		if wanted {
			chosen = append(chosen, e)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(chosen, func(e experiment) bool { return e.program == name }) {
			return nil, fmt.Errorf("%s needs %s", name, needs[name])
		}
	}
	return chosen, nil
}

// missing returns the flags that the experiment's arguments need and that were not given.
func (e *experiment) missing(o *options) string {
	for _, need := range []struct{ slot, value, flags string }{
		{"PROGRAM", o.docsweb, "--docsweb and --pages"},
		{"FOLDER", o.data, "--data, or firstbench with --docsweb and --pages"},
		{"TRANSLATIONS", o.translations, "--translations and --truth"},
		{"WEB", o.topicWeb, "--topicweb and --topic"},
	} {
		if need.value == "" && slices.Contains(e.args, need.slot) {
			return need.flags
		}
	}
	return ""
}

func known() string {
	var names []string
	for _, e := range experiments {
		if !slices.Contains(names, e.program) {
			names = append(names, e.program)
		}
	}
	return strings.Join(names, ", ")
}

// limit bounds an experiment. All of them take some fifteen minutes on two cores, and several times as long
// where other work runs.
const limit = 30 * time.Minute

// run builds and runs an experiment, and finds the figures in what it prints.
func (e *experiment) run(ctx context.Context, work string, o options) (*result, error) {
	r := &result{experiment: *e, Command: strings.Join(append([]string{"go run ./lab/" + e.program}, e.args...), " ")}
	plots, err := os.MkdirTemp(work, "plots of "+e.program)
	if err != nil {
		return r, err
	}
	var args []string
	for _, a := range e.args {
		args = append(args, strings.NewReplacer("PROGRAM", o.docsweb, "DIR", o.pages, "PLOTS", plots, "KEPT", o.kept,
			"FOLDER", o.data, "TRANSLATIONS", o.translations, "TRUTH", o.truth, "WEB", o.topicWeb,
			"TOPIC", o.topic).Replace(a))
	}
	program, err := rig.BuildPackage(work, "anatomy/lab/"+e.program)
	if err != nil {
		return r, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	// As by Ctrl-C, so that what the experiment has started ends with it.
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	var trouble bytes.Buffer
	c.Stderr = &trouble
	began := time.Now()
	output, err := c.Output()
	r.Took, r.Output = time.Since(began), string(output)
	if err != nil {
		return r, fmt.Errorf("%w: %s", err, bytes.TrimSpace(trouble.Bytes()))
	}
	if err := r.read(plots); err != nil {
		return r, err
	}
	return r, r.find()
}
