// Package demo serves a small web of several hosts inside the process, for `anatomy demo` and for tests.
// One HTTP listener serves all hosts, by the Host header, and one DNS server resolves their names. Only
// loopback is used.
//
// The pages are Markdown files under site/HOST, and the project's own documents. The front matter of a
// page states its oddities ([meta]). The oddities of a host are in its robots.txt and answers.txt.
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

// StartURL is the page from which links lead to every other page, except those that only a sitemap lists.
const StartURL = "http://anatomy.test/"

// Options are the addresses of a Web. The zero value is valid.
type Options struct {
	HTTP string // address of the HTTP listener; default "127.0.0.1:0", any free port
	DNS  string // address of the DNS server, UDP and TCP; default "127.0.0.1:0"
}

// A Web is a running web of several hosts. Its methods are safe for concurrent use.
type Web struct {
	pages  *site
	server *http.Server
	names  *nameServer
	port   int

	stop    func() bool // detaches the web from Start's context
	serving sync.WaitGroup
	closing sync.Once
	closed  error
}

// Start starts the web. It runs until ctx ends or Close is called.
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
	w.serving.Go(func() { _ = w.server.Serve(listener) }) // always ErrServerClosed or the listener's error
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

// Close stops both servers and returns after the last of their goroutines. Further calls do nothing.
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

// HTTPPort returns the port on 127.0.0.1 that serves port 80 of every host.
func (w *Web) HTTPPort() int { return w.port }

// Resolver returns the address of the DNS server: "127.0.0.1:40553".
func (w *Web) Resolver() string { return w.names.addr }

// Start returns the seeds of a crawl.
func (w *Web) Start() []string { return []string{StartURL} }

// Hosts returns the names of all hosts, sorted.
func (w *Web) Hosts() []string { return w.pages.Hosts() }

// Pages returns the number of pages that a crawler stores if it obeys robots.txt and reads sitemaps.
// Duplicates count once. The noindex page counts, since it must be fetched.
func (w *Web) Pages() int { return w.pages.Pages() }

// Requests returns the number of requests so far, and of those against robots.txt.
func (w *Web) Requests() (requests, trespasses int64) {
	return w.pages.requests.Load(), w.pages.trespasses.Load()
}

// Handler returns a handler that serves all hosts, by the Host header.
func Handler() (http.Handler, error) { return load() }
