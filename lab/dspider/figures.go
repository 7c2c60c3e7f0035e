package main

import (
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
	"time"

	"anatomy/lab/plot"
)

// A figure is one of the paper's: a sweep over nodes or timeouts, in a LAN and in a WAN.
type figure struct {
	number int
	x      string
	points []setting
	claims [2]claims // of the LAN, the WAN
}

// claims are what the paper's text says of a figure (W11, simulation), by measure; "" for nothing.
// We have no values of its curves.
type claims struct{ speed, srcuse, communicate, duplicate string }

func figures(connections, perHost int) []figure {
	eight := figure{number: 8, x: "nodes", claims: [2]claims{
		{"rises", "falls slightly", "", "far below WAN"},
		{"rises faster", "rises slightly", "", "grows fast"},
	}}
	nine := figure{number: 9, x: "timeout, T", claims: [2]claims{
		{"falls slightly", "falls slightly", "falls more", ""},
		{"falls slightly", "falls slightly", "falls", ""},
	}}
	for i := leastNodes; i <= mostNodes; i++ {
		s := setting{nodes: leastNodes, timeout: usualTimeout, connections: connections, perHost: perHost}
		wider, later := s, s
		wider.nodes, later.timeout = i, time.Duration(i)*period
		eight.points, nine.points = append(eight.points, wider), append(nine.points, later)
	}
	return []figure{eight, nine}
}

// at returns where a setting is on the axis of a figure.
func (f *figure) at(s setting) int {
	if f.number == 8 {
		return s.nodes
	}
	return int(s.timeout / period)
}

// A row is a point of a figure.
type row struct {
	setting
	paper, ours measures
	unreachable float64 // share of files on hosts that no node reaches within the timeout
}

// rows runs the crawls of a figure in a network.
func (f *figure) rows(w *web, n *network, known map[setting]row) ([]row, error) {
	var rows []row
	for _, s := range f.points {
		r, ok := known[s]
		if !ok {
			ours, err := crawlAsOurs(w, n, s)
			if err != nil {
				return nil, err
			}
			r = row{s, crawlAsPaper(w, n, s).measures, ours.measures, n.unreachable(s)}
			known[s] = r
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// unreachable returns the share of hosts that no node reaches within the timeout.
func (n *network) unreachable(s setting) float64 {
	count := 0
	for host := range n.latency[0] {
		reached := false
		for node := range s.nodes {
			reached = reached || n.latency[node][host] <= s.timeout
		}
		if !reached {
			count++
		}
	}
	return float64(count) / float64(len(n.latency[0]))
}

var networks = [2]string{"LAN", "WAN"}

// write writes the table of a figure, with the paper's words in lines of their own.
func (f *figure) write(out io.Writer, rows [2][]row) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\t%s\tspeed, f/T\t(ours)\tsrcuse, f/T\t(ours)\tcommunicate, 1/T\t(ours)\t"+
		"duplicate, 1/10,000\t(ours)\tfetched by nobody, %%\t(ours)\tunreachable, %%\t\n", f.x)
	for i, name := range networks {
		for _, r := range rows[i] {
			p, o := &r.paper, &r.ours
			fmt.Fprintf(t, "%s\t%d\t", name, f.at(r.setting))
			fmt.Fprintf(t, "%.2f\t%.2f\t%.2f\t%.2f\t", p.speed(), o.speed(), p.srcuse(), o.srcuse())
			fmt.Fprintf(t, "%.3f\t%.3f\t", p.communicate(), o.communicate())
			fmt.Fprintf(t, "%.2f\t%.2f\t", 1e4*p.duplicate(), 1e4*o.duplicate())
			fmt.Fprintf(t, "%.1f\t%.1f\t%.1f\t\n", 100*p.unfetched(), 100*o.unfetched(), 100*r.unreachable)
		}
		c := &f.claims[i]
		fmt.Fprintf(t, "the paper\t\t%s\t\t%s\t\t%s\t\t%s\t\t\t\t\t\n",
			c.speed, c.srcuse, c.communicate, c.duplicate)
	}
	return t.Flush()
}

// writeDuplicates writes the duplicates of figure 8 by the paper's protocol as means of several
// webs. They are so few that those of one web say little.
func writeDuplicates(out io.Writer, o options) error {
	type curve struct {
		connections int
		network     string
	}
	sums := map[curve]*[mostNodes + 1]float64{} // by nodes
	for seed := range uint64(o.webs) {
		w, err := makeWeb(o.hosts, o.files, o.seed+seed)
		if err != nil {
			return err
		}
		for i, name := range networks {
			n := makeNetwork(i == 1, o.hosts, o.seed+seed)
			for _, connections := range o.connections {
				c := curve{connections, name}
				if sums[c] == nil {
					sums[c] = &[mostNodes + 1]float64{}
				}
				for nodes := leastNodes; nodes <= mostNodes; nodes++ {
					s := setting{nodes: nodes, timeout: usualTimeout, connections: connections}
					sums[c][nodes] += crawlAsPaper(w, n, s).duplicate()
				}
			}
		}
	}
	fmt.Fprintf(out, "\nfigure 8, duplicate, 1/10,000, by W11's protocol, 3 to 7 nodes, mean of %s\n",
		count(o.webs, "web"))
	for _, connections := range o.connections {
		for _, name := range networks {
			fmt.Fprintf(out, "%2d connections, %s", connections, name)
			for _, sum := range sums[curve{connections, name}][leastNodes:] {
				fmt.Fprintf(out, "  %.2f", 1e4*sum/float64(o.webs))
			}
			fmt.Fprintln(out)
		}
	}
	return nil
}

// draw draws a figure to a folder, as SVG and as the numbers.
func (f *figure) draw(dir string, connections int, rows [2][]row) error {
	var panels []plot.Panel
	for _, m := range []struct {
		title, y string
		of       func(*measures) float64
	}{
		{"speed", "f/T", (*measures).speed},
		{"srcuse", "f/T", (*measures).srcuse},
		{"communicate", "1/T", (*measures).communicate},
		{"duplicate", "share", (*measures).duplicate},
		{"fetched by nobody", "share", (*measures).unfetched},
	} {
		panel := plot.Panel{Title: m.title, X: f.x, Y: m.y}
		for i, name := range networks {
			paper, ours := plot.Line{Name: name + ", W11"}, plot.Line{Name: name + ", ours"}
			for _, r := range rows[i] {
				x := float64(f.at(r.setting))
				paper.Points = append(paper.Points, plot.Point{X: x, Y: m.of(&r.paper)})
				ours.Points = append(ours.Points, plot.Point{X: x, Y: m.of(&r.ours)})
			}
			panel.Lines = append(panel.Lines, paper, ours)
		}
		panels = append(panels, panel)
	}
	name := filepath.Join(dir, fmt.Sprintf("figure%d-%d", f.number, connections))
	if err := plot.Write(name+".svg", panels, plot.SVG); err != nil {
		return err
	}
	return plot.Write(name+".tsv", panels, plot.TSV)
}
