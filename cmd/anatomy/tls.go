package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/acme/autocert"

	"anatomy/cmd/anatomy/internal/cli"
)

// secureFlags are the flags of serve for TLS: with a certificate from two files, or with one that it
// obtains and renews by ACME.
type secureFlags struct {
	cert, key string
	hosts     []string // to get a certificate for
	directory string   // of the authority
	email     string
	redirect  string // address for plain HTTP, which redirects to https
}

func (f *secureFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.cert, "tls-cert", "", "serve TLS with the certificate chain in `FILE` (PEM), reloaded when it changes")
	flags.StringVar(&f.key, "tls-key", "", "key of --tls-cert, in `FILE` (PEM)")
	flags.StringArrayVar(&f.hosts, "acme", nil, "serve TLS with a certificate for `HOST` from Let's Encrypt, whose terms you accept; needs --listen :443 (repeatable)")
	flags.StringVar(&f.directory, "acme-directory", autocert.DefaultACMEDirectory, "directory `URL` of another ACME authority")
	flags.StringVar(&f.email, "acme-email", "", "mail `ADDRESS` for notices of the authority")
	flags.StringVar(&f.redirect, "redirect", "", "listen for plain HTTP at `ADDRESS`, such as :80, and redirect to https")
}

// check returns a UsageError for invalid combinations of flags.
func (f *secureFlags) check(c *cobra.Command) error {
	switch {
	case (f.cert == "") != (f.key == ""):
		return cli.UsageErrorf("--tls-cert and --tls-key need each other")
	case f.cert != "" && len(f.hosts) > 0:
		return cli.UsageErrorf("--tls-cert and --acme exclude each other")
	case f.redirect != "" && !f.on():
		return cli.UsageErrorf("--redirect needs --tls-cert or --acme")
	}
	for _, flag := range []string{"acme-directory", "acme-email"} {
		if err := cli.RejectFlags(c, len(f.hosts) == 0, "--%s needs --acme", flag); err != nil {
			return err
		}
	}
	return nil
}

// on reports whether TLS is configured.
func (f *secureFlags) on() bool { return f.cert != "" || len(f.hosts) > 0 }

// listen wraps l in TLS if that is configured, and opens the port for plain HTTP.
func (f *secureFlags) listen(c *cobra.Command, dir string, l net.Listener, o *serveOptions) (net.Listener, error) {
	if !f.on() {
		return l, nil
	}
	secured, plain, err := f.secured(dir, l, o)
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

// secured returns a TLS listener and the handler for plain HTTP, and sets the certificate of files.
func (f *secureFlags) secured(dir string, l net.Listener, o *serveOptions) (net.Listener, http.Handler, error) {
	if len(f.hosts) > 0 {
		a := f.acmeClient(dir, o.log)
		return tls.NewListener(l, a.config()), a.manager.HTTPHandler(nil), nil
	}
	pair := &keyPair{cert: f.cert, key: f.key, log: o.log}
	if err := pair.load(); err != nil {
		return nil, nil, cli.WithHint(fmt.Errorf("--tls-cert: %w", err), "both files must be PEM, with the certificate of the host first")
	}
	o.certificate = pair.leaf
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: pair.certificate}
	return tls.NewListener(l, config), http.HandlerFunc(toHTTPS), nil
}

// toHTTPS redirects to the same URL over https, at the default port.
func toHTTPS(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	if plain, _, err := net.SplitHostPort(host); err == nil {
		host = plain
	}
	http.Redirect(w, r, "https://"+host+r.URL.RequestURI(), http.StatusPermanentRedirect)
}

// serveRedirect serves plain HTTP until ctx ends.
func serveRedirect(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// A keyPair is a certificate and its key from two files. Handshakes reload it after the files were
// replaced, once both belong together.
type keyPair struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	pair    *tls.Certificate
	files   [2]fileState // state of the files that pair was read from
	refused [2]fileState // state of files that did not belong together and were reported
	looked  time.Time
}

// lookEvery is the interval of looking for new files.
const lookEvery = 5 * time.Second

// A fileState identifies a version of a file.
type fileState struct {
	size     int64
	modified time.Time
}

func (p *keyPair) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return p.at(time.Now())
}

// leaf returns the certificate of the host.
func (p *keyPair) leaf() *x509.Certificate {
	pair, _ := p.certificate(nil) // at never fails
	return pair.Leaf
}

// at returns the pair to use at the time now.
func (p *keyPair) at(now time.Time) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.looked) >= lookEvery {
		p.looked = now
		p.renew()
	}
	return p.pair, nil
}

// renew reloads the pair if its files changed. It keeps the old pair if the new one is invalid.
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
		p.log.Warn("the new certificate is invalid; still using the old one", "error", err)
		return
	}
	p.log.Info("reloaded the certificate", "file", p.cert)
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

// load reads the pair. It takes the file states first, so that a change during load triggers another.
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
