package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Damage that a visitor's request meets is logged once, counted by structure, shown by /readyz, and
// reported to the visitor without a path of the server.
func TestDamageIsAnAlarm(t *testing.T) {
	dir := crawled(t)
	files, err := filepath.Glob(filepath.Join(dir, "repository", "*.repo"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for at := 100; at < len(whole); at += 500 {
		whole[at] ^= 1
	}
	if err := os.WriteFile(files[0], whole, 0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer // requests come one after the other
	folder, err := openFolder(dir, "", nil, serveOptions{log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { folder.site.Close(); folder.searcher.Close(); folder.links.Close() }()
	get := func(path string) string {
		w := httptest.NewRecorder()
		r, err := http.NewRequest(http.MethodGet, "http://localhost"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.RemoteAddr = "127.0.0.1:5"
		folder.server.Handler().ServeHTTP(w, r)
		b, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if text := get("/readyz"); text != "ready\n" {
		t.Errorf("before: %q", text)
	}
	for range 2 {
		for doc := range 60 {
			for _, path := range []string{"/cached?doc=%d", "/api/v1/page?doc=%d", "/versions?doc=%d"} {
				if text := get(fmt.Sprintf(path, doc)); strings.Contains(text, dir) || strings.Contains(text, ".repo") {
					t.Errorf("%s shows a path:\n%s", fmt.Sprintf(path, doc), text)
				}
			}
		}
	}
	if text := get("/readyz"); !strings.HasPrefix(text, "ready\ndamaged: repository (problems: ") || !strings.Contains(text, "anatomy check --repair") {
		t.Errorf("/readyz: %q", text)
	}
	if text := get("/metrics"); !strings.Contains(text, `anatomy_damage{structure="repository"} `) {
		t.Error("no metric of the damage")
	}
	seen := map[string]bool{}
	for line := range strings.Lines(log.String()) {
		_, rest, damaged := strings.Cut(line, "the data folder is damaged")
		if damaged && seen[rest] {
			t.Errorf("logged twice: %s", line)
		}
		seen[rest] = seen[rest] || damaged
	}
	if len(seen) == 0 {
		t.Errorf("nothing was logged: %s", log.String())
	}
}
