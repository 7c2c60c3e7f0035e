//go:build !nonats

package bus

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const startFor = 10 * time.Second // time until the server listens

// startNATS starts a NATS server in this process; port 0 selects a free one. admit decides about
// each connection; it is called concurrently.
func startNATS(
	host string, port int, cert tls.Certificate,
	admit func(user, password string, from net.Addr) (*grant, bool), log *slog.Logger,
) (natsServer, error) {
	logger := &natsLogger{log: log}
	o := &server.Options{
		ServerName: "anatomy", Host: host, Port: port, NoSigs: true, NoSystemAccount: true,
		MaxConn: maxClients, MaxSubs: 16, MaxPayload: partHeader + maxPart, MaxControlLine: 1 << 10,
		TLS: true, TLSTimeout: 10, AuthTimeout: 10,
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert},
		},
		TLSHandshakeFirst: true, PingInterval: 10 * time.Second, MaxPingsOut: 3,
		CustomClientAuthentication: guard{admit},
	}
	if port == 0 {
		o.Port = server.RANDOM_PORT
	}
	if err := listens(host, port); err != nil {
		return nil, err
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, err
	}
	s.SetLoggerV2(logger, false, false, false)
	s.Start()
	began := time.Now()
	for !s.ReadyForConnections(startFor / 100) {
		if err := logger.failure(time.Since(began)); err != nil {
			s.Shutdown()
			return nil, err
		}
	}
	return s, nil
}

// listens returns the error of listening at an address, if there is one. The NATS server only logs it.
func listens(host string, port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return err
	}
	return l.Close()
}

// A guard authenticates the connections to a NATS server.
type guard struct {
	admit func(user, password string, from net.Addr) (*grant, bool)
}

// Check is called by the NATS server.
func (g guard) Check(c server.ClientAuthentication) bool {
	user := c.GetOpts().Username
	may, ok := g.admit(user, c.GetOpts().Password, c.RemoteAddress())
	if ok && may != nil {
		c.RegisterUser(&server.User{Username: user, Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: may.publish},
			Subscribe: &server.SubjectPermission{Allow: may.subscribe},
		}})
	}
	return ok
}

// A natsLogger logs what the NATS server reports.
type natsLogger struct {
	log *slog.Logger

	mu   sync.Mutex
	last string // fatal error
}

func (l *natsLogger) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *natsLogger) Warnf(format string, v ...any)   { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *natsLogger) Errorf(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *natsLogger) Debugf(string, ...any)           {}
func (l *natsLogger) Tracef(string, ...any)           {}

func (l *natsLogger) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = fmt.Sprintf(format, v...)
}

// failure returns why the server has not started after a time, or nil while it may still start.
func (l *natsLogger) failure(after time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.last != "":
		return errors.New(l.last)
	case after >= startFor:
		return fmt.Errorf("the server does not listen after %d seconds", startFor/time.Second)
	}
	return nil
}
