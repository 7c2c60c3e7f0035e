package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"anatomy/disk/datadir"
)

// TestMain puts the program itself into the PATH of scripts and tests, under the name anatomy.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"anatomy": main})
}

// crawled is a data folder with the demo's web in it. Tests copy it.
func crawled(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	var stdout, stderr bytes.Buffer
	if status := run([]string{"demo", "--exit", "--keep", "--data", dir}, strings.NewReader(""), &stdout, &stderr); status != 0 {
		t.Fatalf("demo: status %d\n%s%s", status, &stdout, &stderr)
	}
	return dir
}

// Each script finds the demo's web crawled in the folder data.
func TestScripts(t *testing.T) {
	dir := crawled(t)
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) < 10 {
		t.Fatalf("%d scripts: %v", len(scripts), err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			return os.CopyFS(filepath.Join(env.WorkDir, "data"), os.DirFS(dir))
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status": status, "sums": sums, "urls": urls, "flip": flip, "zip": pack, "hold": hold, "full": full, "site": site,
		},
	})
}

// status N COMMAND... runs a command and wants exit status N. Where it is not 0, standard error must
// end with one line that begins "error: " and one that begins "hint: ".
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND [ARGUMENT...]")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	stderr := ts.ReadFile("stderr")
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("status %d, want %s\n%s", got, args[0], stderr)
	}
	if got != 0 && !complaint.MatchString(stderr) {
		ts.Fatalf("no error and hint at the end of standard error:\n%s", stderr)
	}
	if strings.Count(stderr, "error: ") > 1 || strings.Count(stderr, "hint: ") > 1 {
		ts.Fatalf("more than one error or hint:\n%s", stderr)
	}
}

var complaint = regexp.MustCompile(`(^|\n)error: [^\n]+\nhint: [^\n]+\n$`)

// sums checks that the terms that the last command explained add up to the score, to the last digit.
func sums(ts *testscript.TestScript, _ bool, _ []string) {
	sum, terms := new(big.Rat), 0
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		if !points.MatchString(fields[0]) {
			continue
		}
		x, _ := new(big.Rat).SetString(fields[0])
		if len(fields) == 2 && fields[1] == "score" {
			if terms == 0 || sum.Cmp(x) != 0 {
				ts.Fatalf("%d terms add up to %s, the score is %s", terms, sum.FloatString(6), x.FloatString(6))
			}
			return
		}
		sum.Add(sum, x)
		terms++
	}
	ts.Fatalf("no score in:\n%s", ts.ReadFile("stdout"))
}

var points = regexp.MustCompile(`^-?\d+\.\d{6}$`)

// urls FILE appends the URLs of the results that search --json printed, a line each, to FILE.
func urls(ts *testscript.TestScript, _ bool, args []string) {
	var answer struct{ Results []struct{ URL string } }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &answer))
	if len(answer.Results) == 0 {
		ts.Fatalf("no results")
	}
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	ts.Check(err)
	for _, r := range answer.Results {
		_, err := f.WriteString(r.URL + "\n")
		ts.Check(err)
	}
	ts.Check(f.Close())
}

// flip PATTERN flips a bit in the middle of the largest file that matches.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	var name string
	var body []byte
	for _, file := range files {
		b, err := os.ReadFile(file)
		ts.Check(err)
		if len(b) > len(body) {
			name, body = file, b
		}
	}
	if len(body) == 0 {
		ts.Fatalf("no file matches %s", args[0])
	}
	body[len(body)/2] ^= 1
	ts.Check(os.WriteFile(name, body, 0o644))
}

// zip FILE NAME=CONTENT... makes a zip file with what the files CONTENT hold, under other names.
func pack(ts *testscript.TestScript, _ bool, args []string) {
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, arg := range args[1:] {
		name, from, _ := strings.Cut(arg, "=")
		w, err := z.Create(name)
		ts.Check(err)
		_, err = io.WriteString(w, ts.ReadFile(from))
		ts.Check(err)
	}
	ts.Check(z.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), packed.Bytes(), 0o644))
}

// hold DIR takes the right to write to a data folder until the script ends.
func hold(ts *testscript.TestScript, _ bool, args []string) {
	w, err := datadir.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Defer(func() { ts.Check(w.Close()) })
}

// site FOLDER VARIABLE serves a folder as a web site, puts its address into the variable, and appends
// the path of each request to the file requests.
func site(ts *testscript.TestScript, _ bool, args []string) {
	files := http.FileServer(http.Dir(ts.MkAbs(args[0])))
	log, err := os.Create(ts.MkAbs("requests"))
	ts.Check(err)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = log.WriteString(r.URL.Path + "\n")
		files.ServeHTTP(w, r)
	}))
	ts.Defer(func() { s.Close(); log.Close() })
	ts.Setenv(args[1], s.URL)
}

// full COMMAND... runs a command whose standard output is a full disk, and wants status 1.
func full(ts *testscript.TestScript, _ bool, args []string) {
	out, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	ts.Check(err)
	defer out.Close()
	var stderr bytes.Buffer
	c := exec.Command(args[0], args[1:]...)
	c.Dir, c.Stdout, c.Stderr = ts.MkAbs("."), out, &stderr
	var exit *exec.ExitError
	if err := c.Run(); !errors.As(err, &exit) || exit.ExitCode() != statusFailed || !complaint.MatchString(stderr.String()) {
		ts.Fatalf("%v\n%s", err, &stderr)
	}
}
