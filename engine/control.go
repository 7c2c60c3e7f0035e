package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A crawl can be asked and told things by other processes, over a socket of its data folder, in HTTP
// and JSON. The folder of the socket is its owner's alone (0700, the socket 0600), and whoever may
// write to the data folder may say what is to be crawled: there is no other check here. Control is
// the other end.
//
//	GET  /1/status              vocab.CrawlStatus
//	GET  /1/trace?url=URL       the records of a URL and of what it is an alias of
//	POST /1/pause, /1/resume
//	POST /1/add                 {"urls": ["https://example.org/"]}  -> {"added": [{"url", "state"}]}
//	POST /1/snapshot            a data folder to copy, in snapshot/data -> {"folder", "end"}
//	POST /1/delay               {"host": "www.example.org", "delay_ns": 2000000000} -> {"site": "example.org"}
//	POST /1/remove              {"pattern": "example.org/*"}        -> {"removed": 12}
//	POST /1/ban, /1/unban       {"targets": ["example.org"]}        -> BanReport
//	GET  /1/bans                BanReport with all patterns
//
// An error is {"error": "…"} with status 400, or 404 for a URL never seen. The number in front is the
// version: a program that finds no path there talks with another version of itself.
const controlVersion = "/1"

// maxControl bounds what a request may send.
const maxControl = 1 << 20

// openControl opens the data folder's socket. A socket that is there was left by a crawl that was killed: the lock on the
// folder says that no other crawl lives. A folder that can hold no socket can be crawled all the same: nil.
func (c *Crawl) openControl() net.Listener {
	socket, err := listenControl(c.o.Dir)
	if err != nil {
		c.log.Warn("this crawl cannot be watched or told anything", "error", err)
		return nil
	}
	return socket
}

// control answers on the socket until ctx ends, and removes it.
func (c *Crawl) control(ctx context.Context, socket net.Listener) {
	server := &http.Server{Handler: c.controls(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { socket.Close() })
	defer stop()
	server.Serve(socket) // ends with ctx
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), controlGrace)
	defer cancel()
	if server.Shutdown(grace) != nil { // what was asked is answered, while there is a crawl to ask
		server.Close()
	}
	if err := removeControl(c.o.Dir); err != nil {
		c.log.Warn("the socket of this crawl stays behind", "error", err)
	}
}

// controlGrace is as long as who asks waits for an answer.
const controlGrace = time.Minute

// removeControl removes the socket, and the folder elsewhere that it may be in.
func removeControl(dir string) error {
	var err error
	if path, there := os.Readlink(datadir.ControlSocket(dir)); there == nil {
		err = errors.Join(os.Remove(path), os.Remove(filepath.Dir(path))) // nothing but what is empty otherwise
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return errors.Join(err, os.RemoveAll(datadir.Control(dir)))
}

// maxSocketPath is how long the name of a socket may be: 104 bytes on some systems, 108 on others,
// with the zero at its end.
const maxSocketPath = 103

// listenControl opens the socket. Where the name of the folder is too long for one, the socket is in
// a folder for passing files, and a symbolic link leads there.
func listenControl(dir string) (net.Listener, error) {
	folder, path := datadir.Control(dir), datadir.ControlSocket(dir)
	if err := errors.Join(removeControl(dir), os.Mkdir(folder, 0o700)); err != nil {
		return nil, err
	}
	if len(path) > maxSocketPath {
		elsewhere, err := os.MkdirTemp("", "anatomy-")
		if err != nil {
			return nil, err
		}
		if err := os.Symlink(filepath.Join(elsewhere, filepath.Base(path)), path); err != nil {
			return nil, err
		}
		path = filepath.Join(elsewhere, filepath.Base(path))
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	return listener, os.Chmod(path, 0o600)
}

func (c *Crawl) controls() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, answer func(r *http.Request) (any, error)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+controlVersion+path, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, maxControl)
			writeAnswer(w, r, answer)
		})
	}
	handle("GET /status", func(*http.Request) (any, error) { return c.Status(), nil })
	handle("GET /trace", func(r *http.Request) (any, error) { return c.traceFor(r.FormValue("url")) })
	handle("POST /pause", func(*http.Request) (any, error) { c.Pause(); return struct{}{}, nil })
	handle("POST /resume", func(*http.Request) (any, error) { c.Resume(); return struct{}{}, nil })
	handle("POST /snapshot", func(*http.Request) (any, error) { return c.snapshot() })
	handle("POST /add", func(r *http.Request) (any, error) {
		var ask addRequest
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			return nil, err
		}
		added, err := c.AddSeeds(ask.URLs)
		return addAnswer{added}, err
	})
	handle("POST /delay", func(r *http.Request) (any, error) {
		var ask delayRequest
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			return nil, err
		}
		return delayAnswer{c.SetDelay(ask.Host, ask.Delay)}, nil
	})
	handle("POST /remove", func(r *http.Request) (any, error) {
		var ask removeRequest
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			return nil, err
		}
		left, err := c.Remove(ask.Pattern)
		return removeAnswer{left}, err
	})
	handle("GET /bans", func(*http.Request) (any, error) { return BanReport{Patterns: c.urls.Banned()}, nil })
	handle("POST /ban", func(r *http.Request) (any, error) { return orderedBan(r, c.Ban) })
	handle("POST /unban", func(r *http.Request) (any, error) { return orderedBan(r, c.Unban) })
	return mux
}

