package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"anatomy/cluster/bus"
	"anatomy/lab/rig"
)

const address = "127.0.0.1:4222" // of the owner

// Spread crawls with crawlers of other processes, and kills some if it is to.
func (b *Bench) Spread(data, authority string, r *Result) error {
	fleet := &fleet{Bench: b, authority: authority, began: time.Now()}
	defer fleet.end()
	if b.Kill == "bus" {
		relay, err := listen(address)
		if err != nil {
			return err
		}
		defer relay.close()
		fleet.relay = relay
	}
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
	owner := b.crawl(b.program(r.Kills), data, authority, "--crawlers", address, "--least-crawlers", fmt.Sprint(b.Crawlers))
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
			if team.line, err = team.route(line); err != nil {
				owner.Process.Kill()
				return false, errors.Join(err, owner.Wait())
			}
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
	last := team.began.Add(b.Duration)
	next := time.Now().Add(b.Every)
	for {
		var moment <-chan time.Time
		if b.Kill != "" && next.Before(last) {
			moment = time.After(time.Until(next))
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
		case <-time.After(time.Second):
			if err := team.ended(); err != nil {
				return false, errors.Join(err, owner.Process.Kill())
			}
		case <-moment:
			next = time.Now().Add(b.Every)
			r.Kills++
			switch b.Kill {
			case "owner":
				killed = true
				owner.Process.Kill()
			case "bus":
				team.relay.pause(b.Every / 2)
			default:
				if err := team.replace(); err != nil {
					return false, err
				}
			}
		}
	}
}

// A fleet is the crawlers of a run.
type fleet struct {
	*Bench
	authority, line string
	relay           *relay // between crawlers and the owner; nil for none
	all             []*member
	started         int     // crawlers so far
	cpu             float64 // of those that have ended
	began           time.Time
	ending          sync.Once
}

// route returns the line with which crawlers join: if there is a relay, one that leads to it.
func (f *fleet) route(line string) (string, error) {
	if f.relay == nil {
		return line, nil
	}
	l, err := bus.ParseJoinLine(line)
	l.Addresses = []string{f.relay.address()}
	return l.String(), err
}

func (f *fleet) start() error {
	c := command(f.program(f.started), f.authority, append([]string{"crawler", "--quiet"}, local...)...)
	c.Env = append(c.Env, "ANATOMY_JOIN="+f.line)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return err
	}
	f.started++
	m := &member{c, make(chan struct{})}
	f.all = append(f.all, m)
	go func() {
		c.Wait()
		close(m.ended)
	}()
	return nil
}

// ended fails if a crawler has ended by itself.
func (f *fleet) ended() error {
	for _, m := range f.all {
		select {
		case <-m.ended:
			return fmt.Errorf("a crawler (%s) has ended", m.process.Path)
		default:
		}
	}
	return nil
}

// replace kills a crawler and starts another.
func (f *fleet) replace() error {
	i := rand.IntN(len(f.all))
	m := f.all[i]
	f.all = slices.Delete(f.all, i, i+1)
	m.process.Process.Kill()
	f.wait(m)
	return f.start()
}

func (f *fleet) wait(m *member) {
	<-m.ended
	f.cpu += rig.CPU(m.process.ProcessState)
}

// end ends all crawlers.
func (f *fleet) end() {
	f.ending.Do(func() {
		for _, m := range f.all {
			m.process.Process.Signal(syscall.SIGTERM)
		}
		for _, m := range f.all {
			f.wait(m)
		}
		f.all = nil
	})
}
