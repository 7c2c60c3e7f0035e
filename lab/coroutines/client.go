package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// The ways of waiting for many fetches at once.
const (
	goroutines = "goroutines"
	threads    = "threads"
	blocking   = "blocking"
)

var ways = []string{goroutines, threads, blocking}

// A result is one measurement.
type result struct {
	Way      string
	At       int
	Pages    int64
	Seconds  float64
	CPU      float64 // seconds of the process
	Switches int64   // of context, wanted or not
	Memory   float64 // MB resident, with all connected and waiting
	Threads  int
}

// words counts the words of a piece of a page, the least that a crawler does with it.
func words(b []byte) (n int) {
	inside := false
	for _, c := range b {
		letter := c > ' '
		if letter && !inside {
			n++
		}
		inside = letter
	}
	return n
}

// measure fetches with so many at once for the period. All are connected before it begins.
func measure(o options) (result, error) {
	r := result{Way: o.way, At: o.at}
	if o.at < 1 {
		return r, fmt.Errorf("--at %d", o.at)
	}
	debug.SetMaxThreads(2*o.most + 1000)
	open, locked := dial, o.way == threads
	switch o.way {
	case goroutines, threads:
	case blocking:
		open, locked = dialBlocking, true
	default:
		return r, fmt.Errorf("--way %s is none of %s", o.way, strings.Join(ways, ", "))
	}
	conns := make([]io.ReadWriteCloser, o.at)
	for i := range conns {
		var err error
		if conns[i], err = open(o.addr); err != nil {
			return r, err
		}
		defer conns[i].Close()
	}
	var pages, seen atomic.Int64 // seen keeps the compiler from leaving the words out
	var over atomic.Bool
	var workers sync.WaitGroup
	errs := make(chan error, o.at)
	ready := make(chan struct{})
	for _, conn := range conns {
		workers.Go(func() {
			if locked {
				runtime.LockOSThread()
			}
			buf := make([]byte, chunk)
			<-ready
			for !over.Load() {
				n, err := fetch(conn, buf)
				if err != nil {
					errs <- err
					return
				}
				seen.Add(int64(n))
				pages.Add(1)
			}
		})
	}
	before, begun := usage(), time.Now()
	close(ready)
	time.Sleep(o.period / 2)
	r.Memory, r.Threads = resident(), threadCount() // in the midst of it
	time.Sleep(time.Until(begun.Add(o.period)))
	r.Pages, r.Seconds = pages.Load(), time.Since(begun).Seconds()
	after := usage()
	r.CPU, r.Switches = after.cpu-before.cpu, after.switches-before.switches
	over.Store(true)
	workers.Wait()
	select {
	case err := <-errs:
		return r, err
	default:
		return r, nil
	}
}

// chunk is how much is read at once: little, so that what is measured is the price of waiting.
const chunk = 4 << 10

// fetch asks for a page, reads it whole and counts its words.
func fetch(conn io.ReadWriter, buf []byte) (n int, err error) {
	if _, err := conn.Write([]byte{'\n'}); err != nil {
		return 0, err
	}
	if _, err := io.ReadFull(conn, buf[:4]); err != nil {
		return 0, err
	}
	for left := int(binary.BigEndian.Uint32(buf)); left > 0; {
		got, err := io.ReadFull(conn, buf[:min(left, chunk)])
		if err != nil {
			return n, err
		}
		n += words(buf[:got])
		left -= got
	}
	return n, nil
}

func dial(addr string) (io.ReadWriteCloser, error) { return net.Dial("tcp", addr) }

// A socket is one that the runtime's poller does not know: reading blocks the thread.
type socket int

func dialBlocking(addr string) (io.ReadWriteCloser, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Connect(fd, &syscall.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}); err != nil {
		syscall.Close(fd)
		return nil, err
	}
	return socket(fd), syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
}

func (s socket) Read(b []byte) (int, error) {
	for {
		n, err := syscall.Read(int(s), b)
		switch {
		case err == syscall.EINTR:
		case n == 0 && err == nil:
			return 0, io.EOF
		default:
			return max(0, n), err
		}
	}
}

func (s socket) Write(b []byte) (int, error) { return syscall.Write(int(s), b) }
func (s socket) Close() error                { return syscall.Close(int(s)) }

// What the kernel has counted of the process.
type used struct {
	cpu      float64
	switches int64
}

func usage() used {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return used{}
	}
	return used{time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds(), int64(u.Nvcsw + u.Nivcsw)}
}

// resident is the memory of the process in MB.
func resident() float64 { return float64(status("VmRSS:")) / 1000 }

func threadCount() int { return status("Threads:") }

// status is a number in /proc/self/status, 0 where there is none.
func status(name string) (n int) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "\n"+name)
	fmt.Sscan(rest, &n)
	return n
}
