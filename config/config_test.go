package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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

// read returns the config of a data folder whose file has the content.
func read(t *testing.T, content string) (*Config, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(Path(dir), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return Read(dir)
}

// TestErrors: a file that cannot be read is named with the line.
func TestErrors(t *testing.T) {
	for content, want := range map[string]string{
		"schema = 1\n[crawl\n":                        ", line 2",
		"schema = 1\n[crawl]\ndelay = 1\ndelay = 2\n": ", line 4",
		"schema = 2\n":                                " has schema 2, this program reads schema 1",
		"[crawl]\n":                                   " does not have the line: schema = 1",
		"schema = \"one\"\n":                          ", line 1, key schema",
		"schema = 1\ncrawl = 5\n":                     ", line 2, key crawl",
	} {
		c, err := read(t, content)
		if err == nil || !strings.Contains(err.Error(), "anatomy.toml"+want) {
			t.Errorf("%q: %v, %v, want %q", content, c, err, want)
		}
	}
}

// TestLines: a key is found on its line, in whatever form the file has it.
func TestLines(t *testing.T) {
	for content, want := range map[string]int{
		"schema = 1\n[crawl]\n\ndelay = 2.5\n":                              4,
		"schema = 1\n[crawl]\nscope = \"\"\"\ndelay = 1\"\"\"\n'delay' = 3": 5,
		"schema = 1\r\n\r\n[ crawl ] # delay = 1\r\n\"d\\u0065lay\"=3":      4,
		"crawl.delay = 1\nschema = 1\n":                                     1,
		"schema = 1\ncrawl = { scope = 1, delay = {} }\n":                   2,
		"schema = 1\n[crawl]\n[crawl.delay]\n":                              3,
		"schema = 1\n[[crawl.delay]]\nof = 1\n":                             2,
		"schema = 1\n":                                                      0,
	} {
		c, err := read(t, content)
		if err != nil {
			t.Errorf("%q: %v", content, err)
			continue
		}
		p := c.Problem(errors.New("wrong"), "crawl", "delay")
		if p.Line != want || p.Key != "delay" {
			t.Errorf("%q: %v, want line %d", content, p, want)
		}
	}
	c, err := read(t, "schema = 1\n[crawl]\ndelay = 1\n[other]\nx = 1\n")
	if err != nil || len(c.Unknown()) != 1 || len(c.Keys()) != 1 {
		t.Fatalf("%v, %v", c, err)
	}
	if p := c.Problem(errors.New("wrong"), c.Unknown()[0]...); p.Line != 4 || p.Key != "other" {
		t.Error(p)
	}
}

// TestFlagValues: a flag has a text, a whole number, true or false, or a list of these.
func TestFlagValues(t *testing.T) {
	for value, want := range map[string][]string{
		`"5s"`: {"5s"}, "5": {"5"}, "-1": {"-1"}, "true": {"true"}, `["a", 2, false]`: {"a", "2", "false"}, "[]": nil,
	} {
		c, err := read(t, "schema = 1\n[crawl]\ndelay = "+value+"\n")
		if err != nil {
			t.Fatal(err)
		}
		if got, ok, err := c.Flag("delay"); !ok || err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, %v", value, got, ok, err)
		}
	}
	for _, value := range []string{"2.5", "{ a = 1 }", `[["a"]]`, "2026-11-24", "nan"} {
		c, err := read(t, "schema = 1\n[crawl]\ndelay = "+value+"\n")
		if err != nil {
			t.Fatal(err)
		}
		if got, ok, err := c.Flag("delay"); !ok || err == nil {
			t.Errorf("%s: %q, %v, %v", value, got, ok, err)
		}
	}
}

