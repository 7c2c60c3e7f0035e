package web

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"strings"
	"testing"

	"anatomy/searcher"
	"anatomy/web/mcp"
)

// totalOf reads the total of an answer, and how many results it shows.
var totalOf = map[string]func(t *testing.T, body string) (total string, shown int){
	"/api/v1/search?q=mixed": func(t *testing.T, body string) (string, int) {
		var a struct {
			Total   struct{ Value json.Number }
			Results []struct{}
		}
		decode(t, body, &a)
		return a.Total.Value.String(), len(a.Results)
	},
	"/customsearch/v1?q=mixed": func(t *testing.T, body string) (string, int) {
		var a struct {
			Items   []struct{}
			Info    struct{ TotalResults string } `json:"searchInformation"`
			Queries map[string][]struct{ TotalResults string }
		}
		decode(t, body, &a)
		for _, queries := range a.Queries {
			if queries[0].TotalResults != a.Info.TotalResults {
				t.Errorf("totals %+v", a)
			}
		}
		return a.Info.TotalResults, len(a.Items)
	},
	"/search?q=mixed&format=json": func(t *testing.T, body string) (string, int) {
		var a struct {
			Total   json.Number `json:"number_of_results"`
			Results []struct{}
		}
		decode(t, body, &a)
		return a.Total.String(), len(a.Results)
	},
	"/search?q=mixed&format=atom": func(t *testing.T, body string) (string, int) {
		var a struct {
			Total   string     `xml:"totalResults"`
			Entries []struct{} `xml:"entry"`
		}
		decodeXML(t, body, &a)
		return a.Total, len(a.Entries)
	},
	"/search?q=mixed&format=rss": func(t *testing.T, body string) (string, int) {
		var a struct {
			Channel struct {
				Total string     `xml:"totalResults"`
				Items []struct{} `xml:"item"`
			} `xml:"channel"`
		}
		decodeXML(t, body, &a)
		return a.Channel.Total, len(a.Channel.Items)
	},
	"/search?q=mixed": func(t *testing.T, body string) (string, int) {
		count, _, found := strings.Cut(body, " pages")
		if !found {
			t.Fatalf("no count in %s", body)
		}
		return count[strings.LastIndexAny(count, "> ")+1:], strings.Count(body, `class="hit"`)
	},
}

func decode(t *testing.T, body string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), into); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
}

func decodeXML(t *testing.T, body string, into any) {
	t.Helper()
	if err := xml.Unmarshal([]byte(body), into); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
}

// TestTotals: of 5 pages that match, one is collapsed, and 6 have most of the words. Each format says
// that there are 10, as many as it lists.
func TestTotals(t *testing.T) {
	f := newFake()
	f.answers["mixed"] = &searcher.Response{
		Total: 5, Folded: 1, Most: 6, Exact: true, Results: f.answers["inverted index"].Results[10:20],
	}
	s := newServerOf(Options{Collection: f})
	for target, read := range totalOf {
		if total, shown := read(t, get(t, s, target, http.StatusOK)); total != "10" || shown != 10 {
			t.Errorf("%s: total %s, shows %d", target, total, shown)
		}
	}
	var found mcp.ToolSearchOutput
	text := call(t, model(t, s), "search", map[string]any{"query": "mixed", "num": 10}, &found)
	if found.Total != 10 || len(found.Results) != 10 || !strings.Contains(text, `"total":10,`) {
		t.Errorf("tool: total %d, shows %d: %s", found.Total, len(found.Results), text)
	}
	if page := get(t, s, "/search?q=mixed&num=4", http.StatusOK); !strings.Contains(page, "start=8") {
		t.Error("no link to the third page of results")
	}
}
