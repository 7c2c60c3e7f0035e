package main

import (
	"crypto/tls"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"anatomy/disk/datadir"
)

// An acmeClient obtains and renews the certificates of hosts by ACME, and logs why it has none.
type acmeClient struct {
	manager *autocert.Manager
	hosts   []string
	log     *slog.Logger

	mu       sync.Mutex
	reported map[string]time.Time // host: when its next warning may be logged
}

// acmeClient returns a client that keeps account and certificates in the data folder.
func (f *secureFlags) acmeClient(dir string, log *slog.Logger) *acmeClient {
	return &acmeClient{hosts: f.hosts, log: log, reported: map[string]time.Time{}, manager: &autocert.Manager{
		Prompt: autocert.AcceptTOS, HostPolicy: autocert.HostWhitelist(f.hosts...), Email: f.email,
		Cache: autocert.DirCache(datadir.Certificates(dir)), Client: &acme.Client{DirectoryURL: f.directory, UserAgent: "anatomy"},
	}}
}

// config returns the TLS configuration of the server.
func (a *acmeClient) config() *tls.Config {
	c := a.manager.TLSConfig()
	c.GetCertificate = a.certificate
	return c
}

// certificate returns the certificate for a handshake, which autocert obtains if there is none.
func (a *acmeClient) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	cert, err := a.manager.GetCertificate(hello)
	challenge := slices.Contains(hello.SupportedProtos, acme.ALPNProto) && len(hello.SupportedProtos) == 1
	if host := strings.ToLower(hello.ServerName); !challenge && slices.Contains(a.hosts, host) {
		a.report(host, cert, err, time.Now())
	}
	return cert, err
}

// report logs that a host has no certificate, at most once a minute, or one that autocert should have
// renewed, at most once a day. Renewals begin when a third of the lifetime is left, or 30 days.
func (a *acmeClient) report(host string, cert *tls.Certificate, err error, now time.Time) {
	late := err == nil && cert.Leaf != nil && cert.Leaf.NotAfter.Sub(now) < cert.Leaf.NotAfter.Sub(cert.Leaf.NotBefore)/5
	if err == nil && !late {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Before(a.reported[host]) {
		return
	}
	if late {
		a.reported[host] = now.Add(24 * time.Hour)
		a.log.Warn("the certificate could not be renewed", "host", host, "expires", cert.Leaf.NotAfter)
		return
	}
	a.reported[host] = now.Add(time.Minute) // autocert tries again after a minute, and has no reason until then
	a.log.Warn("the ACME authority gave no certificate", "host", host, "directory", a.manager.Client.DirectoryURL, "error", err)
}
