package engine

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"anatomy/control"
	"anatomy/disk/docindex"
	"anatomy/disk/snapshot"
	"anatomy/vocab"
	"anatomy/weburl"
)

// listen opens the control socket. It returns nil if the data folder cannot have a socket; the
// crawl runs without one.
func (c *Crawl) listen() net.Listener {
	socket, err := control.Listen(c.dir)
	if err != nil {
		c.log.Warn("cannot open the control socket: other processes cannot watch or control this crawl", "error", err)
		return nil
	}
	return socket
}

// serve serves the control socket until ctx ends, and removes it.
func (c *Crawl) serve(ctx context.Context, socket net.Listener) {
	control.Serve(ctx, socket, c)
	if err := control.Remove(c.dir); err != nil {
		c.log.Warn("cannot remove the control socket", "error", err)
	}
}

// Pause stops fetching until Resume. Fetches in flight are cancelled, and repeated after Resume.
func (c *Crawl) Pause() { c.visits.pause() }

// Resume ends a pause.
func (c *Crawl) Resume() {
	c.visits.resume()
	c.wakeDispatcher()
}

// AddSeeds adds URLs to the seeds of a running crawl and returns the state of each.
func (c *Crawl) AddSeeds(raw []string) ([]vocab.AddResult, error) {
	seeds, err := parseSeeds(raw)
	if err != nil {
		return nil, err
	}
	docs, err := c.urls.Add(seeds)
	if err != nil {
		return nil, err
	}
	c.wakeDispatcher()
	added := make([]vocab.AddResult, len(docs))
	for i, doc := range docs {
		r, _, err := c.urls.Get(doc)
		if err != nil {
			return nil, err
		}
		added[i] = vocab.AddResult{URL: r.URL, State: r.State.String()}
	}
	return added, nil
}

// SetDelay sets the delay of the site of a host for this run, see urlserver.Server.SetDelay. It
// cancels visits to the site, so that the delay applies at once.
func (c *Crawl) SetDelay(hostname string, d time.Duration) (site string) {
	site = c.urls.SetDelay(hostname, d)
	c.cancelVisits(func(u *weburl.URL) bool { return c.urls.SiteOf(u.Hostname()) == site })
	return site
}

// Remove removes the URLs that match a pattern, or all URLs of a host, from this run, see
// urlserver.Server.Remove, and cancels visits to the matching hosts. It returns the number of URLs
// removed from queues.
func (c *Crawl) Remove(pattern string) (uint64, error) {
	pattern = strings.TrimSpace(pattern)
	if pattern == "" || strings.Trim(pattern, "*/:") == "" {
		return 0, fmt.Errorf("%q is not a host or a pattern of URLs: pause the crawl, or end it", pattern)
	}
	if !strings.ContainsAny(pattern, "/*") {
		pattern = strings.ToLower(pattern) + "/*"
	}
	removed, err := c.urls.Remove(pattern)
	if err != nil {
		return removed, err
	}
	c.cancelVisits(func(u *weburl.URL) bool { return weburl.MatchPattern(pattern, u) })
	return removed, nil
}

// cancelVisits cancels the visits to hosts whose root URL matches.
func (c *Crawl) cancelVisits(match func(*weburl.URL) bool) {
	c.visits.cancel(func(host string) bool {
		u, err := weburl.Parse("http://" + host + "/")
		return err == nil && match(&u)
	})
	c.wakeDispatcher()
}

// Trace returns the records of a URL and of the documents that it is an alias of.
func (c *Crawl) Trace(url string) ([]control.Step, error) {
	u, err := weburl.ParseTyped(url)
	if err != nil {
		return nil, err
	}
	steps, err := control.Follow(c.urls, u)
	if n := len(steps); n > 0 && steps[n-1].State == docindex.Queued {
		if last, err := weburl.Parse(steps[n-1].URL); err == nil {
			steps[n-1].Waits = c.urls.WhyWaits(c.now(), last.Host())
		}
	}
	return steps, err
}

// Snapshot makes a copy of the data folder for a purpose.
func (c *Crawl) Snapshot(p snapshot.Purpose) (*snapshot.Snapshot, error) {
	return c.SnapshotTo(p.Folder(c.dir))
}

// Changes returns a text that differs after each change of the document index.
func (c *Crawl) Changes() string { return fmt.Sprint(c.began.UnixNano(), "-", c.urls.Changes()) }

// SnapshotTo makes a copy of the data folder in a folder.
func (c *Crawl) SnapshotTo(to string) (*snapshot.Snapshot, error) {
	defer c.repo.Keep()() // the copied document index refers to its files
	return snapshot.Create(c.dir, to, c.urls.Checkpoint, c.repo.End)
}
