package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certify writes a certificate with a number for 127.0.0.1 and some names, and its key.
func certify(
	t *testing.T, cert, key string, number int64, names ...string,
) *x509.Certificate {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(number), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: names, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	der8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: der8}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// A renewed certificate is used without a restart; one that does not fit its key is not, and is
// reported once.
func TestCertificateIsReadAgain(t *testing.T) {
	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	certify(t, cert, key, 1)
	var log bytes.Buffer
	p := &keyPair{cert: cert, key: key, log: slog.New(slog.NewTextHandler(&log, nil))}
	if err := p.load(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	number := func(after time.Duration) int64 {
		now = now.Add(after)
		pair, err := p.at(now)
		if err != nil {
			t.Fatal(err)
		}
		return pair.Leaf.SerialNumber.Int64()
	}
	touch := func() { // a clock of the file system may be coarse
		later := now.Add(time.Hour)
		os.Chtimes(cert, later, later)
	}
	if got := number(time.Hour); got != 1 {
		t.Errorf("certificate %d, want the first", got)
	}
	certify(t, cert, filepath.Join(t.TempDir(), "elsewhere.pem"), 2) // the key is not there yet
	touch()
	for range 3 {
		if got := number(lookEvery); got != 1 {
			t.Errorf("certificate %d without its key", got)
		}
	}
	if n := strings.Count(log.String(), "certificate is invalid"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
	certify(t, cert, key, 3)
	now = now.Add(time.Hour)
	touch()
	if got := number(time.Second); got != 3 {
		t.Errorf("certificate %d, want the third", got)
	}
	os.Remove(cert)
	if got := number(lookEvery); got != 3 {
		t.Errorf("certificate %d after the file went", got)
	}
}

// serve speaks TLS and HTTP/2, and sends those who come without it there. It answers under the names
// of its certificate, and under those of another one that replaced it.
func TestServeTLS(t *testing.T) {
	dir, folder := crawled(t), t.TempDir()
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	roots := x509.NewCertPool()
	certify(t, cert, key, 1, "old.test")
	s := start(t, "serve", "--data", dir, "--tls-cert", cert, "--tls-key", key, "--redirect", "127.0.0.1:0")
	roots.AddCert(certify(t, cert, key, 2, "find.test", "*.find.test"))
	later := time.Now().Add(time.Hour) // a clock of the file system may be coarse
	os.Chtimes(cert, later, later)
	if !strings.HasPrefix(s.url, "https://") {
		t.Fatalf("it is at %s", s.url)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	r, err := client.Get(s.url + "search?q=anchor+text")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.ProtoMajor != 2 || !strings.Contains(string(body), "<mark>") {
		t.Errorf("%s over %s: %v", r.Status, r.Proto, err)
	}
	for host, status := range map[string]int{"find.test": 200, "a.find.test": 200, "a.b.find.test": 421, "b.test": 421, "old.test": 421} {
		request, err := http.NewRequest("GET", s.url+"search?q=anchor", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		r, err := client.Do(request)
		if err != nil || r.StatusCode != status {
			t.Fatalf("as %s: %v, %v, want %d", host, r, err, status)
		}
		r.Body.Close()
	}
	if r, err := http.Get("http://" + strings.TrimPrefix(s.url, "https://")); err == nil && r.StatusCode != http.StatusBadRequest {
		t.Errorf("plain HTTP to the port of TLS: %s", r.Status)
	}
	s.interrupt(t)
}

func TestToHTTPS(t *testing.T) {
	w := httptest.NewRecorder()
	toHTTPS(w, httptest.NewRequest(http.MethodGet, "http://find.test:8080/search?q=a&num=3", nil))
	if got := w.Header().Get("Location"); w.Code != http.StatusPermanentRedirect || got != "https://find.test/search?q=a&num=3" {
		t.Errorf("%d to %s", w.Code, got)
	}
}
