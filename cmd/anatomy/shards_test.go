package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// twoSites has pages of two sites, 127.0.0.1 and localhost, that link to one another. It returns the
// URLs of the first page of each.
func twoSites(t *testing.T) (one, two string) {
	var web *httptest.Server
	web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		other := strings.Replace(web.URL, "127.0.0.1", "localhost", 1)
		host, n := "second", 0
		if strings.HasPrefix(r.Host, "localhost") {
			host, other = "third", web.URL
		}
		if _, err := fmt.Sscanf(r.URL.Path, "/%d.html", &n); err != nil || n > 9 {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>Walrus %d of the %s site</title><p>walrus number %d
			<a href=/%d.html>next walrus</a> <a href=%s/%d.html>another walrus</a>`,
			n, host, n, n+1, other, n+1)
	}))
	t.Cleanup(web.Close)
	return web.URL + "/1.html", strings.Replace(web.URL, "127.0.0.1", "localhost", 1) + "/1.html"
}

// printed runs a command and returns its status, with all that it has printed.
func printed(args ...string) (status int, text string) {
	var out bytes.Buffer
	status = run(args, strings.NewReader(""), &out, &out)
	return status, out.String()
}

// TestEveryCommandOverShards runs each command on shards that a crawl fills. It works on all of them,
// or ends with the next step. No damage is left, and no page is lost that was not to be removed.
func TestEveryCommandOverShards(t *testing.T) {
	one, two := twoSites(t)
	work := t.TempDir()
	whole := filepath.Join(work, "whole")
	crawl := []string{"crawl", "--quiet", "--shards", "3", "--scope", "any", "--allow-private", "--delay", "0s", "--data", whole, one, two}
	if status, text := printed(crawl...); status != 0 {
		t.Fatal(text)
	}
	queries, judged := filepath.Join(work, "queries"), filepath.Join(work, "judged")
	for path, line := range map[string]string{queries: "walrus\n", judged: "walrus\t" + two + "\n"} {
		if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const refused, noCrawl = `hint: it works on one data folder: `, `hint: to start or resume one: anatomy crawl --data`
	table := map[string]struct {
		args []string // %s is the folder
		text string   // a pattern of what it prints
		all  bool     // all pages of both sites are there afterwards
	}{
		"backup":           {[]string{work + "/backup.tar.zst"}, `\d+ files, .* saved in`, true},
		"bench":            {[]string{queries}, `1 quer`, true},
		"check":            {nil, `no damage found`, true},
		"check --repair":   {nil, `no damage found`, true},
		"compact":          {nil, `\d+ of \d+ files rewritten`, true},
		"config":           {nil, `allow-private = true`, true},
		"config check":     {nil, `\d keys, no errors`, true},
		"config set":       {[]string{"delay", "1s"}, `delay = '1s'`, true},
		"config unset":     {[]string{"delay"}, `delay: the default`, true},
		"crawl":            {nil, `0 new pages`, true},
		"crawl add":        {[]string{one}, noCrawl, true},
		"crawl delay":      {[]string{"localhost", "1s"}, noCrawl, true},
		"crawl history":    {nil, `command +18 `, true},
		"crawl pause":      {nil, noCrawl, true},
		"crawl remove":     {[]string{one}, noCrawl, true},
		"crawl resume":     {nil, noCrawl, true},
		"crawl status":     {nil, noCrawl, true},
		"disks":            {nil, refused, true},
		"disks remove":     {[]string{work + "/disk"}, `error: `, true},
		"dump docindex":    {nil, `localhost:\d+/9.html(?s:.*)127.0.0.1:\d+/9.html|127.0.0.1:\d+/9.html(?s:.*)localhost:\d+/9.html`, true},
		"dump links":       {nil, `next walrus`, true},
		"dump page":        {[]string{two}, `third site`, true},
		"dump rank":        {nil, `\d`, true},
		"dump repository":  {nil, `localhost:\d+/9.html(?s:.*)127.0.0.1:\d+/9.html|127.0.0.1:\d+/9.html(?s:.*)localhost:\d+/9.html`, true},
		"dump segment":     {[]string{"walrus"}, `walrus`, true},
		"eval":             {[]string{judged}, `1 quer`, true},
		"explain":          {[]string{"walrus", two}, `pagerank|rank`, true},
		"export parallel":  {[]string{"-o", work + "/pairs.tsv"}, `0 pairs exported`, true},
		"export warc":      {[]string{"-o", work + "/pages.warc"}, `18 pages, 0 duplicates and 0 redirects exported`, true},
		"import warc":      {[]string{work + "/pages.warc"}, refused, true},
		"index":            {nil, `18 pages and \d+ links indexed`, true},
		"links":            {[]string{two}, `localhost`, true},
		"links broken":     {nil, `/10.html`, true},
		"links export":     {nil, `1\t2`, true},
		"links orphans":    {nil, `1.html`, true},
		"links synonyms":   {nil, ``, true},
		"pagerank":         {nil, `iterations`, true},
		"pagerank diff":    {[]string{"default", "pages"}, `Kendall`, true},
		"pagerank list":    {nil, `default`, true},
		"pagerank remove":  {[]string{"other"}, `error: `, true},
		"pagerank restore": {nil, `error: no such rank vector: "previous"`, true},
		"pagerank seeds":   {nil, `1.html`, true},
		"remove":           {[]string{two}, `1 document blocked, 1 page among them`, false},
		"remove --purge":   {[]string{two}, `nothing of a blocked page is left`, false},
		"remove --undo":    {[]string{two}, `not blocked`, true},
		"search":           {[]string{"walrus"}, `9.html`, true},
		"split":            {[]string{work + "/split"}, refused, true},
		"stats":            {nil, `searchable pages 18`, true},
		"trace":            {[]string{two}, `index      there`, true},
	}
	// These have no folder, make one, or run until they are ended.
	others := []string{
		"", "backup verify", "cluster", "cluster adopt", "cluster check", "cluster drain", "cluster restore",
		"cluster status", "completion", "completion bash", "completion fish", "completion powershell",
		"completion zsh", "crawler", "demo", "dns", "dump", "dump barrels", "export", "help", "import", "mcp",
		"man", "node", "pdf", "restore", "serve", "version",
	}
	for name, test := range table {
		t.Run(name, func(t *testing.T) {
			if name == "import warc" {
				printed("export", "warc", "--data", whole, "-o", work+"/pages.warc")
			}
			dir := filepath.Join(t.TempDir(), "many")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			status, text := printed(append(append(strings.Fields(name), "--data", dir), test.args...)...)
			if !regexp.MustCompile(test.text).MatchString(text) {
				t.Errorf("status %d; no %s in\n%s", status, test.text, text)
			}
			if status != 0 && !strings.Contains(text, "hint: ") || strings.Contains(text, "check the data folder") {
				t.Errorf("status %d without a next step:\n%s", status, text)
			}
			if status, text := printed("check", "--data", dir); status != 0 {
				t.Error(text)
			}
			want := 18
			if !test.all {
				want--
			}
			if n := walruses(t, dir); n != want {
				t.Errorf("%d pages are found, want %d", n, want)
			}
		})
	}
	root, _ := newRoot()
	var named func(c *cobra.Command)
	named = func(c *cobra.Command) {
		_, name, _ := strings.Cut(c.CommandPath(), " ")
		known := false
		for _, other := range others {
			known = known || name == other
		}
		if _, ok := table[name]; c.Runnable() && !ok && !known {
			t.Errorf("anatomy %s is not tried over shards", name)
		}
		for _, sub := range c.Commands() {
			named(sub)
		}
	}
	named(root)
}

// walruses returns how many pages of the two sites are found.
func walruses(t *testing.T, dir string) int {
	t.Helper()
	status, text := printed("search", "--all", "-n", "100", "--data", dir, "walrus")
	if status != 0 {
		t.Fatal(text)
	}
	return len(regexp.MustCompile(`(?m)^.*http://\S+/\d+\.html`).FindAllString(text, -1))
}
