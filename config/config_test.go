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

// TestCommentsStay: writing the file changes the lines of the flags that changed, and no others,
// however the file was written by hand.
func TestCommentsStay(t *testing.T) {
	const before = `# Ours: ask ada before you change this.
schema = 1 # keep

[crawl] # the flags
# Slow: their server is old.
delay = "5s"    # was "10s" # once
"max-pages"=1000
exclude = [ # print views
  "*/print/*", # "quoted"
  "*.pdf",
] # end
scope = "dir # not a comment"

# The end.
`
	const after = `# Ours: ask ada before you change this.
schema = 1 # keep

[crawl] # the flags
# Slow: their server is old.
delay = '7s'    # was "10s" # once
"max-pages"=1000
exclude = ['*.zip', '*/print/*'] # end
scope = "dir # not a comment"
contact = 'you@example.org'
insecure = true

# The end.
`
	for _, end := range []string{"\n", "\r\n"} {
		dir := t.TempDir()
		content := strings.ReplaceAll(before, "\n", end)
		if err := os.WriteFile(Path(dir), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Write(); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(Path(dir)); err != nil || string(b) != content {
			t.Errorf("nothing changed, and the file is now:\n%s", b)
		}
		c.SetFlag("delay", "7s")
		c.SetFlag("insecure", "true")
		c.SetFlag("contact", "you@example.org")
		c.SetList("exclude", []string{"*.zip", "*/print/*"})
		if err := c.Write(); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(Path(dir)); err != nil || string(b) != strings.ReplaceAll(after, "\n", end) {
			t.Errorf("%q:\n%s", end, b)
		}
	}
}

// TestOddFiles: rules are written whatever form the file has, if need be without its comments.
func TestOddFiles(t *testing.T) {
	for _, content := range []string{
		"schema = 1\ncrawl.delay = \"5s\" # inline\n",
		"schema = 1\ncrawl = { delay = \"5s\" }\n",
		"schema = 1\n[crawl]\ndelay = \"\"\"5\\\n   s\"\"\"",
		"schema = 1\n",
		"schema = 1\n[crawl]",
		"schema = 1\n[crawl]\n'delay' = \"5s\"\n# end",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(Path(dir), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Read(dir)
		if err != nil {
			t.Fatalf("%q: %v", content, err)
		}
		c.SetFlag("delay", "9s")
		c.SetFlag("scope", "any")
		if err := c.Write(); err != nil {
			t.Errorf("%q: %v", content, err)
		}
		again, err := Read(dir)
		if err != nil || !reflect.DeepEqual(again.Crawl, c.Crawl) {
			t.Errorf("%q: %v, %v, want %v", content, again, err, c.Crawl)
		}
	}
}
