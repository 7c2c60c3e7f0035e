// Command crashes kills commands of anatomy with SIGKILL at random moments and checks the data folder
// after each kill: crawl, recrawl, index, compact, pagerank, remove, remove --undo and backup on one
// folder, which goes through all of them in random order; import, restore and check --repair on folders
// of their own.
//
//	go run ./lab/crashes --anatomy PROGRAM --work DIR --kills 1000 -- crawl arguments
//
// With --shards N the folders that are killed have N shards, and import, which works on one data
// folder, and restore are left out. With --only "crawl,index" only these commands are killed.
//
// It first crawls without a kill and keeps the result. After each kill "check" must find no problem, and
// no page that a folder had may be missing from it. At the end the crawl must have the same pages as the
// crawl without a kill. It prints the kills of each command, and exits with status 1 at the first fault.
package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anatomy/lab/rig"
)

func main() {
	program := flag.String("anatomy", "anatomy", "the program")
	work := flag.String("work", "", "folder to work in; it is emptied first")
	kills := flag.Int("kills", 100, "number of kills")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of commands, moments and damage")
	shards := flag.Int("shards", 0, "kill commands on folders of so many shards")
	only := flag.String("only", "", "names of the commands to kill, separated by commas; the first is crawl")
	flag.Parse()
	fmt.Println("seed", *seed)
	b := &bench{
		program: *program, work: *work, crawl: flag.Args(), shards: *shards,
		random: rand.New(rand.NewPCG(*seed, 1)),
	}
	if *only != "" {
		b.only = strings.Split(*only, ",")
	}
	if err := b.run(*kills); err != nil {
		fmt.Fprintln(os.Stderr, "crashes:", err)
		os.Exit(1)
	}
}

// A bench is a folder of data folders and the program that works on them.
type bench struct {
	program, work string
	crawl         []string // arguments of every crawl
	shards        int      // of the folders that are killed; 0 for data folders
	only          []string // names of the steps; nil for all
	random        *rand.Rand
	want          rig.Pages // of the crawl without a kill
	blocked       string    // a URL that steps block and unblock
	crawled       bool      // a crawl of the folder "live" has ended
}

// A step is a command that is killed.
type step struct {
	name    string
	data    string                    // the folder that it works on, which check reads after the kill
	args    []string                  // without --data
	prepare func() error              // makes what the command needs, if it is not there
	verify  func(finished bool) error // what must hold besides: nil for nothing
	longest time.Duration             // of a run that was not killed: kills fall within it
	kills   int
	had     rig.Pages // that the folder has had so far
}

func (b *bench) run(kills int) error {
	if err := b.begin(); err != nil {
		return err
	}
	steps := b.steps()
	live := rig.Pages{} // of the folder that most steps share
	again := false      // that folder must be created again
	for killed := 0; killed < kills; {
		s := steps[b.random.IntN(len(steps))]
		if !b.crawled { // a folder without links: commands other than crawl fail
			s = steps[0]
		}
		if s.prepare != nil {
			if err := s.prepare(); err != nil {
				return fmt.Errorf("%s: prepare: %w", s.name, err)
			}
		}
		finished, moment, err := b.runAndKill(s)
		if err != nil {
			return err
		}
		if !finished {
			killed++
			s.kills++
			if killed%100 == 0 {
				again = true
			}
		}
		again = again || len(steps) == 1 // there is nothing left to crawl
		had := s.had
		if s.data == b.path("live") {
			had = live
		}
		if err := b.inspect(s, had, finished); err != nil {
			return fmt.Errorf("%s, killed after %v (kill %d): %w", s.name, moment, killed, err)
		}
		if again && b.crawled {
			if err := b.startAgain(steps[0]); err != nil {
				return err
			}
			clear(live)
			again = false
		}
		if !finished && killed%10 == 0 {
			fmt.Printf("kill %d: %s after %v: whole; the crawl has %d of %d pages\n", killed, s.name, moment.Round(time.Millisecond), len(live), len(b.want))
		}
	}
	for _, s := range steps {
		fmt.Printf("%4d kills of %s\n", s.kills, s.name)
	}
	if !b.crawled {
		if err := b.do(b.crawlArgs("live")...); err != nil {
			return err
		}
	}
	if err := b.block(); err != nil {
		return err
	}
	if err := b.do("remove", "--undo", "--data", b.path("live"), b.blocked); err != nil {
		return err
	}
	if err := b.do(b.crawlArgs("live")...); err != nil {
		return err
	}
	got, err := rig.ReadPages(b.path("live"))
	if err != nil {
		return err
	}
	if err := got.Same(b.want); err != nil {
		return fmt.Errorf("the crawl that was killed: %w", err)
	}
	fmt.Printf("the same %d URLs with the same pages as without a kill\n", len(b.want))
	return nil
}

