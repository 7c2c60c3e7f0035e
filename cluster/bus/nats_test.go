//go:build !nonats

package bus

import (
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestStartFails: a server that does not start has an error with the reason, also if it gives none.
func TestStartFails(t *testing.T) {
	l := &natsLogger{log: slog.New(slog.DiscardHandler)}
	if err := l.failure(startFor - time.Second); err != nil {
		t.Errorf("before the time is over: %v", err)
	}
	if err := l.failure(startFor); err == nil || err.Error() == "" {
		t.Errorf("after that time: %v", err)
	}
	l.Fatalf("port %d is in use", 4222)
	if err := l.failure(0); err == nil || err.Error() != "port 4222 is in use" {
		t.Errorf("after a fatal error: %v", err)
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer busy.Close()
	keys, err := LoadKeys(filepath.Join(t.TempDir(), "keys"))
	must(t, err)
	_, err = Listen(busy.Addr().String(), keys, slog.New(slog.DiscardHandler))
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("at a port in use: %v", err)
	}
}