// orderedBan finishes what it began, whether or not the asker waits.
func orderedBan(r *http.Request, do func(context.Context, []string) (BanReport, error)) (any, error) {
	var ask banRequest
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		return nil, err
	}
	return do(context.WithoutCancel(r.Context()), ask.Targets)
}

// What goes over the socket.
type (
	addRequest struct {
		URLs []string `json:"urls"`
	}
	addAnswer struct {
		Added []vocab.Added `json:"added"`
	}
	delayRequest struct {
		Host  string        `json:"host"`
		Delay time.Duration `json:"delay_ns"` // see urlserver.Pace; 0 for the delay of all
	}
	delayAnswer struct {
		Site string `json:"site"`
	}
	removeRequest struct {
		Pattern string `json:"pattern"`
	}
	removeAnswer struct {
		Removed uint64 `json:"removed"`
	}
	banRequest struct {
		Targets []string `json:"targets"`
	}
	errorAnswer struct {
		Error string `json:"error"`
	}
)

func writeAnswer(w http.ResponseWriter, r *http.Request, answer func(*http.Request) (any, error)) {
	body, err := answer(r)
	status := http.StatusOK
	if err != nil {
		body, status = errorAnswer{err.Error()}, http.StatusBadRequest
		if errors.Is(err, ErrUnknownURL) {
			status = http.StatusNotFound
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body) // who went away needs no answer
}

// Pause stops fetching until Resume. Fetches under way are broken off, and begun again then.
func (c *Crawl) Pause() { c.visits.pause() }

// Resume goes on after Pause.
func (c *Crawl) Resume() {
	c.visits.resume()
	c.stir()
}

// AddSeeds adds URLs to a running crawl as if it had begun with them, and says what becomes of each.
func (c *Crawl) AddSeeds(raw []string) ([]vocab.Added, error) {
	seeds, err := parseSeeds(raw)
	if err != nil {
		return nil, err
	}
	docs, err := c.urls.Add(seeds)
	if err != nil {
		return nil, err
	}
	c.stir()
	added := make([]vocab.Added, len(docs))
	for i, doc := range docs {
		r, _, err := c.urls.Get(doc)
		if err != nil {
			return nil, err
		}
		added[i] = vocab.Added{URL: r.URL, State: r.State.String()}
	}
	return added, nil
}

// SetDelay gives the site of a host a delay of its own for this run, see urlserver.Server.SetDelay. Visits to it that
// are under way are called back, so that it counts at once.
func (c *Crawl) SetDelay(hostname string, d time.Duration) (site string) {
	site = c.urls.SetDelay(hostname, d)
	c.visits.recall(func(host string) bool {
		u, err := weburl.Parse("http://" + host + "/")
		return err == nil && c.urls.SiteOf(u.Hostname()) == site
	})
	c.stir()
	return site
}

// Remove takes the URLs that match a pattern, or all of a host, out of this run of the crawl, see
// urlserver.Server.Remove, and breaks off what is being fetched of such a host.
func (c *Crawl) Remove(pattern string) (uint64, error) {
	pattern = strings.TrimSpace(pattern)
	if pattern == "" || strings.Trim(pattern, "*/:") == "" {
		return 0, fmt.Errorf("%q is no host and no pattern of URLs: pause the crawl, or end it", pattern)
	}
	if !strings.ContainsAny(pattern, "/*") {
		pattern = strings.ToLower(pattern) + "/*"
	}
	left, err := c.urls.Remove(pattern)
	if err != nil {
		return left, err
	}
	c.visits.recall(func(host string) bool {
		u, err := weburl.Parse("http://" + host + "/")
		return err == nil && weburl.MatchPattern(pattern, &u)
	})
	c.stir()
	return left, nil
}

func (c *Crawl) traceFor(url string) ([]step, error) {
	u, err := ParseSeed(url)
	if err != nil {
		return nil, err
	}
	steps, err := trace(c.urls, u)
	if n := len(steps); n > 0 && steps[n-1].State == docindex.Queued {
		if last, err := weburl.Parse(steps[n-1].URL); err == nil {
			steps[n-1].Waits = c.urls.WhyWaits(time.Now(), last.Host())
		}
	}
	return steps, err
}
