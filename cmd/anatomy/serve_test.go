package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/cmd/anatomy/internal/serving"
	"anatomy/config"
	"anatomy/disk/crawllog"
)

// A server is `anatomy serve`, or another command that ends with it, in a process of its own.
type server struct {
	command *exec.Cmd
	url     string // with a slash at the end
}

var announced = regexp.MustCompile(`(?:Search at|Open) (https?://\S+)`)

// start runs a command that serves, on a free port, and waits until it says where.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	c := exec.Command("anatomy", append(args, "--listen", "127.0.0.1:0")...)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = in, in
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	t.Cleanup(func() { c.Process.Kill(); c.Wait(); out.Close() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if found := announced.FindStringSubmatch(lines.Text()); found != nil {
			go io.Copy(io.Discard, out) // ends with the process
			return &server{c, found[1]}
		}
	}
	t.Fatalf("%s ended without an address: %v", args[0], lines.Err())
	return nil
}

// get fetches a page and wants status 200.
func (s *server) get(t *testing.T, path string) string {
	t.Helper()
	r, err := http.Get(s.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s: %v\n%s", path, r.Status, err, body)
	}
	return string(body)
}

// order is the order of the results of a query.
func (s *server) order(t *testing.T, query string) string {
	t.Helper()
	var answer struct {
		Results []struct{ URL string }
	}
	if err := json.Unmarshal([]byte(s.get(t, "api/v1/search?num=50&q="+url.QueryEscape(query))), &answer); err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, r := range answer.Results {
		urls = append(urls, r.URL)
	}
	return strings.Join(urls, "\n")
}

// interrupt ends the server as Ctrl-C does, and wants status 130.
func (s *server) interrupt(t *testing.T) {
	t.Helper()
	if err := s.command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	s.command.Wait()
	if got := s.command.ProcessState.ExitCode(); got != statusInterrupted {
		t.Errorf("status %d after an interruption, want %d", got, statusInterrupted)
	}
}

