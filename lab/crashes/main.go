// Command crashes kills a crawl with SIGKILL at random moments, checks the data folder after each kill,
// lets the last run finish, and compares the result with an uninterrupted crawl. If a crawl ends before
// all kills, it continues as a recrawl of all pages, which is killed in the same way.
//
//	go run ./lab/crashes --anatomy PROGRAM --data DIR --whole DIR --kills 20 -- crawl arguments
//
// DIR is created anew; --whole names the data folder of the uninterrupted crawl. It exits with status 1
// if a check finds a problem or the pages differ.
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

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

func main() {
	program := flag.String("anatomy", "anatomy", "the program")
	data := flag.String("data", "", "data folder to make, crash and resume")
	whole := flag.String("whole", "", "data folder of an uninterrupted crawl")
	kills := flag.Int("kills", 20, "number of kills")
	longest := flag.Duration("longest", 8*time.Second, "longest time until a kill")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the moments of kills")
	flag.Parse()
	fmt.Println("seed", *seed)
	if err := run(*program, *data, *whole, *kills, *longest, rand.New(rand.NewPCG(*seed, 1)), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "crashes:", err)
		os.Exit(1)
	}
}

func run(program, data, whole string, kills int, longest time.Duration, random *rand.Rand, args []string) error {
	if err := os.RemoveAll(data); err != nil {
		return err
	}
	mode := []string{"crawl", "--quiet", "--data", data}
	command := func() *exec.Cmd { return exec.Command(program, slices.Concat(mode, args)...) }
	for killed := 0; killed < kills; {
		c := command()
		if err := c.Start(); err != nil {
			return err
		}
		moment := time.Duration(random.Int64N(int64(longest)))
		over := make(chan error, 1)
		go func() { over <- c.Wait() }()
		select {
		case err := <-over:
			if err != nil {
				return fmt.Errorf("crawl: %w", err)
			}
			fmt.Printf("the crawl was over before kill %d\n", killed+1)
			if err := compare(data, whole); err != nil {
				return err
			}
			mode = append(mode[:4:4], "--recrawl", "--max-age", "0s")
			continue
		case <-time.After(moment):
			c.Process.Kill()
			<-over
		}
		killed++
		out, err := exec.Command(program, "check", "--data", data).CombinedOutput()
		if err != nil {
			return fmt.Errorf("check after kill %d at %v: %w\n%s", killed, moment, err, out)
		}
		pages, err := contents(data)
		if err != nil {
			return err
		}
		fmt.Printf("kill %d after %v%s: whole, %d URLs have their page\n", killed, moment.Round(time.Millisecond), what(mode), len(pages))
	}
	if out, err := command().CombinedOutput(); err != nil {
		return fmt.Errorf("crawl: %w\n%s", err, out)
	}
	if out, err := exec.Command(program, "check", "--data", data).CombinedOutput(); err != nil {
		return fmt.Errorf("check at the end: %w\n%s", err, out)
	}
	return compare(data, whole)
}

// what says of a recrawl that it is one.
func what(mode []string) string {
	if slices.Contains(mode, "--recrawl") {
		return " of a recrawl"
	}
	return ""
}

// contents maps each URL that has a page to the page's content. Http and https of a host are one identity, and which of
// them a page is fetched by is that of the link that was seen first: the scheme is left out.
func contents(data string) (map[string]vocab.ContentID, error) {
	docs, err := docindex.Open(filepath.Join(data, "docindex"), docindex.Options{})
	if err != nil {
		return nil, err
	}
	defer docs.Close()
	pages := map[string]vocab.ContentID{}
	err = docs.Each(1, func(r docindex.Record) error {
		if r.Fetch != nil && r.Fetch.Outcome == vocab.Fetched {
			_, rest, _ := strings.Cut(r.URL, "://")
			pages[rest] = r.Fetch.Content
		}
		return nil
	})
	return pages, err
}

func compare(data, whole string) error {
	got, err := contents(data)
	if err != nil {
		return err
	}
	want, err := contents(whole)
	if err != nil {
		return err
	}
	if len(want) == 0 {
		return fmt.Errorf("%s has no page", whole)
	}
	if maps.Equal(got, want) {
		fmt.Printf("the same %d URLs with the same pages as without a kill\n", len(want))
		return nil
	}
	differ := 0
	for url, content := range want {
		if got[url] != content {
			differ++
			fmt.Println("differs:", url)
		}
	}
	for url := range got {
		if _, ok := want[url]; !ok {
			differ++
			fmt.Println("more:", url)
		}
	}
	return fmt.Errorf("%d URLs differ", differ)
}
