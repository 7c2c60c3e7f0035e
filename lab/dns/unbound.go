package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// startUnbound runs an unbound that forwards to addr and caches, and returns its address. It has a
// thread for each of two processors, and as many queries in flight as the client has.
func startUnbound(ctx context.Context, program, addr string) (at string, stop func(), err error) {
	to, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return "", nil, err
	}
	free, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	port := free.LocalAddr().(*net.UDPAddr).Port
	free.Close()
	dir, err := os.MkdirTemp("", "unbound")
	if err != nil {
		return "", nil, err
	}
	config := filepath.Join(dir, "unbound.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, unboundConfig, port, dir, to.IP, to.Port), 0o600); err != nil {
		return "", nil, err
	}
	c := exec.CommandContext(ctx, program, "-d", "-c", config)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { _ = c.Process.Kill(); _ = c.Wait(); _ = os.RemoveAll(dir) }
	at = fmt.Sprintf("127.0.0.1:%d", port)
	probe := ask(at)
	for range 50 {
		if err = probe("up.many.test"); err == nil {
			return at, stop, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	stop()
	return "", nil, fmt.Errorf("unbound does not answer: %w", err)
}

const unboundConfig = `server:
  interface: 127.0.0.1
  port: %d
  directory: "%s"
  username: ""
  chroot: ""
  pidfile: ""
  do-daemonize: no
  use-syslog: no
  do-not-query-localhost: no
  num-threads: 2
  so-rcvbuf: 4m
  so-reuseport: yes
  outgoing-range: 2048
  num-queries-per-thread: 1024
  cache-min-ttl: 1800
  use-caps-for-id: yes
  module-config: "iterator"
  local-zone: "test." nodefault
forward-zone:
  name: "."
  forward-addr: %s@%d
`
