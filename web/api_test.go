package web

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"strings"
	"testing"

	"anatomy/web/internal/passages"
)

// TestAPIShape compares answers with testdata/api.golden; ANATOMY_UPDATE=1 rewrites it.
func TestAPIShape(t *testing.T) {
	s := fullServer()
	var got strings.Builder
	for _, target := range []string{
		"/api/v1/search?q=inverted+index&num=1&explain=1",
		"/api/v1/search?q=inverted+index&start=5&num=1",
		"/api/v1/search?q=none",
		"/api/v1/search?q=inverted+index%22&num=1&start=94",
		"/api/v1/explain?q=inverted+index&url=https://www.docs.test/",
		"/api/v1/page?doc=4711",
		"/api/v1/page?url=https://ja.docs.test/",
		"/api/v1/stats",
		"/api/v1/search?q=a&num=0",
		"/search?q=inverted+index&format=json&num=1&pageno=2",
	} {
		got.WriteString("GET " + target + "\n" + do(t, s, http.MethodGet, target).Body.String() + "\n")
	}
	const file = "testdata/api.golden"
	if os.Getenv("ANATOMY_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got:\n%swant:\n%s", got.String(), want)
	}
}

// TestScoresAddUpAsDecimals: the JSON numbers of the parts, taken as decimals, sum to the score.
func TestScoresAddUpAsDecimals(t *testing.T) {
	var answer struct {
		Results []struct {
			Explanation struct {
				Score json.Number
				Parts []struct{ Points json.Number }
			}
		}
	}
	if err := json.Unmarshal([]byte(get(t, fullServer(), "/api/v1/search?q=inverted+index&explain=1", http.StatusOK)), &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Results) != 10 {
		t.Fatalf("%d results", len(answer.Results))
	}
	for _, r := range answer.Results {
		sum, score := new(big.Rat), new(big.Rat)
		for _, p := range r.Explanation.Parts {
			points, _ := new(big.Rat).SetString(p.Points.String())
			sum.Add(sum, points)
		}
		score.SetString(r.Explanation.Score.String())
		if sum.Cmp(score) != 0 || sum.Sign() == 0 {
			t.Errorf("parts sum to %s, score %s", sum, score)
		}
	}
}

// TestNextReachesAll follows next through all results.
func TestNextReachesAll(t *testing.T) {
	s := fullServer()
	target, seen := "/api/v1/search?q=inverted+index&num=40", map[float64]bool{}
	for target != "" {
		var answer struct {
			Next    string
			Results []struct{ Docid float64 }
		}
		if err := json.Unmarshal([]byte(get(t, s, target, http.StatusOK)), &answer); err != nil {
			t.Fatal(err)
		}
		for _, r := range answer.Results {
			seen[r.Docid] = true
		}
		target = answer.Next
	}
	if len(seen) != 95 {
		t.Errorf("%d results", len(seen))
	}
}

// TestPageFormat: the text of a page is paragraphs, or Markdown if the request says so.
func TestPageFormat(t *testing.T) {
	s := fullServer()
	texts := map[string]string{}
	for _, format := range []string{"", "&format=text", "&format=markdown"} {
		var page struct{ URL, Text string }
		if err := json.Unmarshal([]byte(get(t, s, "/api/v1/page?doc=4711"+format, http.StatusOK)), &page); err != nil {
			t.Fatal(err)
		}
		texts[format] = page.Text
		if want := markdownOf(page.URL, fakeHTML); (page.Text == want) != (format == "&format=markdown") {
			t.Errorf("%q: %s", format, page.Text)
		}
	}
	if texts[""] != texts["&format=text"] || texts[""] == "" {
		t.Error("paragraphs are not the default")
	}
	if code := errorCode(t, get(t, s, "/api/v1/page?doc=4711&format=html", http.StatusBadRequest)); code != "bad_parameter" {
		t.Errorf("another format: %s", code)
	}
}

// TestMaxTokens: an answer for a language model has the first results, as many as its budget has room for, each
// with a passage of its page, and leads to the others.
func TestMaxTokens(t *testing.T) {
	s, d := fullServer(), readDescription(t)
	before := 0
	for _, budget := range []int{100, 400, 2000, 50_000} {
		target := fmt.Sprintf("/api/v1/search?q=inverted+index&num=10&max_tokens=%d", budget)
		body := get(t, s, target, http.StatusOK)
		d.check(t, "/api/v1/search", "get", "200", []byte(body))
		var answer struct {
			Tokens  int
			Next    string
			Results []struct {
				URL, Title, Passage string
				Crawled             bool
			}
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, r := range answer.Results {
			sum += passages.Tokens(r.Title) + passages.Tokens(r.URL) + passages.Tokens(r.Passage)
			if r.Passage == "" && r.Crawled {
				t.Errorf("%d: no passage of %s", budget, r.URL)
			}
		}
		if len(answer.Results) == 0 || len(answer.Results) < before || answer.Tokens > budget || sum > answer.Tokens {
			t.Errorf("%d: %d results, %d tokens, counted %d", budget, len(answer.Results), answer.Tokens, sum)
		}
		if before = len(answer.Results); before < 10 && !strings.Contains(answer.Next, fmt.Sprintf("start=%d", before)) {
			t.Errorf("%d: after %d results: %s", budget, before, answer.Next)
		}
		if !strings.HasSuffix(answer.Next, fmt.Sprintf("&max_tokens=%d", budget)) {
			t.Errorf("%d: the next results are at %s", budget, answer.Next)
		}
	}
	if before != 10 {
		t.Errorf("the largest budget has room for %d results", before)
	}
	for _, bad := range []string{"99", "50001", "x"} {
		get(t, s, "/api/v1/search?q=inverted+index&max_tokens="+bad, http.StatusBadRequest)
	}
}
