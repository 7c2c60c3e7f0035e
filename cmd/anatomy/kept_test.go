package main

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/spf13/pflag"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/rules"
	"anatomy/config"
	"anatomy/disk/datadir"
)

// TestEveryFlagIsKeptOrNot: each flag of crawl is kept, or is known to belong to one run.
func TestEveryFlagIsKeptOrNot(t *testing.T) {
	ofOneRun := []string{
		"seeds", "recrawl", "watch", "min-age", "max-age", "stats", "cpu-profile", "quiet",
		"serve", "shards", "divide", "peers", "copies", "crawlers", "least-crawlers", "cluster", "standby", "listen", "token", "read-token", "allow-host", "public-url", "public-only", "cors",
		"data", "verbose", "help",
	}
	c, _ := newCrawlFlags(&cli.GlobalFlags{})
	known := 0
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if kept := slices.Contains(rules.Flags, f.Name); kept == slices.Contains(ofOneRun, f.Name) {
			t.Errorf("--%s: kept or of one run?", f.Name)
		} else if kept {
			known++
		}
	})
	if known != len(rules.Flags) {
		t.Errorf("%d of %d kept flags exist", known, len(rules.Flags))
	}
}

// emptyFolder returns a data folder without pages.
func emptyFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	w, err := datadir.Create(dir)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestConfigShowsDefaults: what config shows as a default is valid, and is what a crawl without flags
// has.
func TestConfigShowsDefaults(t *testing.T) {
	dir := emptyFolder(t)
	status, text := printed("config", "--data", dir)
	if status != 0 {
		t.Fatal(text)
	}
	set := regexp.MustCompile(`(?m)^# ([a-z-]+ = |\[\[)`).ReplaceAllString(text, "$1")
	if err := os.WriteFile(config.Path(dir), []byte(set), 0o600); err != nil {
		t.Fatal(err)
	}
	kept, err := config.Read(dir)
	if err != nil || len(kept.Crawl) != len(rules.Flags) {
		t.Fatalf("%v: %d keys, want %d", err, len(kept.Crawl), len(rules.Flags))
	}
	c, _ := newCrawlFlags(&cli.GlobalFlags{})
	if _, err := rules.Read(c, dir, ruleFlags(false)); err != nil {
		t.Fatal(err)
	}
	plain, _ := newCrawlFlags(&cli.GlobalFlags{})
	for _, name := range rules.Flags {
		if got, want := c.Flag(name).Value.String(), plain.Flag(name).Value.String(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// FuzzConfig: config check and crawl agree on a file. What config shows of a valid one has the same
// rules.
func FuzzConfig(f *testing.F) {
	for _, rules := range []string{
		"delay = '5s'\nexclude = ['*.pdf']\n", "max-pages = -1", "scope = 'dir'\nbogus = 1", "policy = 'x'", "bind = '127.0.0.1'",
		"delay-for = ['a.test=1s']", "[other]", "contact = \"a\\nb\"", "max-depth = 0", "resolver = '1.2.3.4'\nhttp-port = 8080",
	} {
		f.Add("schema = 1\n[crawl]\n" + rules)
	}
	dir := f.TempDir()
	w, err := datadir.Create(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { w.Close() })
	f.Fuzz(func(t *testing.T, content string) {
		if err := os.WriteFile(config.Path(dir), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		kept, err := config.Read(dir)
		valid := err == nil && len(rules.Check(kept, ruleFlags(false))) == 0
		c, crawl := newCrawlFlags(&cli.GlobalFlags{})
		_, err = rules.Read(c, dir, ruleFlags(false))
		if err == nil {
			_, err = crawl.urlOptions(c)
		}
		if valid != (err == nil) {
			t.Fatalf("check: %v, crawl: %v", valid, err)
		}
		if !valid || kept.Crawl["topic"] != nil || kept.Crawl["credentials"] != nil { // whose files config reads
			return
		}
		status, text := printed("config", "--data", dir)
		if status != 0 {
			t.Fatal(text)
		}
		if err := os.WriteFile(config.Path(dir), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		shown, err := config.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range rules.Flags {
			was, _, _ := kept.Flag(name)
			if now, _, err := shown.Flag(name); err != nil || !slices.Equal(was, now) {
				t.Fatalf("%s: %q, %v, want %q", name, now, err, was)
			}
		}
	})
}
