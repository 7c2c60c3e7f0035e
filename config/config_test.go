package config

import (
	"errors"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestWriteRead(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("without a file: %v", err)
	}
	c := New(dir)
	c.SetFlag("delay", "5s")
	c.SetFlag("allow-private", "true")
	c.SetFlag("max-pages", "1000")
	c.SetFlag("user-agent", `a "quoted" \ agent`)
	c.SetList("exclude", []string{"*/print/*", `odd "one"`, "123"})
	c.SetList("include", nil)
	if err := c.Write(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(Path(dir))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	again, err := Read(dir)
	if err != nil || !reflect.DeepEqual(again.Crawl, c.Crawl) {
		t.Fatalf("%v, %v, want %v", again, err, c.Crawl)
	}
	for name, want := range map[string][]string{
		"delay": {"5s"}, "allow-private": {"true"}, "max-pages": {"1000"}, "exclude": {"*/print/*", `odd "one"`, "123"}, "include": nil,
	} {
		if got, ok, err := again.Flag(name); !ok || err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %v, %v", name, got, ok, err)
		}
	}
	if _, ok, err := again.Flag("scope"); ok || err != nil {
		t.Errorf("a flag that is not there: %v, %v", ok, err)
	}
}

// TestComplaints: what is wrong in a file is named with its line and key.
func TestComplaints(t *testing.T) {
	for content, want := range map[string]string{
		"schema = 1\n[crawl\n":                       "line 2",
		"schema = 1\nscheme = 2\n":                   "line 2: unknown key scheme",
		"schema = 2\n":                               "has schema 2, this program reads schema 1",
		"[crawl]\n":                                  "has schema 0",
		"schema = \"one\"\n":                         "line 1",
		"schema = 1\n[crawl]\n\ndelay = 2.5\n":       "line 4, key delay: 2.5 is no text",
		"schema = 1\n[crawl]\ndelay = { a = 1 }\n":   "line 3, key delay",
		"schema = 1\n[crawl]\nexclude = [[\"a\"]]\n": "line 3, key exclude",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(Path(dir), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Read(dir)
		for name := range map[string]bool{"delay": true, "exclude": true} {
			if err == nil {
				_, _, err = c.Flag(name)
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), Path(dir)) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
}
