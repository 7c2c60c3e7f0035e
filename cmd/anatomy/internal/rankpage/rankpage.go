// Package rankpage draws the report of a PageRank computation as one HTML page.
package rankpage

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/internal/plural"
	"anatomy/ranking"
)

//go:embed rankpage.html
var rankPageText string

// Write writes the report to a file as an HTML page.
func Write(c *cobra.Command, file string, r *ranking.Report) error {
	return cli.WriteOutput(c, file, func(w io.Writer) error { return Render(w, r) })
}

// Render renders the report as one HTML page without scripts or other files.
func Render(w io.Writer, r *ranking.Report) error {
	t, err := template.New("rank").Funcs(template.FuncMap{"percent": cli.FormatPercent, "times": times, "count": cli.GroupDigits}).Parse(rankPageText)
	if err != nil {
		return err
	}
	page := rankPage{
		Report: r, To: TeleportTo(r),
		Ending:      Iterations(len(r.Residuals), r.Residuals[len(r.Residuals)-1], r.Tolerance),
		Convergence: newConvergence(r.Residuals, r.Tolerance), Levels: newLevelBars(r.Levels), Hosts: newHostBars(r),
	}
	return t.Execute(w, page)
}

// A rankPage is the input of the template: the report, and the coordinates of its plots.
type rankPage struct {
	*ranking.Report
	To, Ending  string
	Convergence convergence
	Levels      levelBars
	Hosts       []hostBar
}

// The size of a plot, and its margins for the labels.
const (
	plotWidth, plotHeight = 560.0, 250.0
	plotLeft, plotBottom  = 52.0, 36.0
	plotTop, plotRight    = 12.0, 10.0
)

// A mark is a line of the grid with its label.
type mark struct {
	At    float64
	Label template.HTML
}

// A convergence is the plot of the residual by iteration, on a logarithmic scale.
type convergence struct {
	Path      string // of the curve
	End       [2]float64
	Tolerance float64 // height of the line
	X, Y      []mark
}

func newConvergence(residuals []float64, tolerance float64) convergence {
	const tiny = 1e-18 // replaces 0, which has no logarithm
	high, low := math.Log10(max(residuals[0], tolerance, tiny)), math.Log10(max(tolerance, tiny))
	for _, r := range residuals {
		high, low = max(high, math.Log10(max(r, tiny))), min(low, math.Log10(max(r, tiny)))
	}
	high, low = math.Ceil(high), math.Floor(low)
	high = max(high, low+1)
	y := func(v float64) float64 {
		return plotTop + (high-math.Log10(max(v, tiny)))/(high-low)*(plotHeight-plotTop-plotBottom)
	}
	x := func(iteration int) float64 {
		return plotLeft + float64(iteration-1)/float64(max(1, len(residuals)-1))*(plotWidth-plotLeft-plotRight)
	}
	c := convergence{Tolerance: y(tolerance)}
	var path strings.Builder
	for i, r := range residuals {
		c.End = [2]float64{x(i + 1), y(r)}
		fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(i, 1)], c.End[0], c.End[1])
	}
	c.Path = path.String()
	for e := high; e >= low; e -= math.Ceil((high - low) / 6) {
		c.Y = append(c.Y, mark{y(math.Pow(10, e)), power(10, int(e))})
	}
	step := niceStep(len(residuals))
	for i := step; i <= len(residuals); i += step {
		c.X = append(c.X, mark{x(i), template.HTML(fmt.Sprint(i))})
	}
	return c
}

// niceStep returns the smallest 1, 2 or 5 times a power of ten that is in n at most ten times.
func niceStep(n int) int {
	for step := 1; ; step *= 10 {
		for _, s := range []int{step, 2 * step, 5 * step} {
			if n/s <= 10 {
				return s
			}
		}
	}
}

// power renders a power as SVG text.
func power(base, exponent int) template.HTML {
	return template.HTML(fmt.Sprintf(`%d<tspan dy="-4" font-size="9">%s</tspan>`, base, strings.Replace(fmt.Sprint(exponent), "-", "−", 1)))
}

// levelBars is the plot of two bars for each level: its share of the pages and of the rank.
type levelBars struct {
	Bars []levelBar
	X, Y []mark
	Base float64
}

type levelBar struct {
	X, Width              float64 // of the first bar; the second one follows
	PagesY, PagesHeight   float64
	ShareY, ShareHeight   float64
	SecondX               float64
	From                  float64
	Pages                 int
	PagesShare, MassShare float64
}

