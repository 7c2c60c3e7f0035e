package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serve --acme gets a certificate from an authority that proves by port 443 who we are, keeps it, and
// speaks TLS for its hosts alone. The authority is pebble, Let's Encrypt's own for tests.
func TestServeACME(t *testing.T) {
	if testing.Short() {
		t.Skip("three other processes, some ten seconds")
	}
	for _, program := range []string{"pebble", "pebble-challtestsrv"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	folder, ports := t.TempDir(), freePorts(t, 6)
	authority, management, port, plain, dns, control := ports[0], ports[1], ports[2], ports[3], ports[4], ports[5]
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	certify(t, cert, key, 1)
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": authority, "managementListenAddress": management, "certificate": cert, "privateKey": key, "tlsPort": portOf(port), "httpPort": portOf(plain),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "pebble.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	background(t, nil, "pebble-challtestsrv", "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-dnsserver", dns, "-doh", "", "-http01", "", "-https01", "", "-tlsalpn01", "", "-management", control)
	background(t, []string{"PEBBLE_VA_NOSLEEP=1"}, "pebble", "-config", filepath.Join(folder, "pebble.json"), "-dnsserver", dns)
	dir := crawled(t)
	for { // after a failure the server would wait for a minute before it asks again
		conn, err := net.Dial("tcp", authority)
		if err == nil {
			conn.Close()
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	background(t, []string{"SSL_CERT_FILE=" + cert}, "anatomy", "serve", "--data", dir, "--listen", port, "--redirect", plain, "--acme", "search.anatomy.test", "--acme-directory", "https://"+authority+"/dir")

	conn, err := dialUntil(t, port, "search.anatomy.test")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	leaf := conn.ConnectionState().PeerCertificates[0]
	if err := leaf.VerifyHostname("search.anatomy.test"); err != nil || leaf.Issuer.CommonName == leaf.Subject.CommonName {
		t.Errorf("the certificate is of %s, for %v: %v", leaf.Issuer.CommonName, leaf.DNSNames, err)
	}
	if kept, err := os.ReadDir(filepath.Join(dir, "certificates")); err != nil || len(kept) != 2 {
		t.Errorf("kept: %v %v", kept, err)
	}
	if other, err := tls.Dial("tcp", port, &tls.Config{InsecureSkipVerify: true, ServerName: "other.test"}); err == nil {
		other.Close()
		t.Error("it has a certificate for a host that was not named")
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := client.Get("http://" + plain + "/search?q=a")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if to := r.Header.Get("Location"); r.StatusCode != http.StatusFound || to != "https://127.0.0.1:443/search?q=a" {
		t.Errorf("plain HTTP: %s to %q", r.Status, to)
	}
}

// TestACMEFailures: why a host has no certificate, or none that was renewed, is in the log, once in a
// while; hosts that were not named leave no line.
func TestACMEFailures(t *testing.T) {
	var log bytes.Buffer
	away := freePorts(t, 1)[0]
	f := secureFlags{hosts: []string{"search.anatomy.test"}, directory: "https://" + away + "/dir"}
	a := f.acmeClient(t.TempDir(), slog.New(slog.NewTextHandler(&log, nil)))
	hello := func(name string, protocols ...string) {
		t.Helper()
		if _, err := a.certificate(&tls.ClientHelloInfo{ServerName: name, SupportedProtos: protocols}); err == nil {
			t.Errorf("a certificate for %q", name)
		}
	}
	hello("other.test")
	hello("")
	hello("search.anatomy.test", "acme-tls/1")
	if log.Len() > 0 {
		t.Fatalf("logged: %s", &log)
	}
	hello("Search.anatomy.test", "h2")
	hello("search.anatomy.test", "h2")
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "host=search.anatomy.test") || !strings.Contains(got, away) || !strings.Contains(got, "refused") {
		t.Errorf("logged: %s", got)
	}

	log.Reset()
	now := time.Unix(1_800_000_000, 0)
	for _, days := range []int{17, 17, 31} { // the second one in the same day
		leaf := &x509.Certificate{NotBefore: now.AddDate(0, 0, days-90), NotAfter: now.AddDate(0, 0, days)}
		a.report("renewed.test", &tls.Certificate{Leaf: leaf}, nil, now)
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "could not be renewed") {
		t.Errorf("logged: %s", got)
	}
}

// dialUntil waits until all of them are up: a handshake ends when the certificate is there.
func dialUntil(t *testing.T, address, host string) (conn *tls.Conn, err error) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		conn, err = tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, ServerName: host}) // pebble makes a root of its own
		if err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// background runs a program until the test ends.
func background(t *testing.T, environment []string, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), environment...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
}

// freePorts are addresses on loopback that nobody had when asked.
func freePorts(t *testing.T, n int) (addresses []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses
}

func portOf(address string) (port int) {
	_, text, _ := net.SplitHostPort(address)
	fmt.Sscan(text, &port)
	return port
}
