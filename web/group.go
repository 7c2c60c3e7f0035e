package web

import (
	"anatomy/searcher"
	"anatomy/vocab"
)

// Parameters of how results are grouped: similar asks for the pages that are folded into a result, and
// filter=0, as Google has it, for every page by itself.

// A groupView links a result to those that are not shown beside it.
type groupView struct {
	Label string // "3 similar pages", "more from example.org"
	Href  string
}

// similarView leads to the pages that are folded into a result, nil where there are none.
func similarView(r searcher.Request, result *searcher.Result) *groupView {
	if result.Similar == 0 {
		return nil
	}
	label := count(result.Similar) + " similar pages"
	if result.Similar == 1 {
		label = "1 similar page"
	}
	return &groupView{label, similarHref("/search", r, result)}
}

// moreView leads to the pages of a host, of which some are passed over here, nil where none are.
func moreView(r searcher.Request, result *searcher.Result) *groupView {
	host := hostOf(result.URL)
	if result.More == 0 || host == "" {
		return nil
	}
	return &groupView{"more from " + shorten(visible(host), 64), hostHref("/search", r, host)}
}

// A NearPage says nearly what another page says.
type NearPage struct {
	Doc      vocab.DocID `json:"docid"`
	URL      string      `json:"url"`
	Distance int         `json:"distance"` // of the sketches of the two: bits of 56
}

// A groupAnswer is a groupView for programs.
type groupAnswer struct {
	Count int    `json:"count"`
	Href  string `json:"href"`
}

func similarAnswer(r searcher.Request, result *searcher.Result) *groupAnswer {
	if result.Similar == 0 {
		return nil
	}
	return &groupAnswer{result.Similar, similarHref("/api/v1/search", r, result)}
}

func moreAnswer(r searcher.Request, result *searcher.Result) *groupAnswer {
	if result.More == 0 {
		return nil
	}
	return &groupAnswer{result.More, hostHref("/api/v1/search", r, hostOf(result.URL))}
}

func similarHref(path string, r searcher.Request, result *searcher.Result) string {
	r.Similar = result.Doc
	return searchHref(path, r, 0)
}

func hostHref(path string, r searcher.Request, host string) string {
	return searchHref(path, asking(r, r.Query+" site:"+host), 0)
}

// ungroupedHref is the address of the same results with every page by itself.
func ungroupedHref(r searcher.Request) string {
	r.Ungrouped = true
	return searchHref("/search", r, 0)
}

// allHref is the address of the results that those similar to one of them are part of.
func allHref(r searcher.Request) string { return searchHref("/search", asking(r, r.Query), 0) }

// filter reads the parameter filter: 0 turns grouping off.
func (p *params) filter() (ungrouped bool) {
	switch p.one("filter") {
	case "", "1":
		return false
	case "0":
		return true
	}
	p.fail("Parameter filter must be 0 or 1.")
	return false
}