// begin crawls without a kill and makes the backup and the archive that other steps start from.
func (b *bench) begin() error {
	if b.work == "" {
		return fmt.Errorf("--work names no folder")
	}
	if err := os.RemoveAll(b.work); err != nil {
		return err
	}
	if err := os.MkdirAll(b.path("backups"), 0o700); err != nil {
		return err
	}
	if err := b.do(b.crawlArgs("whole")...); err != nil {
		return err
	}
	if b.shards > 0 {
		if err := b.do(b.crawlArgs("many")...); err != nil {
			return err
		}
	}
	var err error
	if b.want, err = rig.ReadPages(b.path("whole")); err != nil {
		return err
	}
	if len(b.want) < 2 {
		return fmt.Errorf("the crawl found %d pages", len(b.want))
	}
	urls := slices.Sorted(maps.Keys(b.want))
	b.blocked = "http://" + urls[b.random.IntN(len(urls))]
	fmt.Printf("the crawl without a kill has %d pages\n", len(urls))
	if err := b.do("backup", "--data", b.path("whole"), b.path("whole.tar.zst")); err != nil {
		return err
	}
	return b.do("export", "warc", "--gzip", "--data", b.path("whole"), "--output", b.path("pages.warc.gz"))
}

func (b *bench) path(name string) string { return filepath.Join(b.work, name) }

// crawlArgs returns the arguments of a crawl into a folder.
func (b *bench) crawlArgs(folder string) []string {
	if folder == "whole" {
		return slices.Concat([]string{"crawl", "--quiet", "--data", b.path(folder)}, b.crawl)
	}
	return slices.Concat([]string{"crawl", "--data", b.path(folder)}, b.crawlFlags())
}

// crawlFlags returns the arguments of a crawl into any folder that is killed.
func (b *bench) crawlFlags(more ...string) []string {
	if b.shards > 0 {
		more = append(more, "--shards", fmt.Sprint(b.shards))
	}
	return slices.Concat([]string{"--quiet"}, more, b.crawl)
}

