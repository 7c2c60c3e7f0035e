package main

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"anatomy"
)

// A tutorial is a guide whose commands are run, in an empty folder, as a reader runs them.
type tutorial struct {
	file string
	site string // that the guide names; "" for none
	skip string // commands with this text are about a site or a server that tests do not have
	own  int    // commands that are run, at least
}

var tutorials = []tutorial{
	{"doc/students.md", "", "lab/", 9},
	{"doc/agents.md", "", "\x00", 5},
	{"doc/own-site.md", "http://localhost:8000", "docs.example.org/", 9},
}

// smallSite is the site of doc/own-site.md.
var smallSite = map[string]string{
	"/": `<title>A small database</title><h1>A small database</h1>This manual explains the database.
<ul><li><a href=install.html>Install</a><li><a href=sketches.html>Sketches</a><li><a href=retention.html>Retention</a>
<li><a href=query.html>Queries</a><li><a href=api.html>API</a></ul>`,
	"/install.html": "<title>Installation</title><h1>Installation</h1>Unpack the archive and start the server.",
	"/sketches.html": `<title>Sketches for quantiles</title><h1>Sketches for quantiles</h1>
A sketch answers quantile queries within one percent in a few kilobytes of memory. Sketches can be merged.`,
	"/retention.html": `<title>Retention and compaction</title><h1>Retention and compaction</h1>
Old blocks are removed, and small ones are joined.`,
	"/query.html": "<title>Queries</title><h1>Queries</h1>A query names a metric, a range of time, and a function.",
	"/api.html":   "<title>HTTP API</title><h1>HTTP API</h1>Send points with POST, read them with GET.",
}

// A step is a command of a guide, with the sample of what it prints, "" for none.
type step struct {
	line            int
	command, sample string
}

// stepsOf returns the commands in the indented blocks of a guide. The first block between fences below a
// command, in the same section, is its sample, unless it is a shortened one.
func stepsOf(guide string) (steps []step) {
	lines := strings.Split(guide, "\n")
	open := false // the last command has no sample yet
	for i := 0; i < len(lines); i++ {
		command, isCode := strings.CutPrefix(lines[i], "    ")
		switch {
		case isCode && command != "" && command[0] != ' ':
			steps = append(steps, step{i + 1, command, ""})
			open = true
		case strings.HasPrefix(lines[i], "#"):
			open = false
		case strings.HasPrefix(lines[i], "```"):
			var sample []string
			for i++; i < len(lines) && lines[i] != "```"; i++ {
				sample = append(sample, lines[i])
			}
			shortened := strings.HasPrefix(strings.Join(lines[min(i+1, len(lines)):min(i+3, len(lines))], ""), "(shortened)")
			if open && !shortened {
				steps[len(steps)-1].sample = strings.Join(sample, "\n")
			}
			open = false
		}
	}
	return steps
}

// TestTutorials runs the commands of the guides in an empty folder. Each ends with status 0, and prints what
// its sample shows, except for numbers and white space; … in a sample stands for any text.
func TestTutorials(t *testing.T) {
	for _, guide := range tutorials {
		t.Run(guide.file, func(t *testing.T) {
			t.Parallel()
			text, err := fs.ReadFile(anatomy.Docs, guide.file)
			if err != nil {
				t.Fatal(err)
			}
			replace := strings.NewReplacer()
			if guide.site != "" {
				changed := false // a page is new from the second request of the start page on
				site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					page, ok := smallSite[r.URL.Path]
					if r.URL.Path == "/new.html" {
						page, ok = "<title>New</title><h1>New</h1>A new page.", true
					}
					if !ok {
						http.NotFound(w, r)
						return
					}
					if r.URL.Path == "/" {
						if changed {
							page += "<a href=new.html>New</a>"
						}
						changed = true
					}
					w.Header().Set("Content-Type", "text/html; charset=utf-8")
					http.ServeContent(w, r, "", time.Unix(1e9, int64(len(page))*1e9), strings.NewReader(page))
				}))
				defer site.Close()
				replace = strings.NewReplacer(guide.site, site.URL)
			}
			g := runner{dir: t.TempDir(), listen: freeAddress(t)}
			defer g.end()
			for _, s := range stepsOf(string(text)) {
				if strings.Contains(s.command, guide.skip) {
					continue
				}
				command := replace.Replace(s.command)
				printed, err := g.run(t, command)
				if err != nil {
					t.Fatalf("%s:%d: %s: %v\n%s", guide.file, s.line, command, err, printed)
				}
				if want := replace.Replace(s.sample); !strings.HasPrefix(command, "anatomy serve") && !shows(printed, want) {
					t.Errorf("%s:%d: %s printed\n%s\nand not\n%s", guide.file, s.line, command, printed, want)
				}
			}
			if g.commands < guide.own {
				t.Errorf("%s: %d commands were run, want %d and more", guide.file, g.commands, guide.own)
			}
		})
	}
}

