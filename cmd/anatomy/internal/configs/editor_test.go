package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"anatomy/cmd/anatomy/internal/rules"
	"anatomy/config"
	"anatomy/disk/crawllog"
)

// newCrawl has some of the flags of crawl, with a check that must not see what only owners may change.
func newCrawl(t *testing.T, files map[string]bool) func() rules.Crawl {
	return func() rules.Crawl {
		flags := pflag.NewFlagSet("crawl", pflag.ContinueOnError)
		for _, name := range rules.Flags {
			switch name {
			case "delay":
				flags.Duration(name, time.Second, "time between requests")
			case "exclude", "url":
				flags.StringArray(name, nil, name)
			default:
				flags.String(name, "", name)
			}
		}
		return rules.Crawl{Flags: flags, Check: func() error {
			if file, _ := flags.GetString("credentials"); file != "" && !files[file] {
				t.Errorf("the file %s is read", file)
			}
			return nil
		}}
	}
}

// TestEditor changes a file through the editor. What is wrong has its line, keys that name files of the
// machine cannot be changed, and a change made elsewhere is not lost.
func TestEditor(t *testing.T) {
	dir := t.TempDir()
	e := NewEditor(dir, newCrawl(t, map[string]bool{"keys.toml": true}), true)
	replace := func(text string) (wrong []string) {
		t.Helper()
		_, version, err := e.Read()
		if err != nil {
			t.Fatal(err)
		}
		problems, err := e.Replace(version, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			wrong = append(wrong, strings.TrimSpace(strings.Join([]string{p.Key, p.Text}, " ")))
			if removed := !strings.Contains(text, p.Key); p.Line == 0 && p.Key != "" && !removed {
				t.Errorf("%q: no line for %q", text, p.Text)
			}
		}
		return wrong
	}
	text, first, err := e.Read()
	if err != nil || !strings.Contains(text, "[crawl]") {
		t.Fatalf("without a file: %q, %v", text, err)
	}
	if wrong := replace(text + "\r\n# a comment"); wrong != nil {
		t.Fatal(wrong)
	}
	if got, _, _ := e.Read(); got != text+"\n# a comment\n" {
		t.Errorf("kept %q", got)
	}
	if _, err := e.Replace(first, text); err == nil || !strings.Contains(err.Error(), "in the meantime") {
		t.Errorf("an old version: %v", err)
	}
	good := "schema = 1\n[crawl]\ncredentials = 'keys.toml'\ndelay = '5s'\nschedule = '6h'\n"
	if err := os.WriteFile(config.Path(dir), []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		good + "dealy = '5s'\n":                                     "dealy unknown key; did you mean delay?",
		good + "max-pages = [1, 2]\n":                               "max-pages it has one value, and not a list of 2",
		strings.Replace(good, "'5s'", "'soon'", 1):                  `delay "soon" is not a time such as 500ms, 5s, 24h or 30d`,
		strings.Replace(good, "keys.toml", "/etc/shadow", 1):        "credentials it can only be changed in the file itself",
		strings.Replace(good, "delay", "chromium", 1):               "chromium it can only be changed in the file itself",
		good + "[search]\nsynonyms = '/etc/shadow'\n":               "search.synonyms it can only be changed in the file itself",
		strings.Replace(good, "credentials = 'keys.toml'", "#", 1):  "credentials it can only be changed in the file itself",
		good + "[search]\nlogin = true\n":                           "search.login it can only be changed in the file itself, because it decides who may read",
		good + "[search]\nallow_origins = ['*']\n":                  "search.allow_origins it can only be changed in the file itself, because it lets other sites read",
		good + "[search]\nname = '" + strings.Repeat("x", 41) + "'": "search.name a name has at most 40 characters",
		"[crawl":           "",
		"":                 "does not have the line: schema = 1",
		good + "[search\n": "",
	} {
		if wrong := replace(text); len(wrong) != 1 || !strings.Contains(wrong[0], want) {
			t.Errorf("%q: %q, want %q", text, wrong, want)
		}
		if now, err := os.ReadFile(config.Path(dir)); err != nil || string(now) != good {
			t.Fatalf("%q is kept: %q, %v", text, now, err)
		}
	}
	if wrong := replace(strings.Replace(good, "5s", "7s", 1)); wrong != nil {
		t.Error(wrong)
	}
	if c, err := config.Read(dir); err != nil || c.Crawl["delay"] != "7s" {
		t.Errorf("%+v, %v", c, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "anatomy.toml")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestCrawls: the crawls that the editor reports follow the file and the log of the folder.
func TestCrawls(t *testing.T) {
	dir := t.TempDir()
	began := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	if err := crawllog.Append(dir, crawllog.Crawl{Began: began, Ended: began.Add(time.Minute), Result: crawllog.Done, New: 7}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config.Path(dir), []byte("schema = 1\n[crawl]\nschedule = '6h'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := NewEditor(dir, newCrawl(t, nil), true)
	past, next, err := e.Crawls()
	if err != nil || !next.Equal(began.Add(6*time.Hour)) || len(past) != 1 || past[0].New != 7 {
		t.Errorf("past %+v, next %v, %v", past, next, err)
	}
	past, next, err = NewEditor(dir, newCrawl(t, nil), false).Crawls()
	if err != nil || !next.IsZero() || len(past) != 1 {
		t.Errorf("without recrawls: past %+v, next %v, %v", past, next, err)
	}
}