// TestSetFlag: what the file has is read as it was given.
func TestSetFlag(t *testing.T) {
	for _, value := range []string{"", "5s", "5", "-5", "+495551234", "007", "true", "True", "99999999999999999999", "a\nb", `"`} {
		c := New(t.TempDir())
		c.SetFlag("contact", value)
		if got, ok, err := c.Flag("contact"); !ok || err != nil || !slices.Equal(got, []string{value}) {
			t.Errorf("%q: %q, %v, %v", value, got, ok, err)
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

// TestUnset removes lines and leaves comments.
func TestUnset(t *testing.T) {
	const before = `# Ours.
schema = 1
[crawl]
# Slow.
  delay = "5s"  # was "10s"
exclude = [
  "*.pdf", # goes with the list
]
scope = "dir"
[other]
`
	const after = `# Ours.
schema = 1
[crawl]
# Slow.
# was "10s"
scope = "dir"
[other]
`
	for _, end := range []string{"\n", "\r\n"} {
		c, err := read(t, strings.ReplaceAll(before, "\n", end))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"delay", "exclude", "max-pages"} {
			c.Unset(name)
		}
		if err := c.Write(); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(c.Path()); err != nil || string(b) != strings.ReplaceAll(after, "\n", end) {
			t.Errorf("%q, %v:\n%s", end, err, b)
		}
	}
}

// TestNothingIsLost: a change fails if the file changed since it was read, or if it has keys that a
// rewrite would not keep.
func TestNothingIsLost(t *testing.T) {
	c, err := read(t, "schema = 1\n[crawl]\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Path(), []byte("schema = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.SetFlag("delay", "5s")
	if err := c.Write(); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	fresh := New(t.TempDir())
	if err := os.WriteFile(fresh.Path(), []byte("schema = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := fresh.Write(); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	const odd = "schema = 1\ncrawl = { delay = 1, scope = 2 }\n[other]\n"
	if c, err = read(t, odd); err != nil {
		t.Fatal(err)
	}
	c.Unset("delay")
	if err := c.Write(); err == nil || !strings.Contains(err.Error(), "line 3, key other") {
		t.Error(err)
	}
	if b, err := os.ReadFile(c.Path()); err != nil || string(b) != odd {
		t.Errorf("%s, %v", b, err)
	}
}

// FuzzWrite changes files of any form. What is read afterwards is what was written, whole lines of
// comments stay if no rewrite was needed, and each key is on a line.
func FuzzWrite(f *testing.F) {
	for _, content := range []string{
		"schema = 1\n[crawl]\n# why\ndelay = \"5s\" # was\nexclude = [ # a\n 'x', # b\n]\n",
		"crawl.delay = 1\nschema = 1", "schema = 1\r\n[crawl]\r\n[crawl.delay]\r\na=1", "schema=1\ncrawl={delay=1,\n# x\nscope=nan}",
		"schema = 1\n[crawl]\ndelay = \"\"\"\n# no comment\n\"\"\"\n[other]\nx = 2026-11-24\n",
	} {
		f.Add(content, "delay", "7s", false)
		f.Add(content, "scope", "", true)
	}
	f.Fuzz(func(t *testing.T, content, flag, value string, unset bool) {
		c, err := read(t, content)
		if err != nil {
			return
		}
		for _, key := range c.Keys() {
			if p := c.Problem(errors.New("wrong"), "crawl", key); p.Line < 1 || p.Line > 1+strings.Count(content, "\n") {
				t.Fatalf("%q: %v", key, p)
			}
		}
		before := comments(content)
		_, known := c.Crawl[flag]
		if unset {
			c.Unset(flag)
		} else {
			c.SetFlag(flag, value)
		}
		edited, ok := edit(c.content, "crawl", c.was, c.Crawl)
		ok = ok && c.isIn(edited)
		if err := c.Write(); err != nil {
			if b, err := os.ReadFile(c.Path()); err != nil || string(b) != content {
				t.Fatalf("a failed change left %q, %v", b, err)
			}
			return
		}
		again, err := Read(filepath.Dir(c.Path()))
		if err != nil || len(again.Crawl) != len(c.Crawl) || len(c.Crawl) > 0 && !same(again.Crawl, c.Crawl) {
			t.Fatalf("%v, %v, want %v", again, err, c.Crawl)
		}
		if ok && !known && !strings.Contains(value+flag, "#") &&
			!slices.Equal(comments(string(edited)), before) {
			t.Fatalf("comments %q, before %q", comments(string(edited)), before)
		}
	})
}

// comments returns the lines that begin with #.
func comments(content string) (all []string) {
	for line := range strings.Lines(content) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
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
		"schema = 1\n[crawl.delay]\na = 1\n",
		"schema = 1\n[[crawl.delay]]\na = 1\n",
		"# mine\nschema = 1",
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

// TestReadLogo: a logo is an image of a known kind and of bounded size, beside the file.
func TestReadLogo(t *testing.T) {
	const png = "\x89PNG\r\n\x1a\n"
	for content, want := range map[string]string{
		png: "png", "\xff\xd8\xff\xe0": "jpg", "RIFF\x00\x00\x00\x00WEBPVP8 ": "webp",
		"<svg xmlns='http://www.w3.org/2000/svg'/>":                           "svg",
		"\ufeff<?xml version='1.0'?>\n<!-- <html> -->\n<!DOCTYPE svg>\n<svg>": "svg",
		"<html><svg>": "", "<svgx>": "", "GIF89a": "", "": "", png + strings.Repeat("x", MaxLogo): "",
	} {
		c, err := read(t, "schema = 1\n[search]\nlogo = 'logo'\n")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(filepath.Dir(c.Path()), "logo"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, kind, err := c.ReadLogo()
		if kind != want || (err == nil) != (want != "") || err == nil && string(got) != content {
			t.Errorf("%.20q: %q, %v, want %q", content, kind, err, want)
		}
	}
	for _, name := range []string{"missing", ".", "/dev/zero"} {
		c, err := read(t, "schema = 1\n[search]\nlogo = '"+name+"'\n")
		if err != nil {
			t.Fatal(err)
		}
		if _, kind, err := c.ReadLogo(); err == nil {
			t.Errorf("%s: %q", name, kind)
		}
	}
	for accent, ok := range map[string]bool{"": true, "#0a7D5c": true, "red": false, "#0a7d5": false, "#0a7d5c;}": false} {
		if err := (&Search{Accent: accent}).CheckAccent(); (err == nil) != ok {
			t.Errorf("%q: %v", accent, err)
		}
	}
}

// TestWrongTypes: errors about values of a wrong type name the types of TOML, not those of Go.
func TestWrongTypes(t *testing.T) {
	for text, want := range map[string]string{
		"[search]\nallow_origins = 'x'":  "line 3, key search.allow_origins: this is a string, and must be a list such as ['a', 'b']",
		"[search]\nlogin = 'x'":          "line 3, key search.login: this is a string, and must be true or false",
		"[search]\nallow_origins = [1]":  "this is an integer, and must be a text in quotes",
		"[search]\nname = ['x']":         "this is a list, and must be a text in quotes",
		"[search]\npins = true":          "this is a boolean, and must be tables such as [[search.pins]]",
		"[[search.pins]]\nqueries = 'x'": "key search.pins.queries: this is a string, and must be a list",
		"crawl = 3":                      "key crawl: this is an integer, and must be a table",
	} {
		_, err := Parse("anatomy.toml", []byte("schema = 1\n"+text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