// command runs the program in a process of its own and gives what it printed.
func command(t *testing.T, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	c := exec.Command("anatomy", args...)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("anatomy %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}

var framed = regexp.MustCompile(`<iframe [^>]*src="/([^"]+)"`)

// A running server answers people and programs, and takes up the ranks that another process
// computes.
func TestServe(t *testing.T) {
	dir := crawled(t)
	s := start(t, "serve", "--data", dir)
	if got := s.get(t, "readyz"); got != "ready\n" {
		t.Errorf("readyz says %q", got)
	}
	if got := s.get(t, "search?q=anchor+text"); !strings.Contains(got, "<mark>") || !strings.Contains(got, "http://glossary.test/anchor-text") {
		t.Errorf("no marked result in\n%s", got)
	}
	cached := s.get(t, "cached?q=anchor&url="+url.QueryEscape("http://glossary.test/anchor-text"))
	if frame := framed.FindStringSubmatch(cached); frame == nil {
		t.Errorf("no frame in\n%s", cached)
	} else if got := s.get(t, html.UnescapeString(frame[1])); !strings.Contains(got, ">Anchor</mark> text") {
		t.Errorf("no marked words in the cached page\n%s", got)
	}

	took := regexp.MustCompile(`"took_ms":[0-9.e-]+`)
	api := took.ReplaceAllString(s.get(t, "api/v1/search?q=anchor+text&num=3"), "")
	if printed := took.ReplaceAllString(command(t, "search", "--data", dir, "--json", "--num", "3", "anchor", "text"), ""); printed != api {
		t.Errorf("search --json prints\n%s\nthe API answers\n%s", printed, api)
	}
	api = strings.TrimSuffix(s.get(t, "api/v1/stats"), "}\n")
	if printed := command(t, "stats", "--data", dir, "--json"); !strings.HasPrefix(printed, api+`,"outcomes":{"fetched":`) {
		t.Errorf("stats --json prints\n%s\nthe API answers\n%s", printed, api)
	}

	const query = "robots.txt"
	before := s.order(t, query)
	command(t, "pagerank", "--data", dir, "--personalize", "handbuch.test", "--name", "default")
	deadline := time.Now().Add(10 * time.Second)
	for s.order(t, query) == before {
		if time.Now().After(deadline) {
			t.Fatalf("the order of results is still\n%s", before)
		}
		time.Sleep(20 * time.Millisecond)
	}
	command(t, "pagerank", "--data", dir)
	for s.order(t, query) != before {
		if time.Now().After(deadline) {
			t.Fatalf("with the ranks of before the order is\n%s\nwas\n%s", s.order(t, query), before)
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.interrupt(t)
}

// The demo serves what it crawled until it is interrupted, and forgets it.
func TestDemoServes(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := start(t, "demo")
	if got := s.order(t, `"dangling pages"`); !strings.Contains(got, "http://ranking.test/") {
		t.Errorf("results %q", got)
	}
	s.interrupt(t)
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestServeCollections: further data folders are served below paths of their own, and named by their
// configuration.
func TestServeCollections(t *testing.T) {
	docs, wiki := crawled(t), crawled(t)
	toml := "schema = 1\n[crawl]\ncontact = \"wiki@example.org\"\n[search]\nname = \"The wiki\"\n"
	if err := os.WriteFile(filepath.Join(wiki, "anatomy.toml"), []byte(toml), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, "serve", "--data", docs, "--collection", "wiki="+wiki, "--collection", "more="+docs)
	var list struct {
		Collections []struct {
			Name, Path string
			Answer     struct{ Results []any }
		}
	}
	if err := json.Unmarshal([]byte(s.get(t, "api/v1/collections?q=crawler&num=2")), &list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range list.Collections {
		got = append(got, fmt.Sprintf("%s %s %d", c.Name, c.Path, len(c.Answer.Results)))
	}
	if want := []string{"anatomy / 2", "The wiki /wiki/ 2", "more /more/ 2"}; !slices.Equal(got, want) {
		t.Errorf("collections %q, want %q", got, want)
	}
	if page := s.get(t, "wiki/"); !strings.Contains(page, "The wiki") || !strings.Contains(page, `action="/wiki/search"`) {
		t.Errorf("the start page of the wiki:\n%s", page)
	}
	if page := s.get(t, "wiki/bot"); !strings.Contains(page, "anatomy/0.1 (contact: wiki@example.org)") {
		t.Errorf("the page about the crawler of the wiki:\n%s", page)
	}
	s.get(t, "more/readyz")
	s.interrupt(t)
	for flag, want := range map[string]string{
		"wiki":                             "is not NAME=FOLDER",
		"Wiki=" + wiki:                     "is not NAME=FOLDER",
		"a/b=" + wiki:                      "is not NAME=FOLDER",
		"wiki=":                            "is not NAME=FOLDER",
		"search=" + wiki:                   "pages of its own at /search",
		"wiki=" + filepath.Join(wiki, "x"): "--collection wiki: ",
	} {
		if status, text := printed("serve", "--listen", "127.0.0.1:0", "--data", docs, "--collection", flag); status == 0 || !strings.Contains(text, want) {
			t.Errorf("--collection %s: status %d, want %q in %s", flag, status, want, text)
		}
	}
}

func TestSiteSets(t *testing.T) {
	sets, err := serving.ParseSiteSets([]string{"docs=docs.example.org, example.org/help", "docs=a.test", "b=b.test"})
	if want := map[string][]string{"docs": {"docs.example.org", "example.org/help", "a.test"}, "b": {"b.test"}}; err != nil || !reflect.DeepEqual(sets, want) {
		t.Errorf("%v, %v", sets, err)
	}
	for _, bad := range []string{"", "docs", "docs=", "=a.test", "docs=a.test,", "docs=a b", "docs=a.test OR b.test"} {
		if sets, err := serving.ParseSiteSets([]string{bad}); err == nil {
			t.Errorf("%q: %v", bad, sets)
		}
	}
}

// TestServeRecrawls: a server recrawls a data folder by its schedule, and one of shards, too.
func TestServeRecrawls(t *testing.T) {
	one, two := twoSites(t)
	for _, shards := range [][]string{nil, {"--shards", "2"}} {
		dir := filepath.Join(t.TempDir(), "data")
		crawl := []string{"crawl", "--quiet", "--scope", "any", "--allow-private", "--delay", "0s", "--schedule", "1h", "--data", dir, one, two}
		if status, text := printed(append(crawl, shards...)...); status != 0 {
			t.Fatal(text)
		}
		if err := crawllog.Append(dir, crawllog.Crawl{Began: time.Now().Add(-2 * time.Hour)}); err != nil {
			t.Fatal(err)
		}
		start(t, "serve", "--data", dir)
		var crawls []crawllog.Crawl
		for deadline := time.Now().Add(time.Minute); len(crawls) < 3 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			var err error
			if crawls, err = crawllog.Read(dir); err != nil {
				t.Fatal(err)
			}
		}
		if len(crawls) != 3 || crawls[0].By != crawllog.Schedule || crawls[0].How != "recrawl" || crawls[0].Result != crawllog.Done || crawls[0].Pages != 18 {
			t.Fatalf("%q: %+v", shards, crawls)
		}
	}
}

// TestSiteName: the name in anatomy.toml is that of the pages, and of the search engine for browsers.
func TestSiteName(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("anatomy", "demo", "--exit", "--keep", "--data", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const name = "Handbooks of the <b>Example</b> Works"
	config := fmt.Sprintf("schema = 1\n[search]\nname = %q\n", name)
	if err := os.WriteFile(filepath.Join(dir, "anatomy.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, "serve", "--data", dir)
	for path, want := range map[string]string{
		"":               "<title>" + html.EscapeString(name) + "</title>",
		"search?q=links": " – " + html.EscapeString(name) + "</title>",
		"opensearch.xml": "<Description>Search with " + html.EscapeString(name) + "</Description>",
	} {
		if body := s.get(t, path); !strings.Contains(body, want) {
			t.Errorf("%s: %q is missing in\n%.1000s", path, want, body)
		}
	}
}

// TestRankingLog: the log says that the collection has no rank vector of the name in anatomy.toml, and
// how to compute it.
func TestRankingLog(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	command(t, "demo", "--exit", "--keep", "--data", data)
	if err := os.WriteFile(config.Path(data), []byte("schema = 1\n[search]\nranking = 'museum'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	f, err := openFolder(data, "", nil, serveOptions{log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, text := range []string{"level=WARN", "no rank vector", "anatomy pagerank --name museum --data " + data} {
		if strings.Count(log.String(), text) != 1 {
			t.Errorf("the log is %q, want %q", log.String(), text)
		}
	}
}
