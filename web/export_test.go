package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/api"
)

// export is All over a table: n results, and then err.
func exported(n int, err error) func(context.Context, searcher.Request, int, func(*searcher.Result) error) (*searcher.Response, error) {
	return func(ctx context.Context, r searcher.Request, limit int, each func(*searcher.Result) error) (*searcher.Response, error) {
		a := &searcher.Response{Query: r.Query, Total: n, Exact: true}
		for i := range min(n, limit) {
			if err := each(&searcher.Result{Doc: vocab.DocID(i + 1), URL: fmt.Sprintf("http://a.test/%d", i), Title: "<b>\n" + r.Query}); err != nil {
				return a, err
			}
		}
		return a, err
	}
}

// lines are those of an export, and its end.
func lines(t *testing.T, body string) ([]string, api.ExportEnd) {
	t.Helper()
	all := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	var end api.ExportEnd
	if err := json.Unmarshal([]byte(all[len(all)-1]), &end); err != nil {
		t.Fatal(err)
	}
	return all[:len(all)-1], end
}

// An export has a line for each result and a last line, which reports errors during the export;
// earlier errors are answered like others. It does not exceed its rate.
func TestExport(t *testing.T) {
	const n = 2345
	d := readDescription(t)
	schema, err := d.compiler.Compile("openapi.json#/paths/~1api~1v1~1export/get/responses/200/content/application~1x-ndjson/x-itemSchema")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := exportServer(exported(n, nil))
		w := do(t, s, http.MethodGet, "/api/v1/export?q=a+%3Cb%3E")
		results, end := lines(t, w.Body.String())
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/x-ndjson; charset=utf-8" ||
			len(results) != n || !end.Done || end.Results != n || end.Total != (api.TotalAnswer{Value: n, Relation: "eq"}) {
			t.Errorf("%d %v: %d results, %+v", w.Code, w.Header(), len(results), end)
		}
		if took := time.Since(began); took < n/100*100*time.Second/5000 {
			t.Errorf("%d results in %v", n, took)
		}
		for _, line := range []string{results[0], results[n-1], w.Body.String()[strings.LastIndex(strings.TrimSpace(w.Body.String()), "\n"):]} {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
			if err == nil {
				err = schema.Validate(value)
			}
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
		if results, end := lines(t, get(t, s, "/api/v1/export?q=a&max=7", http.StatusOK)); len(results) != 7 || !end.Done {
			t.Errorf("%d results of 7, %+v", len(results), end)
		}
		s = exportServer(exported(250, errors.New("segment: read /data/secret")))
		if results, end := lines(t, get(t, s, "/api/v1/export?q=a", http.StatusOK)); len(results) != 250 || end.Done || end.Error == nil || end.Error.Code != "internal" || strings.Contains(end.Error.Message, "secret") {
			t.Errorf("%d results, %+v", len(results), end)
		}
		s = exportServer(exported(0, fmt.Errorf("searcher: %w", context.DeadlineExceeded)))
		get(t, s, "/api/v1/export?q=a", http.StatusGatewayTimeout)
		for target, status := range map[string]int{"/api/v1/export": 400, "/api/v1/export?q=": 400, "/api/v1/export?q=a&max=0": 400, "/api/v1/export?q=a&type=image": 400, "/api/v1/export?q=a+type:image": 400, "/api/v1/export?q=a&type=sound": 400, "/api/v1/export?q=a&max=100001": 400, "/api/v1/export?q=a&q=b": 400} {
			if body := get(t, s, target, status); errorCode(t, body) != "bad_parameter" {
				t.Errorf("%s: %s", target, body)
			}
		}
	})
}

// So many exports run at once; one that is read too slowly, or by nobody, ends.
func TestExportsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		s := exportServer(func(ctx context.Context, _ searcher.Request, _ int, each func(*searcher.Result) error) (*searcher.Response, error) {
			select {
			case <-hold:
				return &searcher.Response{}, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		})
		ended := make(chan int, 2)
		for range 2 {
			go func() { ended <- do(t, s, http.MethodGet, "/api/v1/export?q=a").Code }()
		}
		synctest.Wait()
		w := do(t, s, http.MethodGet, "/api/v1/export?q=a")
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
			t.Errorf("one more: %d", w.Code)
		}
		get(t, s, "/api/v1/search?q=inverted+index", http.StatusOK) // searches do not wait for exports
		began := time.Now()
		for range 2 {
			if code := <-ended; code != http.StatusInternalServerError || time.Since(began) < 10*time.Minute {
				t.Errorf("%d after %v", code, time.Since(began))
			}
		}
		close(hold)
		get(t, s, "/api/v1/export?q=a", http.StatusOK)
	})
}

// Who follows the cursors gets every result once, while the index stays; where it changes, an error.
func TestCursors(t *testing.T) {
	f := newFake()
	f.answers["inverted index"].State = "1-a"
	s := newServerOf(Options{Collection: f})
	seen := map[string]bool{}
	type page struct {
		Results    []struct{ URL string }
		NextCursor string `json:"next_cursor"`
	}
	var answer page
	var cursors []string
	for pages := 0; pages == 0 || answer.NextCursor != ""; pages++ {
		target := "/api/v1/search?q=inverted+index&num=20"
		if pages > 0 {
			target += "&cursor=" + answer.NextCursor
			cursors = append(cursors, answer.NextCursor)
		}
		answer = page{}
		if err := json.Unmarshal([]byte(get(t, s, target, http.StatusOK)), &answer); err != nil {
			t.Fatal(err)
		}
		for _, r := range answer.Results {
			if seen[r.URL] {
				t.Errorf("%s comes twice", r.URL)
			}
			seen[r.URL] = true
		}
	}
	if len(seen) != 95 || len(cursors) != 4 {
		t.Fatalf("%d results by %d cursors", len(seen), len(cursors))
	}
	get(t, s, "/api/v1/search?q=inverted+index&num=20&start=0&cursor="+cursors[0], http.StatusOK) // the default, as clients send it
	for _, bad := range []string{"q=inverted+index&num=10&cursor=" + cursors[0], "q=other&num=20&cursor=" + cursors[0], "q=inverted+index&num=20&start=20&cursor=" + cursors[0],
		"q=inverted+index&num=20&cursor=x", "q=inverted+index&num=20&cursor=" + url.QueryEscape(`{"s":20}`), "q=inverted+index&num=20&cursor=" + strings.Repeat("a", 300), "q=inverted+index&num=20&block=a.test&cursor=" + cursors[0]} {
		if body := get(t, s, "/api/v1/search?"+bad, http.StatusBadRequest); errorCode(t, body) != "bad_parameter" {
			t.Errorf("%s: %s", bad, body)
		}
	}
	f.answers["inverted index"].State = "2-b"
	if body := get(t, s, "/api/v1/search?q=inverted+index&num=20&cursor="+cursors[0], http.StatusConflict); errorCode(t, body) != "index_changed" {
		t.Error(body)
	}
}

// exportServer returns a server whose collection answers exports with all.
func exportServer(all func(context.Context, searcher.Request, int, func(*searcher.Result) error) (*searcher.Response, error)) *Server {
	f := newFake()
	f.all = all
	return newServerOf(Options{Collection: f})
}
