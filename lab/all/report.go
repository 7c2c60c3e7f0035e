package main

import (
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// A result is what came of an experiment.
type result struct {
	experiment
	Command, Output string
	Took            time.Duration
	Ours            []string // for each figure
	Plots           []template.HTML
	Trouble         string // why it failed, or nothing
}

// read reads the plots that the experiment has drawn.
func (r *result) read(folder string) error {
	names, err := filepath.Glob(filepath.Join(folder, "*.svg"))
	if err != nil {
		return err
	}
	for _, name := range names {
		svg, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		r.Plots = append(r.Plots, template.HTML(svg)) // package plot has escaped its texts
	}
	return nil
}

// find finds each figure in the output.
func (r *result) find() error {
	for _, f := range r.figures {
		groups := regexp.MustCompile(f.pattern).FindStringSubmatch(r.Output)
		if groups == nil {
			return fmt.Errorf("its output lacks %q", f.what)
		}
		r.Ours = append(r.Ours, strings.Join(groups[1:], ", "))
	}
	return nil
}

// A row of the table is a figure of the paper beside ours.
type row struct{ Source, What, Paper, Ours string }

func rows(results []*result) (all []row) {
	for _, r := range results {
		for i, f := range r.figures {
			ours := "failed"
			if i < len(r.Ours) {
				ours = r.Ours[i]
			}
			all = append(all, row{r.Source, f.what, f.paper, ours})
		}
	}
	return all
}

func write(w io.Writer, results []*result) error {
	return page.Execute(w, map[string]any{
		"Rows": rows(results), "Results": results, "Date": time.Now().UTC().Format(time.DateOnly),
		"Machine": fmt.Sprintf("%s, %s/%s, %d cores", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
	})
}

var page = template.Must(template.New("report").Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Figures of the papers beside anatomy's</title>
<style>
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 70rem; margin: auto; padding: 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8886 }
pre, .plot { overflow-x: auto }
.trouble { border-left: 4px solid #d33; padding-left: .6rem }
</style>
<h1>Figures of the papers beside anatomy’s</h1>
<p>Measured on {{.Date}} with {{.Machine}}, each experiment at a small size. Times are those of this machine.
<table>
<thead><tr><th scope="col">Source<th scope="col">Figure<th scope="col">The paper<th scope="col">anatomy</thead>
<tbody>
{{range .Rows}}<tr><td>{{.Source}}<td>{{.What}}<td>{{or .Paper "–"}}<td>{{.Ours}}
{{end}}</tbody>
</table>
{{range .Results}}<h2>{{.Source}}</h2>
<p>{{.About}}
<p><code>{{.Command}}</code>, {{printf "%.0f" .Took.Seconds}} s
{{with .Trouble}}<p class="trouble">{{.}}
{{end}}{{range .Plots}}<div class="plot" tabindex="0">{{.}}</div>
{{end}}<details><summary>Output</summary><pre tabindex="0">{{.Output}}</pre></details>
{{end}}</html>
`))
