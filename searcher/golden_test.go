package searcher_test

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/collection"
	"anatomy/ranking"
	"anatomy/searcher"
	"anatomy/upkeep"
	"anatomy/warc"
)

// TestGolden builds the small webs of testdata/*.web, runs their queries and compares the results.
// testdata/README.md describes the files.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.web")
	must(t, err)
	asked := 0
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".web"), func(t *testing.T) {
			t.Parallel()
			w := readWeb(t, file)
			s := w.build(t)
			for _, q := range w.queries {
				q.check(t, s)
			}
		})
		text, err := os.ReadFile(file)
		must(t, err)
		asked += len(regexp.MustCompile(`(?m)^query `).FindAll(text, -1))
	}
	if asked < 30 {
		t.Errorf("%d queries in %d files, want 30 at least", asked, len(files))
	}
}

// A goldenWeb is a file of testdata.
type goldenWeb struct {
	pages   []*goldenPage
	queries []*goldenQuery
}

type goldenPage struct {
	url, lang  string
	head, body strings.Builder
}

type goldenQuery struct {
	at, text string // file and line
	want     []string
}

func readWeb(t *testing.T, file string) *goldenWeb {
	text, err := os.ReadFile(file)
	must(t, err)
	w := &goldenWeb{}
	var page *goldenPage
	for i, line := range strings.Split(string(text), "\n") {
		at := fmt.Sprintf("%s:%d", file, i+1)
		what, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case what == "" || strings.HasPrefix(what, "//"):
		case line[0] != '\t' && what == "page":
			url, lang, _ := strings.Cut(rest, " ")
			page = &goldenPage{url: goldenURL(url, ""), lang: lang}
			w.pages = append(w.pages, page)
		case line[0] != '\t' && what == "fill":
			page = nil
			w.fill(rest)
		case line[0] != '\t' && what == "query":
			page = nil
			w.queries = append(w.queries, &goldenQuery{at: at, text: rest})
		case line[0] == '\t' && page != nil:
			page.add(what, rest)
		case line[0] == '\t' && len(w.queries) > 0:
			q := w.queries[len(w.queries)-1]
			q.want = append(q.want, strings.TrimSpace(line))
		default:
			t.Fatalf("%s: want page, query or an indented line of one", at)
		}
	}
	return w
}

// fill adds n pages on a host.
func (w *goldenWeb) fill(what string) {
	var host string
	var n int
	fmt.Sscan(what, &host, &n)
	_, words, _ := strings.Cut(what, fmt.Sprint(n)+" ")
	for i := range n {
		p := &goldenPage{url: goldenURL(fmt.Sprint(host, "/", i), ""), lang: "en"}
		p.add("title", fmt.Sprint(words, " ", i))
		p.add("p", fmt.Sprint(i, " ", words, " ", i*i))
		w.pages = append(w.pages, p)
	}
}

// goldenURL returns the URL that wiki/solar means, http://wiki.test/solar, and /solar on the host
// of the page.
func goldenURL(name, page string) string {
	if path, ok := strings.CutPrefix(name, "/"); ok {
		host, _, _ := strings.Cut(strings.TrimPrefix(page, "http://"), "/")
		return "http://" + host + "/" + path
	}
	host, path, _ := strings.Cut(name, "/")
	return "http://" + host + ".test/" + path
}

var goldenLink = regexp.MustCompile(`\[([^]]*)\]\(([^)]*)\)`)

// add adds a line: an element with its text, or a tag of the head.
func (p *goldenPage) add(element, text string) {
	switch element {
	case "title":
		fmt.Fprintf(&p.head, "<title>%s</title>\n", html.EscapeString(text))
	case "date":
		fmt.Fprintf(&p.head, "<meta property=\"article:published_time\" content=\"%s\">\n", text)
	case "description":
		fmt.Fprintf(&p.head, "<meta name=\"description\" content=\"%s\">\n", html.EscapeString(text))
	case "html":
		p.body.WriteString(text + "\n")
	default:
		text = goldenLink.ReplaceAllStringFunc(html.EscapeString(text), func(link string) string {
			part := goldenLink.FindStringSubmatch(link)
			return `<a href="` + goldenURL(part[2], p.url) + `">` + part[1] + "</a>"
		})
		fmt.Fprintf(&p.body, "<%s>%s</%s>\n", element, text, element)
	}
}

