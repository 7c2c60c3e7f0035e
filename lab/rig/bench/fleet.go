package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"anatomy/lab/rig"
)

const address = "127.0.0.1:4222" // of the owner

// Spread crawls with crawlers of other processes, and kills some if it is to.
func (b *Bench) Spread(data, authority string, r *Result) error {
	fleet := &fleet{Bench: b, authority: authority, began: time.Now()}
	defer fleet.end()
	for {
		killed, err := b.own(data, authority, fleet, r)
		if err != nil || !killed {
			fleet.end()
			r.Crawlers = fleet.cpu
			return err
		}
	}
}

// own runs the owner once. It reports whether it was killed.
func (b *Bench) own(data, authority string, team *fleet, r *Result) (killed bool, err error) {
	owner := b.crawl(data, authority, "--crawlers", address, "--least-crawlers", fmt.Sprint(b.Crawlers))
	says, err := owner.StderrPipe()
	if err != nil {
		return false, err
	}
	if err := owner.Start(); err != nil {
		return false, err
	}
	text := &bytes.Buffer{}
	lines := bufio.NewScanner(io.TeeReader(says, text))
	for team.line == "" && lines.Scan() {
		if _, line, ok := strings.Cut(lines.Text(), "--join "); ok {
			team.line = line
		}
	}
	for len(team.all) < b.Crawlers {
		if err := team.start(); err != nil {
			return false, err
		}
	}
	ended := make(chan error, 1)
	go func() {
		for lines.Scan() {
		}
		ended <- owner.Wait()
	}()
	for {
		var moment <-chan time.Time
		if b.Kill != "" && time.Since(team.began) < b.Duration {
			moment = time.After(b.Every)
		}
		select {
		case err = <-ended:
			r.Owner += rig.CPU(owner.ProcessState)
			if killed && owner.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
				return true, nil
			}
			if err != nil {
				err = fmt.Errorf("crawl: %w\n%s", err, text)
			}
			return false, err
		case <-moment:
			r.Kills++
			if b.Kill == "owner" {
				killed = true
				owner.Process.Kill()
			} else if err := team.replace(); err != nil {
				return false, err
			}
		}
	}
}

// A fleet is the crawlers of a run.
type fleet struct {
	*Bench
	authority, line string
	all             []*exec.Cmd
	cpu             float64 // of those that have ended
	began           time.Time
	ending          sync.Once
}

func (f *fleet) start() error {
	c := f.command(f.authority, append([]string{"crawler", "--quiet"}, local...)...)
	c.Env = append(c.Env, "ANATOMY_JOIN="+f.line)
	c.Stderr = os.Stderr
	f.all = append(f.all, c)
	return c.Start()
}

// replace kills a crawler and starts another.
func (f *fleet) replace() error {
	i := rand.IntN(len(f.all))
	c := f.all[i]
	f.all = slices.Delete(f.all, i, i+1)
	c.Process.Kill()
	c.Wait()
	f.cpu += rig.CPU(c.ProcessState)
	return f.start()
}

// end ends all crawlers.
func (f *fleet) end() {
	f.ending.Do(func() {
		for _, c := range f.all {
			c.Process.Signal(syscall.SIGTERM)
		}
		for _, c := range f.all {
			c.Wait()
			f.cpu += rig.CPU(c.ProcessState)
		}
	})
}
