// Command floorbench compares the crawl with a floor in the same run: the smallest crawler that Go's
// own parts make, 64 workers that fetch and tokenize with a seen set in memory, without robots.txt and
// without storing anything. Anatomy crawls the same hosts with robots.txt, duplicates and repository.
//
//	go run ./lab/floorbench --docsweb PROGRAM --pages DIR --floor PROGRAM --seeds FILE [--web "-latency 20ms"]
//
// The first PROGRAM is a built docsweb, DIR the folder that its fetch filled. The other one takes
// -seeds FILE and -dial ADDRESS. FILE lists the start pages; their hosts are the scope of both crawls,
// over plain http and without files that are not pages by their names. Ports 80 and 5353 on loopback
// must be free.
//
// The two take turns, --runs times. It prints medians and ratios: CPU seconds per 1,000 pages, which
// hold on a busy machine; pages per second, which do not; peak memory; and for anatomy bytes per page
// in the repository and the time to read one page. Pages are distinct URLs with status 200 in the
// access log.
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/repository"
	"anatomy/lab/rig"
	"anatomy/vocab"
)

// A bench is what a run is made of.
type bench struct {
	docsweb, pages, web string
	floor, seeds        string
	anatomy, work       string
	profile             string
}

func main() {
	var b bench
	flag.StringVar(&b.docsweb, "docsweb", "", "the docsweb program")
	flag.StringVar(&b.pages, "pages", "", "folder of pages that docsweb serves")
	flag.StringVar(&b.web, "web", "", "more flags of docsweb serve, such as \"-latency 20ms\"")
	flag.StringVar(&b.floor, "floor", "", "the floor program")
	flag.StringVar(&b.seeds, "seeds", "", "file of start pages")
	flag.StringVar(&b.anatomy, "anatomy", "", "a built anatomy; default: built from here")
	flag.StringVar(&b.profile, "profile", "", "write the CPU profile of anatomy to this file")
	runs := flag.Int("runs", 3, "runs of each")
	flag.Parse()
	if b.docsweb == "" || b.pages == "" || b.floor == "" || b.seeds == "" || *runs < 1 {
		fmt.Fprintln(os.Stderr, "usage: floorbench --docsweb PROGRAM --pages DIR --floor PROGRAM --seeds FILE")
		os.Exit(2)
	}
	if err := b.run(*runs); err != nil {
		fmt.Fprintln(os.Stderr, "floorbench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(runs int) (err error) {
	if b.work, err = os.MkdirTemp("", "floorbench"); err != nil {
		return err
	}
	defer os.RemoveAll(b.work)
	if b.anatomy == "" {
		if b.anatomy, err = rig.Build(b.work); err != nil {
			return err
		}
	}
	data := filepath.Join(b.work, "data")
	var floor, ours []figures
	for range runs {
		f, err := b.measure(exec.Command(b.floor, "-seeds", b.seeds, "-dial", "127.0.0.1:80"))
		if err != nil {
			return fmt.Errorf("floor: %w", err)
		}
		floor = append(floor, f)
		if err := os.RemoveAll(data); err != nil {
			return err
		}
		if f, err = b.measure(b.crawl(data)); err != nil {
			return fmt.Errorf("crawl: %w", err)
		}
		ours = append(ours, f)
	}
	print(floor, ours)
	return printRepository(data, ours[len(ours)-1].pages)
}

// notPages are the ends of names that no crawler of the comparison asks for.
const notPages = "png jpg jpeg gif svg ico css js json xml rss pdf ps eps zip gz tgz bz2 xz tar txt py ipynb c h cpp hpp java inv epub mp4 mp3 asc exe csv mat npz dat"

func (b *bench) crawl(data string) *exec.Cmd {
	args := []string{"crawl", "--data", data, "--quiet", "--no-index", "--seeds", b.seeds, "--scope", "host", "--include", "http://*",
		"--delay", "0", "--allow-private", "--resolver", "127.0.0.1:5353"}
	for _, end := range strings.Fields(notPages) {
		args = append(args, "--exclude", "*."+end)
	}
	if b.profile != "" {
		args = append(args, "--cpu-profile", b.profile)
	}
	return exec.Command(b.anatomy, args...)
}

// figures are what one run cost.
type figures struct {
	pages, requests int
	wall, cpu       float64 // seconds
	server          float64 // of CPU
	memory          float64 // MB at the peak
}

// measure runs a crawler against a web of its own.
func (b *bench) measure(crawler *exec.Cmd) (f figures, err error) {
	access := filepath.Join(b.work, "access.log")
	web := exec.Command(b.docsweb, append([]string{"serve", "-root", b.pages, "-open", "-https", "", "-log", access}, strings.Fields(b.web)...)...)
	stop, err := rig.Start(web, "127.0.0.1:80")
	if err != nil {
		return f, err
	}
	crawler.Stderr = os.Stderr
	began := time.Now()
	err = crawler.Run()
	f.wall = time.Since(began).Seconds()
	stop()
	if err != nil {
		return f, err
	}
	f.cpu, f.server = rig.CPU(crawler.ProcessState), rig.CPU(web.ProcessState)
	f.memory = float64(crawler.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024
	f.pages, f.requests, err = count(access)
	if err == nil && f.pages == 0 {
		err = fmt.Errorf("no page in %s", access)
	}
	return f, err
}

// count reads an access log: distinct URLs that were answered with a page, and requests.
func count(access string) (pages, requests int, err error) {
	f, err := os.Open(access)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	seen := map[string]bool{}
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		c := strings.Split(scan.Text(), "\t")
		if len(c) < 5 {
			continue
		}
		requests++
		if c[4] == "200" && c[3] != "/robots.txt" {
			seen[c[2]+c[3]] = true
		}
	}
	return len(seen), requests, scan.Err()
}

func print(floor, ours []figures) {
	fmt.Printf("%-24s %10s %10s %8s\n", "", "floor", "ours", "ratio")
	line := func(name string, of func(figures) float64) {
		a, b := median(floor, of), median(ours, of)
		fmt.Printf("%-24s %10.3f %10.3f %8.2f\n", name, a, b, b/a)
	}
	line("pages", func(f figures) float64 { return float64(f.pages) })
	line("requests", func(f figures) float64 { return float64(f.requests) })
	line("CPU s per 1,000 pages", func(f figures) float64 { return 1000 * f.cpu / float64(f.pages) })
	line("pages/s", func(f figures) float64 { return float64(f.pages) / f.wall })
	line("peak memory, MB", func(f figures) float64 { return f.memory })
	line("CPU s of the web, 1,000", func(f figures) float64 { return 1000 * f.server / float64(f.pages) })
}

func median[T any, V cmp.Ordered](of []T, value func(T) V) V {
	all := make([]V, len(of))
	for i := range of {
		all[i] = value(of[i])
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}

// printRepository prints the size of the last run's repository, and reads pages at random through a
// new reader. The files are in the system's cache.
func printRepository(data string, pages int) error {
	dir := datadir.Repository(data)
	size, err := datadir.FolderSize(dir)
	if err != nil {
		return err
	}
	r, err := repository.OpenReader(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	var places []vocab.Address
	err = r.Scan(0, func(p vocab.Address, record *repository.Record) error {
		if record.Kind == repository.PageRecord {
			places = append(places, p)
		}
		return nil
	})
	if err != nil || len(places) == 0 {
		return fmt.Errorf("%d pages in %s: %w", len(places), dir, err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	var took []time.Duration
	for range 1000 {
		began := time.Now()
		if _, err := r.Read(places[random.IntN(len(places))]); err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	middle := median(took, func(d time.Duration) time.Duration { return d })
	fmt.Printf("repository               %.2f KB a page, %.2f KB of those not duplicates; a page read back in %.2f ms at the median\n",
		float64(size)/1000/float64(pages), float64(size)/1000/float64(len(places)), float64(middle.Microseconds())/1000)
	return nil
}
