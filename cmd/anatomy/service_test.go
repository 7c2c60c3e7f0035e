package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"anatomy/cmd/anatomy/internal/sharded"
)

// A manager is a service manager: it gets what programs notify.
type manager struct{ conn *net.UnixConn }

func newManager(t *testing.T) *manager {
	t.Helper()
	name := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	t.Setenv("NOTIFY_SOCKET", name)
	return &manager{conn}
}

// expect waits for a notification.
func (m *manager) expect(t *testing.T, want string) {
	t.Helper()
	_ = m.conn.SetReadDeadline(time.Now().Add(time.Minute))
	b := make([]byte, 100)
	n, err := m.conn.Read(b)
	if err != nil || string(b[:n]) != want {
		t.Fatalf("notified %q, %v, want %q", b[:n], err, want)
	}
}

func signal(t *testing.T, c *exec.Cmd, s os.Signal) {
	t.Helper()
	if err := c.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// TestServiceOfServe checks that a server notifies the service manager when it is ready, ignores
// SIGHUP, and on SIGTERM notifies it of the end and exits with status 0.
func TestServiceOfServe(t *testing.T) {
	m := newManager(t)
	dir := filepath.Join(t.TempDir(), "data")
	if err := sharded.Create(dir, 0); err != nil {
		t.Fatal(err)
	}
	s := start(t, "serve", "--data", dir)
	m.expect(t, "READY=1")
	signal(t, s.command, syscall.SIGHUP)
	for range 3 {
		s.get(t, "")
	}
	signal(t, s.command, syscall.SIGTERM)
	m.expect(t, "STOPPING=1")
	s.command.Wait()
	if got := s.command.ProcessState.ExitCode(); got != 0 {
		t.Errorf("status %d (%v) after SIGTERM", got, s.command.ProcessState)
	}
}

// TestServiceOfCrawl: so does a crawl. On SIGTERM it keeps what was fetched, and that is searchable.
func TestServiceOfCrawl(t *testing.T) {
	m := newManager(t)
	reached := make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, "<title>Start</title><p>the aardvark <a href=/slow>slow</a>")
		case "/slow":
			close(reached)
			<-r.Context().Done()
		default:
			http.NotFound(w, r)
		}
	}))
	defer site.Close()
	dir := filepath.Join(t.TempDir(), "data")
	var stderr strings.Builder
	c := exec.Command("anatomy", "crawl", "--data", dir, "--allow-private", "--delay", "0", site.URL+"/")
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	m.expect(t, "READY=1")
	<-reached
	signal(t, c, syscall.SIGHUP)
	signal(t, c, syscall.SIGTERM)
	m.expect(t, "STOPPING=1")
	if err := c.Wait(); err != nil || !strings.Contains(stderr.String(), "The same command resumes the crawl.") {
		t.Errorf("after SIGTERM: %v\n%s", err, &stderr)
	}
	if found := command(t, "search", "--data", dir, "aardvark"); !strings.Contains(found, site.URL) {
		t.Errorf("what was fetched is not found:\n%s", found)
	}
}
