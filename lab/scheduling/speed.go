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
	panel := plot.Panel{Title: "speed", X: "connections", Y: "pages per second", LogX: true}
	for _, way := range ways {
		panel.Lines = append(panel.Lines, plot.Line{Name: way.name})
	}
	fmt.Fprintf(out, "%s, breadth-first, seed %d\n", w, p.seed)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "connections\t%s\t%s\t%s\tpages/s\t1.1 to 1.0\t\n", ways[0].name, ways[1].name, ways[2].name)
	for _, n := range []int{1, 2, 4, 8, 14, 32, 64, 96, 128, 256, 500} {
		fmt.Fprintf(t, "%d", n)
		var speeds []float64
		for i, way := range ways {
			way.plan.connections = n
			c, err := way.plan.run(way.web, make([]float64, len(w.pages)))
			if err != nil {
				return err
			}
			most := len(c.history) * 9 / 10
			speed := float64(most) / c.history[most-1].at.Seconds()
			speeds = append(speeds, speed)
			panel.Lines[i].Points = append(panel.Lines[i].Points, plot.Point{X: float64(n), Y: speed})
			fmt.Fprintf(t, "\t%.1f", speed)
		}
		fmt.Fprintf(t, "\t\t%.2f\t\n", speeds[0]/speeds[1])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return o.draw("speed", []plot.Panel{panel})
}
