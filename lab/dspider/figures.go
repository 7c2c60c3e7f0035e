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
	duplicate   float64 // by the paper's protocol, mean of all places
	unreachable float64 // share of files on hosts that no node reaches within the timeout
}

// values returns the measures by the paper's protocol and by ours.
func (r *row) values() [5][2]float64 {
	p, o := &r.paper, &r.ours
	return [5][2]float64{
		{p.speed(), o.speed()}, {p.srcuse(), o.srcuse()}, {p.communicate(), o.communicate()},
		{r.duplicate, o.duplicate()}, {p.unfetched(), o.unfetched()},
	}
}

// A place is a web and where nodes are.
type place struct {
	*web
	*network
}

// rows runs the crawls of a figure in the first of several places. In the others it counts the
// duplicates of the paper's protocol, which are so few that those of one place say little.
func (f *figure) rows(places []place, known map[setting]row) ([]row, error) {
	var rows []row
	for _, s := range f.points {
		r, ok := known[s]
		if !ok {
			ours, err := crawlAsOurs(places[0].web, places[0].network, s)
			if err != nil {
				return nil, err
			}
			r = row{setting: s, ours: ours.measures, unreachable: places[0].unreachable(s)}
			for i, p := range places {
				paper := crawlAsPaper(p.web, p.network, s).measures
				if i == 0 {
					r.paper = paper
				}
				r.duplicate += paper.duplicate() / float64(len(places))
			}
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
			v := r.values()
			fmt.Fprintf(t, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t", name, f.at(r.setting), v[0][0], v[0][1], v[1][0], v[1][1])
			fmt.Fprintf(t, "%.3f\t%.3f\t%.2f\t%.2f\t", v[2][0], v[2][1], 1e4*v[3][0], 1e4*v[3][1])
			fmt.Fprintf(t, "%.1f\t%.1f\t%.1f\t\n", 100*v[4][0], 100*v[4][1], 100*r.unreachable)
		}
		c := &f.claims[i]
		fmt.Fprintf(t, "the paper\t\t%s\t\t%s\t\t%s\t\t%s\t\t\t\t\t\n",
			c.speed, c.srcuse, c.communicate, c.duplicate)
	}
	return t.Flush()
}

// draw draws a figure to a folder, as SVG and as the numbers.
func (f *figure) draw(dir string, connections int, rows [2][]row) error {
	var panels []plot.Panel
	for k, m := range [5][2]string{
		{"speed", "f/T"}, {"srcuse", "f/T"}, {"communicate", "1/T"}, {"duplicate", "share"}, {"fetched by nobody", "share"},
	} {
		panel := plot.Panel{Title: m[0], X: f.x, Y: m[1]}
		for i, name := range networks {
			paper, ours := plot.Line{Name: name + ", W11"}, plot.Line{Name: name + ", ours"}
			for _, r := range rows[i] {
				x, v := float64(f.at(r.setting)), r.values()[k]
				paper.Points = append(paper.Points, plot.Point{X: x, Y: v[0]})
				ours.Points = append(ours.Points, plot.Point{X: x, Y: v[1]})
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