// build makes a data folder of the pages, as an import of their archive does, and computes their
// ranks.
func (w *goldenWeb) build(t *testing.T) *searcher.Searcher {
	var archive bytes.Buffer
	out, err := warc.NewWriter(&archive, warc.Plain)
	must(t, err)
	for _, p := range w.pages {
		block := "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html lang=\"" + p.lang + "\"><head>" + p.head.String() + "</head><body>" + p.body.String() + "</body></html>"
		_, err := out.Write(warc.Response, time.Unix(1.75e9, 0), []warc.Field{{Name: "WARC-Target-URI", Value: p.url}}, []byte(block))
		must(t, err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	r, err := upkeep.Import(t.Context(), upkeep.ImportOptions{Dir: dir, Files: []string{"web"}, Open: func(string) (io.ReadCloser, error) {
		return io.NopCloser(&archive), nil
	}})
	must(t, err)
	if r.Pages != int64(len(w.pages)) {
		t.Fatalf("imported %+v of %d pages", r, len(w.pages))
	}
	_, err = ranking.Compute(t.Context(), dir, ranking.Options{})
	must(t, err)
	links := collection.NewSharedLinks(dir)
	t.Cleanup(func() { must(t, links.Close()) })
	s, err := searcher.Open(dir, searcher.Options{Links: links})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	must(t, s.Learn(t.Context()))
	return s
}

// check runs a query and compares the results with the expected ones.
func (q *goldenQuery) check(t *testing.T, s *searcher.Searcher) {
	resp, err := s.Search(t.Context(), searcher.Request{Query: q.text, Within: time.Minute})
	must(t, err)
	var got []string
	for _, r := range resp.Results {
		got = append(got, goldenResult(&r))
	}
	more, next := false, 0
	for _, want := range q.want {
		kind, text, _ := strings.Cut(want, " ")
		bad := ""
		switch kind {
		case "...":
			more = true
		case "also", "not":
			there := slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line+" ", text+" ") })
			if more = more || kind == "also"; there != (kind == "also") {
				bad = fmt.Sprintf("results are\n\t%s", strings.Join(got, "\n\t"))
			}
		case "understood":
			bad = unequal(resp.Interpreted, text)
		case "suggestion":
			bad = unequal(resp.Suggestion, text)
		case "corrected":
			bad = unequal(resp.Corrected, text)
		case "total":
			bad = unequal(fmt.Sprint(resp.Total), text)
		case "why":
			if !strings.Contains(resp.Why, text) {
				bad = fmt.Sprintf("it is %q", resp.Why)
			}
		default:
			if next == len(got) || got[next] != want {
				bad = fmt.Sprintf("results are\n\t%s", strings.Join(got, "\n\t"))
			}
			next++
		}
		if bad != "" {
			t.Errorf("%s: query %s: want %s: %s", q.at, q.text, want, bad)
			return
		}
	}
	if !more && next < len(got) {
		t.Errorf("%s: query %s: more results than wanted:\n\t%s", q.at, q.text, strings.Join(got[next:], "\n\t"))
	}
	if len(q.want) == 0 {
		t.Errorf("%s: query %s wants nothing", q.at, q.text)
	}
}

func unequal(got, want string) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("it is %q", got)
}

// goldenResult formats a result as files of testdata do.
func goldenResult(r *searcher.Result) string {
	line := strings.Replace(strings.TrimPrefix(r.URL, "http://"), ".test/", "/", 1)
	if r.Similar > 0 {
		line += fmt.Sprint(" similar ", r.Similar)
	}
	if r.More > 0 {
		line += fmt.Sprint(" more ", r.More)
	}
	if len(r.Missing) > 0 {
		line += " missing " + strings.Join(r.Missing, ", ")
	}
	return line
}
