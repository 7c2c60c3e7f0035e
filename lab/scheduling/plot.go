package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// points of a curve, the first at 0.
const points = 100

// writeTSV writes a line for each point of each curve: shares of time, quality and pages.
func writeTSV(w io.Writer, all []*experiment) {
	fmt.Fprintln(w, "experiment\tpolicy\ttime\tquality\tpages")
	for _, e := range all {
		for _, c := range e.curves {
			for i := range points + 1 {
				quality, pages := c.after(e.whole() * time.Duration(i) / points)
				fmt.Fprintf(w, "%s\t%s\t%.2f\t%.4f\t%.4f\n", e.name, c.name, float64(i)/points, quality, pages)
			}
		}
	}
}

const (
	width, height = 360, 300 // of one panel
	margin        = 40
)

var colours = []string{"#888", "#1b7", "#27c", "#d33", "#e9a"}

// writeSVG draws a panel for each experiment: share of the total quality over share of the time.
func writeSVG(w io.Writer, all []*experiment) {
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n", len(all)*(width+margin)+margin, height+3*margin)
	fmt.Fprintln(w, `<rect width="100%" height="100%" fill="white"/>`)
	for i, e := range all {
		fmt.Fprintf(w, `<g transform="translate(%d %d)">`+"\n", margin+i*(width+margin), margin)
		fmt.Fprintf(w, `<text y="-12" font-size="13">%s</text><rect width="%d" height="%d" fill="none" stroke="#ccc"/>`+"\n", e.name, width, height)
		fmt.Fprintf(w, `<text x="%d" y="%d">time, share of breadth-first's</text><text x="-34" y="8">100 %%</text><text x="-20" y="%d">0</text>`+"\n", width-160, height+16, height)
		for k, c := range e.curves {
			fmt.Fprintf(w, `<polyline fill="none" stroke="%s" stroke-width="1.5" points="%s"/>`+"\n", colours[k], e.path(&c))
			fmt.Fprintf(w, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", width-190, height-14*(len(e.curves)-k)+6, colours[k], c.name)
		}
		fmt.Fprintln(w, `</g>`)
	}
	fmt.Fprintln(w, `</svg>`)
}

func (e *experiment) path(c *curve) string {
	var b strings.Builder
	for i := range points + 1 {
		quality, _ := c.after(e.whole() * time.Duration(i) / points)
		fmt.Fprintf(&b, "%.1f,%.1f ", float64(width*i)/points, height*(1-quality))
	}
	return strings.TrimSpace(b.String())
}