func newLevelBars(levels []ranking.Level) levelBars {
	pages, highest := 0, 0.0
	for _, l := range levels {
		pages += l.Pages
	}
	for _, l := range levels {
		highest = max(highest, l.Share, float64(l.Pages)/float64(pages))
	}
	highest = math.Ceil(highest*10) / 10
	first, last := exponent(levels[0].From), exponent(levels[len(levels)-1].From)
	slot := (plotWidth - plotLeft - plotRight) / float64(last-first+1)
	b := levelBars{Base: plotHeight - plotBottom}
	height := func(share float64) float64 { return share / highest * (plotHeight - plotTop - plotBottom) }
	for _, l := range levels {
		bar := levelBar{X: plotLeft + float64(exponent(l.From)-first)*slot + slot*0.1, Width: slot * 0.4, From: l.From, Pages: l.Pages,
			PagesShare: float64(l.Pages) / float64(pages), MassShare: l.Share}
		bar.SecondX = bar.X + bar.Width
		bar.PagesHeight, bar.ShareHeight = height(bar.PagesShare), height(bar.MassShare)
		bar.PagesY, bar.ShareY = b.Base-bar.PagesHeight, b.Base-bar.ShareHeight
		b.Bars = append(b.Bars, bar)
	}
	for share := 0.0; share <= highest+1e-9; share += highest / 5 {
		b.Y = append(b.Y, mark{b.Base - height(share), template.HTML(fmt.Sprintf("%.0f %%", 100*share))})
	}
	for e := first; e <= last+1; e++ {
		if e%((last-first)/9+1) == 0 { // so that the mean, 2^0, is among them
			b.X = append(b.X, mark{plotLeft + float64(e-first)*slot, power(2, e)})
		}
	}
	return b
}

func exponent(from float64) int { return int(math.Round(math.Log2(from))) }

// A hostBar is a host with the widths of its bars, now and before, in percent of the longest bar.
type hostBar struct {
	ranking.HostRank
	Now, Then float64
	Change    string // in percentage points, "" if there is no earlier vector
}

func newHostBars(r *ranking.Report) []hostBar {
	longest := 0.0
	for _, h := range r.Hosts {
		longest = max(longest, h.Share, h.Before)
	}
	bars := make([]hostBar, len(r.Hosts))
	for i, h := range r.Hosts {
		bars[i] = hostBar{HostRank: h, Now: 100 * h.Share / longest, Then: 100 * h.Before / longest}
		if r.Compared {
			bars[i].Change = signed(100*(h.Share-h.Before), 2)
		}
	}
	return bars
}

// times returns the change of a rank as a factor or in percent.
func times(p ranking.RankedPage) string {
	switch {
	case p.Before == 0:
		return "new"
	case p.Rank == 0:
		return "gone"
	case p.Rank >= 2*p.Before:
		return fmt.Sprintf("× %.3g", p.Rank/p.Before)
	case 2*p.Rank <= p.Before:
		return fmt.Sprintf("÷ %.3g", p.Before/p.Rank)
	}
	return signed(100*(p.Rank/p.Before-1), 1) + " %"
}

func signed(v float64, digits int) string {
	s := fmt.Sprintf("%+.*f", digits, v)
	if strings.Trim(s, "+-0.") == "" {
		return "±0"
	}
	return strings.Replace(s, "-", "−", 1)
}

// Iterations returns how a computation ended: "45 iterations, residual 9.1e-07".
func Iterations(n int, residual, tolerance float64) string {
	s := fmt.Sprintf("%s, residual %.2g", plural.Count(n, "iteration"), residual)
	if residual > tolerance {
		s += fmt.Sprintf(", stopped above the tolerance of %.2g", tolerance)
	}
	return s
}

// Unlinked returns a line about the sites that ranks were lowered for, "" without such.
func Unlinked(r *ranking.Report) string {
	if r.Unlinked == 0 {
		return ""
	}
	return fmt.Sprintf("no other site links to %s, so pages there rank little above pages without links to them\n",
		plural.Count(r.Unlinked, "site"))
}

// TeleportTo describes the teleport set.
func TeleportTo(r *ranking.Report) string {
	if r.Personalized == "" {
		return "every page"
	}
	return fmt.Sprintf("%s (%s)", r.Personalized, plural.Count(r.Teleport, "page"))
}
