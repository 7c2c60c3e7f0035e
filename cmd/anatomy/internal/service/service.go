// Package service connects the program to the service manager: notifications to systemd, and the
// signals that end the program.
package service

import (
	"context"
	"errors"
	"net"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// ErrTerminated is the cause of a context that SIGTERM ended.
var ErrTerminated = errors.New("terminated")

// States for Notify.
const (
	Ready    = "READY=1"
	Stopping = "STOPPING=1"
)

// Notify sends the state of the program to the service manager: a datagram to the socket in
// $NOTIFY_SOCKET (sd_notify(3)). Without a manager it does nothing, and it ignores errors of
// sending.
func Notify(state string) {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(state))
}

// Signals turn signals into the end of a context: SIGINT and SIGTERM always, SIGHUP as Hangup says.
type Signals struct {
	cancel context.CancelCauseFunc
	came   chan os.Signal
}

// Catch begins to catch signals. The first one ends the context and notifies the service manager; a
// second one kills the program.
func Catch(parent context.Context) (context.Context, *Signals) {
	ctx, cancel := context.WithCancelCause(parent)
	s := &Signals{cancel: cancel, came: make(chan os.Signal, 1)}
	signal.Notify(s.came, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-ctx.Done():
		case sig := <-s.came:
			s.Release()
			Notify(Stopping)
			if sig == syscall.SIGTERM {
				cancel(ErrTerminated)
			}
			cancel(context.Canceled)
		}
	}()
	return ctx, s
}

// Hangup prepares for SIGHUP in a command that runs until it is ended. If a terminal is there, its
// end ends the command as SIGINT does. A service ignores the signal: there is nothing to reload.
func (s *Signals) Hangup() {
	if term.IsTerminal(int(os.Stderr.Fd())) {
		signal.Notify(s.came, syscall.SIGHUP)
		return
	}
	signal.Ignore(syscall.SIGHUP)
}

// Release ends the catching.
func (s *Signals) Release() {
	signal.Stop(s.came)
}

// Close releases the signals and ends the context.
func (s *Signals) Close() {
	s.Release()
	s.cancel(context.Canceled)
}
