package ranks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/rankpage"
	"anatomy/internal/plural"
	"anatomy/pagerank"
	"anatomy/pagerank/bvgraph"
	"anatomy/ranking"
	"anatomy/weburl"
)

// edgeFiles are the flags of pagerank for any graph: its file, and the file for the ranks.
type edgeFiles struct {
	edges, output  string
	vertices, warm string
	hostRanks      bool
	bv             string
}

// rank ranks the graph. Unlike links of a page to itself, self-links of the graph count.
func (e *edgeFiles) rank(c *cobra.Command, f *rankFlags, show func(string)) error {
	o := f.options.Options
	in := c.InOrStdin()
	if e.edges != "-" {
		f, err := os.Open(e.edges)
		if err != nil {
			return cli.WithHint(err, "--edges takes the name of a file, or - for standard input")
		}
		defer f.Close()
		in = f
	}
	if err := e.checkOutput(); err != nil {
		return err
	}
	done, err := e.open(&o)
	defer done()
	if err != nil {
		return withEdgeHint(err)
	}
	if o.Teleport, err = f.nodes(); err != nil {
		return cli.WithHint(err, "a line is a node of the graph, optionally followed by a weight; # starts a comment")
	}
	o.SelfLinks = true
	o.Reading = func(links int) { show("reading: " + plural.Count(links, "link")) }
	if e.bv != "" {
		return e.writeBV(c, in, o, show)
	}
	var topics []pagerank.EdgeTopic
	if f.topics != "" {
		if topics, err = readFile(f.topics, ranking.ReadNodeTopics); err != nil {
			return cli.WithHint(err, "a line is the name of a vector, a node, and optionally a weight; # starts a comment")
		}
	}
	o.Keep = f.json || f.html != ""
	began := time.Now()
	var residuals []float64
	progress := o.Progress
	o.Progress = func(iteration int, residual float64) {
		residuals = append(residuals, residual)
		progress(iteration, residual)
	}
	var results []*pagerank.Result
	write := func(out io.Writer) (err error) {
		results, err = e.compute(c.Context(), in, out, o, f.options.Method, topics) // writes nothing if it fails
		return err
	}
	err = cli.WriteOutput(c, e.output, cli.GzipFor(e.output, write))
	show("")
	if err != nil {
		return withEdgeHint(err)
	}
	r, where := results[0], ""
	if r.OnDisk {
		where = ", from disk"
	}
	residual := residuals[len(residuals)-1]
	fmt.Fprintf(c.ErrOrStderr(), "%s, %s%s; %s\n", plural.Count(r.Nodes, "node"), plural.Count(r.Links, "link"), where, rankpage.Iterations(r.Iterations, residual, o.Tolerance))
	return e.report(c, f, o, results, topics, residuals, began)
}

// checkOutput returns an error if the ranks would replace what they are computed from.
func (e *edgeFiles) checkOutput() error {
	out, err := os.Stat(e.output)
	if err != nil || !out.Mode().IsRegular() {
		return nil
	}
	for flag, name := range map[string]string{"edges": e.edges, "vertices": e.vertices} {
		if in, err := os.Stat(name); err == nil && os.SameFile(in, out) {
			return cli.UsageErrorf("--output is the file of --%s, which the ranks would replace", flag)
		}
	}
	return nil
}

// withEdgeHint adds a hint to an error of ranking a graph.
func withEdgeHint(err error) error {
	switch {
	case errors.Is(err, pagerank.ErrNoSuchNode):
		return cli.WithHint(err, "--personalize, --personalize-file, --topics and --warm take nodes as they are in the file of --edges, or their names in that of --vertices")
	case errors.Is(err, pagerank.ErrTooLarge):
		return cli.WithHint(err, "raise --memory, or leave it out")
	case errors.Is(err, pagerank.ErrNoHosts):
		return cli.WithHint(err, "--method hosts and vouched need URLs for nodes, as \"links export --urls\" writes them")
	case errors.Is(err, syscall.ENOSPC), errors.As(err, new(*cli.HintError)):
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.EISDIR):
		return cli.WithHint(err, "--edges, --vertices and --warm take the names of files")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return cli.WithHint(err, "the file is cut off: copy it again")
	case errors.As(err, new(*pagerank.ListError)):
		return cli.WithHint(err, "a line has two nodes, source and target, separated by spaces or a tab: numbers, or names if the first line has names; # and % start a comment")
	}
	return cli.WithHint(err, "for what each file must have: anatomy pagerank --help")
}

