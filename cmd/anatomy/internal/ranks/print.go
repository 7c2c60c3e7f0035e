package ranks

import (
	"fmt"
	"io"
	"strings"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/rankpage"
	"anatomy/internal/plural"
	"anatomy/ranking"
)

func printRanks(w io.Writer, r *ranking.Report) {
	by := fmt.Sprintf("damping %g, teleporting to %s", r.Damping, rankpage.TeleportTo(r))
	if r.Teleport == 0 && r.Personalized != "" {
		by = "by " + r.Personalized
	}
	what := "page"
	if r.Method == ranking.ByHosts.String() {
		what = "host"
	}
	fmt.Fprintf(w, "%s, %s, %s without links; %s\n", plural.Count(r.Pages, "page"), plural.Count(r.Links, "link"), plural.Count(r.Dangled, what), by)
	fmt.Fprintf(w, "%s, %.2f s\n", rankpage.Iterations(len(r.Residuals), r.Residuals[len(r.Residuals)-1], r.Tolerance), r.Seconds)
	fmt.Fprintf(w, "half of the rank is on %s", plural.Count(r.Half, "page"))
	if r.Compared && r.Moved > leastMoved {
		fmt.Fprintf(w, "; %.2g %% of it moved", 100*r.Moved)
	}
	fmt.Fprint(w, "\n"+rankpage.Unlinked(r))
	printRanked(w, "highest", r.Top)
	printRanked(w, "gained most", r.Gainers)
	printRanked(w, "lost most", r.Losers)
	fmt.Fprintf(w, "\nhosts:\n")
	for _, h := range r.Hosts[:min(hostsPrinted, len(r.Hosts))] {
		fmt.Fprintf(w, "  %.6f  %s, %s\n", h.Share, cli.OneLine(h.Host), plural.Count(h.Pages, "page"))
	}
	if r.Name != ranking.Default {
		fmt.Fprintf(w, "\nwritten as vector %q; to search with it: --rank %s, or rank=%s in the API (default: %q)\n", r.Name, r.Name, r.Name, ranking.Default)
	}
}

// leastMoved is the smallest change that is reported. Smaller ones are rounding.
const leastMoved = 1e-6

// hostsPrinted is the number of hosts that the text lists.
const hostsPrinted = 10

func printRanked(w io.Writer, title string, pages []ranking.RankedPage) {
	if len(pages) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, p := range pages {
		change := ""
		if p.Before > 0 && p.Before != p.Rank {
			change = fmt.Sprintf("  (before %.6f)", p.Before)
		}
		fmt.Fprintf(w, "  %.6f  %s%s\n", p.Rank, strings.TrimSpace(cli.OneLine(p.URL)), change)
	}
}