// do runs the program to its end.
func (b *bench) do(args ...string) error {
	if out, err := exec.Command(b.program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

func (b *bench) steps() []*step {
	live := b.path("live")
	crawl := &step{name: "crawl", data: live, args: b.crawlFlags()}
	steps := []*step{
		crawl,
		{name: "crawl --recrawl", args: b.crawlFlags("--recrawl", "--max-age", "0s")},
		{name: "index"},
		{name: "compact", args: []string{"--share", "0"}},
		{name: "pagerank"},
		{name: "remove", args: []string{b.blocked}},
		{name: "remove --undo", args: []string{"--undo", b.blocked}, prepare: b.block},
		{name: "remove --purge", args: []string{"--purge", b.blocked}},
		{name: "backup", args: []string{b.path("backups")}, prepare: b.clearBackups, verify: b.verifyBackups},
	}
	for _, s := range steps {
		s.data = live
	}
	crawl.verify = func(finished bool) error {
		if !finished || b.crawled {
			return nil
		}
		b.crawled = true
		got, err := rig.ReadPages(live)
		if err != nil {
			return err
		}
		return got.Same(b.want)
	}
	imported := &step{name: "import warc", data: b.path("imported"), args: []string{b.path("pages.warc.gz")}, had: rig.Pages{}}
	imported.verify = func(finished bool) error {
		if !finished {
			return nil
		}
		clear(imported.had)
		return os.RemoveAll(imported.data)
	}
	restored := &step{name: "restore", data: b.path("restored"), args: []string{b.path("whole.tar.zst")}, had: rig.Pages{}}
	restored.verify = func(finished bool) error {
		if !finished {
			if _, err := os.Stat(filepath.Join(restored.data, "VERSION")); err == nil {
				return b.verifyRestored(restored)
			}
			if err := b.do("restore", "--data", restored.data, b.path("whole.tar.zst")); err != nil {
				return err
			}
		}
		return b.verifyRestored(restored)
	}
	repaired := &step{name: "check --repair", data: b.path("damaged"), args: []string{"--repair"}, had: rig.Pages{}}
	repaired.prepare = b.damage
	repaired.verify = func(finished bool) error { return b.verifyRepair(repaired) }
	return b.chosen(append(steps, imported, restored, repaired))
}

// chosen returns the steps that are to be done.
func (b *bench) chosen(steps []*step) []*step {
	return slices.DeleteFunc(steps, func(s *step) bool {
		alone := s.name == "import warc" || s.name == "restore"
		return b.shards > 0 && alone || b.only != nil && !slices.Contains(b.only, s.name)
	})
}

// startAgain removes the folder that most steps share. crawl is the step that makes it.
func (b *bench) startAgain(crawl *step) error {
	b.crawled, crawl.longest = false, 0
	return os.RemoveAll(b.path("live"))
}

// block blocks the page that is not compared.
func (b *bench) block() error { return b.do("remove", "--data", b.path("live"), b.blocked) }

// runAndKill starts a step and kills it at a random moment of the time that it takes.
func (b *bench) runAndKill(s *step) (finished bool, moment time.Duration, err error) {
	if s.longest == 0 {
		s.longest = 4 * time.Second
	}
	moment = time.Duration(b.random.Int64N(int64(s.longest)))
	args := slices.Concat(strings.Fields(s.command()), []string{"--data", s.data}, s.args)
	var out strings.Builder
	c := exec.Command(b.program, args...)
	c.Stdout, c.Stderr = &out, &out
	begun := time.Now()
	if err := c.Start(); err != nil {
		return false, 0, err
	}
	over := make(chan error, 1)
	go func() { over <- c.Wait() }()
	select {
	case err := <-over:
		s.longest = max(50*time.Millisecond, time.Since(begun)*11/10)
		if err != nil {
			return true, moment, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out.String())
		}
		return true, moment, nil
	case <-time.After(moment):
		c.Process.Kill()
		<-over
		return false, moment, nil
	}
}

// command returns the words of the step's name that are no flags.
func (s *step) command() string {
	words, _, _ := strings.Cut(s.name, " --")
	return words
}

// inspect checks the folder of a step. had has the pages that the folder had before; inspect adds those
// that it has now.
func (b *bench) inspect(s *step, had rig.Pages, finished bool) error {
	if s.name != "check --repair" { // it works on a damaged folder: verifyRepair checks it
		// A command killed at once leaves no folder, or one without documents.
		if !begun(s.data) {
			if len(had) > 0 {
				return fmt.Errorf("%s is no data folder any more", s.data)
			}
			return s.ended(finished)
		}
		if err := b.do("check", "--data", s.data); err != nil {
			return err
		}
		got, err := rig.ReadPages(s.data)
		if err != nil {
			return err
		}
		for url := range had {
			if _, ok := got[url]; !ok && "http://"+url != b.blocked {
				return fmt.Errorf("%s had a page and has none", url)
			}
		}
		maps.Copy(had, got)
	}
	return s.ended(finished)
}

// begun reports whether a folder is a data folder with a document index, or has shards.
func begun(data string) bool {
	if _, err := os.Stat(filepath.Join(data, "SHARDS")); err == nil {
		return true
	}
	_, err := os.Stat(filepath.Join(data, "VERSION"))
	index, _ := filepath.Glob(filepath.Join(data, "docindex", "marker.manifest.*"))
	return err == nil && len(index) > 0
}

func (s *step) ended(finished bool) error {
	if s.verify == nil {
		return nil
	}
	return s.verify(finished)
}

// verifyRestored compares a restored folder with the one that the backup is of, and removes it.
func (b *bench) verifyRestored(s *step) error {
	got, err := rig.ReadPages(s.data)
	if err != nil {
		return err
	}
	if err := got.Same(b.want); err != nil {
		return err
	}
	clear(s.had)
	return os.RemoveAll(s.data)
}

func (b *bench) clearBackups() error {
	if err := os.RemoveAll(b.path("backups")); err != nil {
		return err
	}
	return os.Mkdir(b.path("backups"), 0o700)
}

// verifyBackups verifies each backup that has its name: a killed command leaves none.
func (b *bench) verifyBackups(finished bool) error {
	all, err := filepath.Glob(filepath.Join(b.path("backups"), "*.tar.zst"))
	if err != nil {
		return err
	}
	if finished && len(all) != 1 {
		return fmt.Errorf("%d backups", len(all))
	}
	for _, name := range all {
		if err := b.do("backup", "verify", name); err != nil {
			return err
		}
	}
	return nil
}

// damage makes two equal folders with the same damage: one byte of one file is another. One of them is
// repaired without a kill.
func (b *bench) damage() error {
	whole := "whole"
	patterns := []string{"MANIFEST", "repository/*.repo", "index/*/postings", "index/*/hits", "links/*.links"}
	if b.shards > 0 {
		whole = "many"
		for i, pattern := range patterns {
			patterns[i] = "shard-*/" + pattern
		}
		patterns = append(patterns, "shard-*.foreign", "parcels/*/*.parcel")
	}
	for _, name := range []string{"damaged", "repaired"} {
		if err := os.RemoveAll(b.path(name)); err != nil {
			return err
		}
		if err := os.CopyFS(b.path(name), os.DirFS(b.path(whole))); err != nil {
			return err
		}
	}
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(b.path("damaged"), pattern))
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return fmt.Errorf("no file to damage")
	}
	file := files[b.random.IntN(len(files))]
	content, err := os.ReadFile(file)
	if err != nil || len(content) == 0 {
		return err
	}
	content[b.random.IntN(len(content))] ^= 1 << b.random.IntN(8)
	rel, err := filepath.Rel(b.path("damaged"), file)
	if err != nil {
		return err
	}
	for _, name := range []string{"damaged", "repaired"} {
		if err := os.WriteFile(filepath.Join(b.path(name), rel), content, 0o600); err != nil {
			return err
		}
	}
	return b.do("check", "--repair", "--data", b.path("repaired"))
}

// verifyRepair repairs again and compares with the folder that was repaired without a kill.
func (b *bench) verifyRepair(s *step) error {
	if err := b.do("check", "--repair", "--data", s.data); err != nil {
		return err
	}
	if err := b.do("check", "--data", s.data); err != nil {
		return err
	}
	got, err := rig.ReadPages(s.data)
	if err != nil {
		return err
	}
	want, err := rig.ReadPages(b.path("repaired"))
	if err != nil {
		return err
	}
	return got.Same(want)
}
