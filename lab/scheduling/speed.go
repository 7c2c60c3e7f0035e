package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"anatomy/lab/plot"
	"anatomy/urlserver"
)

// The paper's fast servers: ours answer fastTimes as fast, and the crawler's processor needs
// fastProcessor for a page, so that it is the limit as it was there.
const (
	fastTimes     = 10
	fastProcessor = time.Millisecond
)

// runSpeed measures pages per second, up to nine tenths of the pages, by the number of connections:
// with the requests a connection that servers take (HTTP/1.1), with one (HTTP/1.0), and of fast servers.
// Its panels are HTTP/1.1 beside 1.0, their ratio, and fast servers beside the processor's limit.
func (o *options) runSpeed(out io.Writer) error {
	w, err := o.web()
	if err != nil {
		return err
	}
	fast := &web{pages: w.pages}
	for _, s := range w.servers {
		s.connect /= fastTimes
		s.answer /= fastTimes
		fast.servers = append(fast.servers, s)
	}
	p := o.plan
	p.policy, p.known = urlserver.BreadthFirst, true
	single, quick := p, p
	single.single, quick.processor = true, fastProcessor
	ways := []struct {
		name string
		web  *web
		plan plan
	}{{"HTTP/1.1", w, p}, {"HTTP/1.0", w, single}, {"fast servers", fast, quick}}
	panel := func(title, y string, names ...string) plot.Panel {
		p := plot.Panel{Title: title, X: "connections", Y: y, LogX: true}
		for _, name := range names {
			p.Lines = append(p.Lines, plot.Line{Name: name})
		}
		return p
	}
	panels := []plot.Panel{
		panel("speed", "pages per second", ways[0].name, ways[1].name),
		panel("HTTP/1.1 to 1.0", "times", "speed"),
		panel(ways[2].name, "pages per second", "speed", "the processor's limit"),
	}
	fmt.Fprintf(out, "%s, breadth-first, seed %d\n", w, p.seed)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "connections\t%s\t%s\t%s\tpages/s\t1.1 to 1.0\t\n", ways[0].name, ways[1].name, ways[2].name)
	for _, n := range []int{1, 2, 4, 8, 14, 32, 64, 96, 128, 256, 500} {
		fmt.Fprintf(t, "%d", n)
		var speeds []float64
		for _, way := range ways {
			way.plan.connections = n
			c, err := way.plan.run(way.web, make([]float64, len(w.pages)))
			if err != nil {
				return err
			}
			most := len(c.history) * 9 / 10
			speed := float64(most) / c.history[most-1].at.Seconds()
			speeds = append(speeds, speed)
			fmt.Fprintf(t, "\t%.1f", speed)
		}
		fmt.Fprintf(t, "\t\t%.2f\t\n", speeds[0]/speeds[1])
		for line, y := range map[*plot.Line]float64{
			&panels[0].Lines[0]: speeds[0], &panels[0].Lines[1]: speeds[1], &panels[1].Lines[0]: speeds[0] / speeds[1],
			&panels[2].Lines[0]: speeds[2], &panels[2].Lines[1]: 1 / fastProcessor.Seconds(),
		} {
			line.Points = append(line.Points, plot.Point{X: float64(n), Y: y})
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return o.draw("speed", panels)
}
