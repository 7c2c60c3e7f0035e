// Package demo is a small web of several hosts, served inside the process, for `anatomy demo` and
// for tests that want a web with everything in it: one HTTP listener that tells its hosts apart by
// the Host header, and one DNS server that knows their names. It needs no network but loopback.
//
// The pages are Markdown files under site/HOST, so that a page is written and read without touching
// Go, and the project's own documents. What is odd about a page stands in its front matter, what is
// odd about a host in its answers.txt and robots.txt: see [meta] and [readAnswers].
package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// StartURL is the page from which links lead to every other page, but for those that only a sitemap
// names.
const StartURL = "http://anatomy.test/"

// Options say where the web listens. The zero value is right for a demo.
type Options struct {
	HTTP string // address of the HTTP listener; default "127.0.0.1:0", any free port
	DNS  string // address of the DNS server, UDP and TCP; default "127.0.0.1:0"
}

// A Web is a running web of several hosts.
type Web struct {
	pages  *site
	server *http.Server
	names  *nameServer
	port   int

	stop    func() bool // ends the watch on Start's context
	serving sync.WaitGroup
	closing sync.Once
	closed  error
}

// Start serves the web until ctx ends or Close is called.
func Start(ctx context.Context, o Options) (*Web, error) {
	pages, err := load()
	if err != nil {
		return nil, err
	}
	listener, err := listen(ctx, o.HTTP)
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	names, err := startNames(o.DNS, pages.hosts)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	w := &Web{
		pages:  pages,
		names:  names,
		port:   listener.Addr().(*net.TCPAddr).Port,
		server: &http.Server{Handler: pages, ReadHeaderTimeout: 10 * time.Second},
	}
	w.serving.Go(func() { _ = w.server.Serve(listener) }) // always ErrServerClosed, or the listener's end
	w.stop = context.AfterFunc(ctx, w.shutdown)
	return w, nil
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", addr)
}

// Close ends both servers and returns after the last of their goroutines. It may be called again.
func (w *Web) Close() error {
	w.stop()
	w.shutdown()
	return w.closed
}

func (w *Web) shutdown() {
	w.closing.Do(func() {
		w.closed = errors.Join(w.server.Close(), w.names.close())
		w.serving.Wait()
	})
}

// HTTPPort is the port on 127.0.0.1 that stands for port 80 of every host.
func (w *Web) HTTPPort() int { return w.port }

// Resolver is the address of the DNS server: "127.0.0.1:40553".
func (w *Web) Resolver() string { return w.names.addr }

// Start is the list of URLs to begin a crawl with.
func (w *Web) Start() []string { return []string{StartURL} }

// Hosts are the names that exist, sorted.
func (w *Web) Hosts() []string { return w.pages.Hosts() }

// Pages is how many distinct pages a crawler can store that obeys robots.txt and reads sitemaps:
// duplicates count once; the page that says noindex counts, for it has to be fetched to say so.
func (w *Web) Pages() int { return w.pages.Pages() }

// Requests is how many requests were answered so far, and Trespasses how many of them asked for
// what robots.txt forbids.
func (w *Web) Requests() (requests, trespasses int64) {
	return w.pages.requests.Load(), w.pages.trespasses.Load()
}

// Handler serves all hosts, told apart by the Host header, without any listener.
func Handler() (http.Handler, error) { return load() }
