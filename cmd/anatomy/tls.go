package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"anatomy/disk/datadir"
)

// secureFlags are the flags of serve that have it speak TLS: with a certificate from two files, or
// with one that it gets and renews itself.
type secureFlags struct {
	cert, key string
	hosts     []string // to get a certificate for
	directory string   // of the authority
	email     string
	redirect  string // address that sends everybody to https
}

func (f *secureFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.cert, "tls-cert", "", "speak TLS with the certificate, and those above it, in `FILE` (PEM); read again when it changes")
	flags.StringVar(&f.key, "tls-key", "", "the key of --tls-cert, in `FILE` (PEM)")
	flags.StringArrayVar(&f.hosts, "acme", nil, "speak TLS with a certificate for `HOST` from Let's Encrypt, whose terms you accept, got and renewed by itself; needs --listen :443 (may be repeated)")
	flags.StringVar(&f.directory, "acme-directory", autocert.DefaultACMEDirectory, "of another authority that speaks ACME: `URL`")
	flags.StringVar(&f.email, "acme-email", "", "`ADDRESS` that the authority may write to")
	flags.StringVar(&f.redirect, "redirect", "", "send those who come by plain HTTP to `ADDRESS`, :80 say, to https")
}

// check finds flags that make no sense together.
func (f *secureFlags) check(c *cobra.Command) error {
	switch {
	case (f.cert == "") != (f.key == ""):
		return usagef("--tls-cert and --tls-key go together")
	case f.cert != "" && len(f.hosts) > 0:
		return usagef("--tls-cert and --acme exclude each other")
	case f.redirect != "" && !f.on():
		return usagef("--redirect is for --tls-cert and --acme")
	}
	for _, flag := range []string{"acme-directory", "acme-email"} {
		if err := exclusive(c, len(f.hosts) == 0, "--%s is for --acme", flag); err != nil {
			return err
		}
	}
	return nil
}

// on says whether TLS was asked for.
func (f *secureFlags) on() bool { return f.cert != "" || len(f.hosts) > 0 }

// listen has a server speak TLS where that was asked for, and opens the port of those who come without.
func (f *secureFlags) listen(c *cobra.Command, dir string, l net.Listener, o *serveOptions) (net.Listener, error) {
	if !f.on() {
		return l, nil
	}
	secured, plain, err := f.secured(dir, l, o.log)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	o.scheme = "https"
	if f.redirect != "" {
		plainListener, err := listen(c, f.redirect)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		o.redirect = func(ctx context.Context) error { return serveRedirect(ctx, plainListener, plain) }
	}
	return secured, nil
}

// secured is a listener that speaks TLS as the flags say, and what plain HTTP is answered with.
func (f *secureFlags) secured(dir string, l net.Listener, log *slog.Logger) (net.Listener, http.Handler, error) {
	if len(f.hosts) > 0 {
		m := f.manager(dir)
		return tls.NewListener(l, m.TLSConfig()), m.HTTPHandler(nil), nil
	}
	pair := &keyPair{cert: f.cert, key: f.key, log: log}
	if err := pair.load(); err != nil {
		return nil, nil, hinted(fmt.Errorf("--tls-cert: %w", err), "both files hold PEM; the certificate of the host comes first")
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: pair.certificate}
	return tls.NewListener(l, config), http.HandlerFunc(toHTTPS), nil
}

// manager keeps account and certificates in the data folder.
func (f *secureFlags) manager(dir string) *autocert.Manager {
	return &autocert.Manager{
		Prompt: autocert.AcceptTOS, HostPolicy: autocert.HostWhitelist(f.hosts...), Email: f.email,
		Cache: autocert.DirCache(datadir.Certificates(dir)), Client: &acme.Client{DirectoryURL: f.directory, UserAgent: "anatomy"},
	}
}

// toHTTPS sends to the same address by https at its usual port.
func toHTTPS(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	if plain, _, err := net.SplitHostPort(host); err == nil {
		host = plain
	}
	http.Redirect(w, r, "https://"+host+r.URL.RequestURI(), http.StatusPermanentRedirect)
}

// serveRedirect answers plain HTTP until ctx ends.
func serveRedirect(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// A keyPair is a certificate from two files. Whoever renews it replaces them; handshakes look now
// and then whether that happened, and use the new pair once both files fit together.
type keyPair struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	pair    *tls.Certificate
	files   [2]fileState // that pair was read from
	refused [2]fileState // that did not fit, and were told of
	looked  time.Time
}

// lookEvery is how long a pair is used without a look at its files.
const lookEvery = 5 * time.Second

// A fileState changes when a file does.
type fileState struct {
	size     int64
	modified time.Time
}

func (p *keyPair) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return p.at(time.Now())
}

// at is the pair to use at a time.
func (p *keyPair) at(now time.Time) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.looked) >= lookEvery {
		p.looked = now
		p.renew()
	}
	return p.pair, nil
}

// renew keeps the old pair where the new one is not whole yet, or never will be.
func (p *keyPair) renew() {
	files, err := p.states()
	if err == nil && (files == p.files || files == p.refused) {
		return
	}
	if err == nil {
		err = p.load()
	}
	if err != nil {
		p.refused = files
		p.log.Warn("the new certificate cannot be used; the old one stays", "error", err)
		return
	}
	p.log.Info("the certificate was read again", "file", p.cert)
}

func (p *keyPair) states() (s [2]fileState, err error) {
	for i, name := range []string{p.cert, p.key} {
		info, err := os.Stat(name)
		if err != nil {
			return s, err
		}
		s[i] = fileState{info.Size(), info.ModTime()}
	}
	return s, nil
}

// load reads the pair. The states are taken before: what changes meanwhile is read again.
func (p *keyPair) load() error {
	files, err := p.states()
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(p.cert, p.key)
	if err != nil {
		return err
	}
	p.pair, p.files = &pair, files
	return nil
}