// A runner runs the commands of a guide in one folder.
type runner struct {
	dir      string
	listen   string // where servers listen instead of at 127.0.0.1:8080
	commands int
	server   *exec.Cmd // the last one
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// run runs a command, and returns what it printed. A server goes on until the next one, or until end.
func (g *runner) run(t *testing.T, command string) (printed string, err error) {
	g.commands++
	command = strings.ReplaceAll(command, "127.0.0.1:8080", g.listen)
	if strings.HasPrefix(command, "anatomy serve") {
		g.end()
		if !strings.Contains(command, g.listen) {
			command += " --listen " + g.listen
		}
		g.server = g.shell(t.Context(), "exec "+command)
		if err := g.server.Start(); err != nil {
			return "", err
		}
		for range 100 {
			if answer, err := http.Get("http://" + g.listen + "/readyz"); err == nil {
				answer.Body.Close()
				return "", nil
			}
			time.Sleep(100 * time.Millisecond)
		}
		return "", fmt.Errorf("no answer at %s", g.listen)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b, err := g.shell(ctx, command).CombinedOutput()
	return string(b), err
}

func (g *runner) shell(ctx context.Context, command string) *exec.Cmd {
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.Dir = g.dir
	c.Env = append(os.Environ(), "http_proxy=", "HTTP_PROXY=")
	return c
}

// end ends the server.
func (g *runner) end() {
	if g.server != nil {
		g.server.Process.Kill()
		g.server.Wait() // fails because of the signal
		g.server = nil
	}
}

var (
	number = regexp.MustCompile(`[0-9][0-9.,:e+-]*((m[0-9]+|[mµ])?s\b)?`) // or a duration
	spaces = regexp.MustCompile(`\s+`)
)

// shows reports whether a text has each line of a sample, in order. A sample breaks long lines.
func shows(text, sample string) bool {
	plain := func(s string) string { return spaces.ReplaceAllString(number.ReplaceAllString(s, "0"), " ") }
	rest := plain(text)
	for line := range strings.Lines(sample) {
		for part := range strings.SplitSeq(line, "…") {
			if part = strings.TrimSpace(plain(part)); part == "" {
				continue
			}
			_, after, found := strings.Cut(rest, part)
			if !found {
				return false
			}
			rest = after
		}
	}
	return true
}

// TestShows: a sample is shown if all of it is, except for its numbers, in its order.
func TestShows(t *testing.T) {
	const text = "12 pages in 0.5s.\n  a.test   3 links, and more\n"
	for sample, want := range map[string]bool{
		"": true, "9 pages in 600ms.": true, "9 pages in 1m2s.": true, "12 pages in\n0.5s.": true, "12 pages …\na.test 7 links": true,
		"12 sites": false, "a.test\n12 pages": false, "… more": true,
	} {
		if shows(text, sample) != want {
			t.Errorf("%q: %v", sample, !want)
		}
	}
}
