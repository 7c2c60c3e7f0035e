// Package plot draws the figures of the laboratories: panels of lines, as SVG, and the same numbers as
// lines of tab-separated values.
package plot

import (
	"bufio"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"strings"
)

// A Panel is one diagram.
type Panel struct {
	Title string
	X, Y  string // what the axes show, with its unit
	LogX  bool   // the x axis is logarithmic
	Lines []Line
}

// A Line is one series of points.
type Line struct {
	Name   string
	Points []Point
}

// A Point is one measurement.
type Point struct{ X, Y float64 }

const (
	width, height = 360, 280 // of a panel
	margin        = 56
)

var colours = []string{"#27c", "#d33", "#1b7", "#888", "#a5c", "#e90"}

// SVG draws panels side by side. Every y axis begins at 0.
func SVG(w io.Writer, panels []Panel) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n", len(panels)*(width+margin)+margin, height+2*margin)
	fmt.Fprintln(b, `<rect width="100%" height="100%" fill="white"/>`)
	for i := range panels {
		fmt.Fprintf(b, `<g transform="translate(%d %d)">`+"\n", margin+i*(width+margin), margin-16)
		panels[i].draw(b)
		fmt.Fprintln(b, `</g>`)
	}
	fmt.Fprintln(b, `</svg>`)
	return b.Flush()
}

func (p *Panel) draw(w io.Writer) {
	from, to, top := p.span()
	fmt.Fprintf(w, `<text y="-14" font-size="13">%s</text><rect width="%d" height="%d" fill="none" stroke="#ccc"/>`+"\n", html.EscapeString(p.Title), width, height)
	fmt.Fprintf(w, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", width, height+30, html.EscapeString(p.X))
	fmt.Fprintf(w, `<text x="4" y="-2">%s</text>`+"\n", html.EscapeString(p.Y))
	for _, share := range []float64{0, 0.5, 1} {
		fmt.Fprintf(w, `<text x="-4" y="%.1f" text-anchor="end">%.3g</text>`+"\n", height*(1-share)+4, top*share)
	}
	for _, x := range p.ticks(from, to) {
		fmt.Fprintf(w, `<text x="%.1f" y="%d" text-anchor="middle">%.4g</text>`+"\n", width*p.place(x, from, to), height+14, x)
	}
	for k, line := range p.Lines {
		colour := colours[k%len(colours)]
		var path strings.Builder
		for _, pt := range line.Points {
			fmt.Fprintf(&path, "%.1f,%.1f ", width*p.place(pt.X, from, to), height*(1-pt.Y/top))
		}
		fmt.Fprintf(w, `<polyline fill="none" stroke="%s" stroke-width="1.5" points="%s"/>`+"\n", colour, strings.TrimSpace(path.String()))
		fmt.Fprintf(w, `<text x="8" y="%d" fill="%s">%s</text>`+"\n", 16+14*k, colour, html.EscapeString(line.Name))
	}
}

// span gives the ends of the x axis and the upper end of the y axis.
func (p *Panel) span() (from, to, top float64) {
	from, to = math.Inf(1), math.Inf(-1)
	for _, l := range p.Lines {
		for _, pt := range l.Points {
			from, to, top = min(from, pt.X), max(to, pt.X), max(top, pt.Y)
		}
	}
	if from >= to {
		from, to = 0, 1
	}
	if top <= 0 {
		top = 1
	}
	return from, to, top
}

// place is where x is on its axis, from 0 to 1.
func (p *Panel) place(x, from, to float64) float64 {
	if p.LogX && from > 0 {
		return math.Log(x/from) / math.Log(to/from)
	}
	return (x - from) / (to - from)
}

func (p *Panel) ticks(from, to float64) []float64 {
	if !p.LogX || from <= 0 {
		return []float64{from, (from + to) / 2, to}
	}
	var all []float64
	for x := math.Pow(10, math.Ceil(math.Log10(from)-1e-9)); x <= to*(1+1e-9); x *= 10 {
		all = append(all, x)
	}
	return all
}

// TSV writes a line for each point, under a heading.
func TSV(w io.Writer, panels []Panel) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "panel\tline\tx\ty")
	for _, p := range panels {
		for _, l := range p.Lines {
			for _, pt := range l.Points {
				fmt.Fprintf(b, "%s\t%s\t%g\t%.6g\n", p.Title, l.Name, pt.X, pt.Y)
			}
		}
	}
	return b.Flush()
}

// Write writes a file by SVG or TSV; none where name is empty.
func Write(name string, panels []Panel, draw func(io.Writer, []Panel) error) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(draw(f, panels), f.Close())
}
