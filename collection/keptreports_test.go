package collection

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestKeptReportsBound: the kept reports use at most maxReportBytes, whether they are short or long.
func TestKeptReportsBound(t *testing.T) {
	for _, pages := range []int{1, 1000} {
		before := heap()
		kept := newSiteReports()
		for i := range 40_000 / pages {
			r := &SiteReport{Site: fmt.Sprint(i), Outcomes: map[string]int{"fetched": 1, "gone": 2}}
			for p := range pages {
				r.Pages = append(r.Pages, SitePage{URL: strings.Repeat("u", 1000), Title: fmt.Sprint(p)})
			}
			kept.Put(siteReportKey{site: r.Site}, r)
		}
		if used := heap() - before; used > maxReportBytes || kept.Len() < 2 {
			t.Errorf("reports of %d pages: %d are kept in %d bytes", pages, kept.Len(), used)
		}
		runtime.KeepAlive(kept)
	}
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
