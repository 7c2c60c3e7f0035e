package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOrders: in a web of two subjects, whose pages link mostly to pages of the same subject, a focused crawl
// finds more of a subject than a breadth-first one, and no more than the oracle.
func TestOrders(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const pages = 300 // every fourth one is about birds
	at := func(i int) string { return fmt.Sprintf("http://h%d.test/%d.html", i%3, i%pages) }
	var birds []string
	for i := range pages {
		subject, step := "ship harbour sail", 1
		if i%4 == 0 {
			subject, step = "owl feather wing", 4
			birds = append(birds, at(i))
		}
		links := ""
		for k := 1; k <= 3; k++ {
			links += fmt.Sprintf(`<a href="%s">page</a> `, at(i+k*step))
		}
		links += fmt.Sprintf(`<a href="%s">more</a>`, at(i*7+1))
		write(fmt.Sprintf("web/h%d/%d.html", i%3, i), fmt.Sprintf("<title>page %d</title><p>%s %s", i, subject, links))
	}
	for name, urls := range map[string][]string{
		"members": birds, "examples": birds[:5], "seeds-near": birds[:2], "seeds-far": {at(1)},
	} {
		write("topic/"+name+".txt", strings.Join(urls, "\n"))
	}
	var out strings.Builder
	if err := run(&out, filepath.Join(dir, "web"), []string{filepath.Join(dir, "topic")}); err != nil {
		t.Fatal(err)
	}
	recall := map[string]float64{}
	for line := range strings.Lines(out.String()) {
		f := strings.Fields(line)
		var harvest, share float64
		if _, err := fmt.Sscanf(f[5], "%f/%f", &harvest, &share); err != nil || f[4] != "100:" {
			t.Fatalf("%q: %v", line, err)
		}
		recall[f[2]+" "+f[3]] = share
	}
	for _, seeds := range []string{"near ", "far "} {
		least, got, most := recall[seeds+breadthFirst], recall[seeds+focused], recall[seeds+oracle]
		if got <= least || got > most {
			t.Errorf("%s: recall %v, want more than %v and at most %v", seeds, got, least, most)
		}
	}
}