// compute ranks the graph by a method, or by topics if there are any, and writes the ranks.
func (e *edgeFiles) compute(
	ctx context.Context, in io.Reader, out io.Writer, o pagerank.Options, method ranking.Method, topics []pagerank.EdgeTopic,
) (results []*pagerank.Result, err error) {
	if len(topics) > 0 {
		return pagerank.TopicsOfEdges(ctx, in, out, o, topics)
	}
	var r *pagerank.Result
	switch {
	case e.hostRanks:
		r, err = pagerank.HostRanks(ctx, in, out, o)
	case method == ranking.ByHarmonic:
		r, err = pagerank.HarmonicOfEdges(ctx, in, out, o)
	case method == ranking.ByHosts:
		r, err = pagerank.HostsOfEdges(ctx, in, out, o, partOf((*weburl.URL).Host))
	case method == ranking.ByVouchers:
		r, err = pagerank.VouchedOfEdges(ctx, in, out, o, partOf((*weburl.URL).Site))
	default:
		r, err = pagerank.RankEdges(ctx, in, out, o)
	}
	return []*pagerank.Result{r}, err
}

// partOf returns a function from URLs as text to a part of them.
func partOf(part func(*weburl.URL) string) func(string) (string, error) {
	return func(name string) (string, error) {
		u, err := weburl.Parse(name)
		if err != nil {
			return "", err
		}
		return part(&u), nil
	}
}

// report writes the reports of --json and --html.
func (e *edgeFiles) report(
	c *cobra.Command, f *rankFlags, o pagerank.Options, results []*pagerank.Result, topics []pagerank.EdgeTopic,
	residuals []float64, began time.Time,
) error {
	if !o.Keep {
		return nil
	}
	reports := make([]*ranking.Report, len(results))
	for i, result := range results {
		r := ranking.ReportGraph(result, o, residuals, began)
		r.Method = f.options.Method.String()
		r.Name = r.Method
		switch {
		case topics != nil:
			r.Name, r.Teleport = topics[i].Name, len(topics[i].Weights)
		case len(o.Teleport) > 0:
			r.Teleport = len(o.Teleport)
		}
		reports[i] = r
	}
	if f.html != "" {
		if err := rankpage.Write(c, f.html, reports[0]); err != nil {
			return cli.WithHint(err, "--html takes the name of a file to write")
		}
	}
	switch {
	case !f.json:
		return nil
	case topics != nil:
		return cli.PrintJSON(c.OutOrStdout(), reports)
	}
	return cli.PrintJSON(c.OutOrStdout(), reports[0])
}

// open sets what o needs of files beside that of the graph, and returns a function that closes them.
func (e *edgeFiles) open(o *pagerank.Options) (done func(), err error) {
	var files []*os.File
	done = func() {
		for _, f := range files {
			f.Close()
		}
	}
	open := func(name string) io.Reader {
		f, openErr := os.Open(name)
		if openErr != nil {
			err = cmp.Or(err, openErr)
			return nil
		}
		files = append(files, f)
		return f
	}
	if e.vertices != "" {
		o.Vertices = open(e.vertices)
	}
	if e.warm != "" {
		o.Earlier = open(e.warm)
	}
	if name, ok := strings.CutSuffix(e.edges, ".graph"); ok {
		in := open(name + ".properties")
		if err != nil {
			return done, cli.WithHint(err, "a graph of WebGraph, NAME.graph, has its properties in NAME.properties")
		}
		p, err := bvgraph.ReadProperties(in)
		o.BV = &p
		return done, err
	}
	return done, err
}

// writeBV writes the graph as a graph of WebGraph.
func (e *edgeFiles) writeBV(c *cobra.Command, in io.Reader, o pagerank.Options, show func(string)) error {
	g, _, err := pagerank.ReadGraph(c.Context(), in, o)
	show("")
	if err != nil {
		return withEdgeHint(err)
	}
	write := func(end string, what func(io.Writer) error) error {
		return cli.WriteOutput(c, e.bv+end, what)
	}
	var p bvgraph.Properties
	err = write(".offsets", func(offsets io.Writer) error {
		return write(".graph", func(graph io.Writer) (err error) {
			p, err = g.WriteBV(graph, offsets)
			return err
		})
	})
	if err != nil {
		return err
	}
	if err := write(".properties", p.Write); err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s, %s\n", plural.Count(g.Nodes(), "node"), plural.Count(g.Links(), "link"))
	return nil
}

// nodes returns the weights of --personalize or --personalize-file for nodes of --edges, nil without
// these flags.
func (f *rankFlags) nodes() (map[string]float64, error) {
	switch {
	case f.place != "":
		return map[string]float64{f.place: 1}, nil
	case f.places == "":
		return nil, nil
	}
	return readFile(f.places, ranking.ReadNodes)
}
