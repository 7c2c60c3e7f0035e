package bus

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	owner = "owner" // name of the connection inside the process
	upAll = "up.*"

	ownersSubject = "owners"
	asksAll       = "asks.*"

	maxClients = 1000
	maxPending = 256 << 20 // bytes received and not handled; more are dropped

	maxUnfinished = 256 << 20 // bytes of unfinished messages; beyond it the oldest is dropped
)

// A Server is the owner's end of the bus, including the NATS server.
type Server struct {
	keys    *Keys
	nats    natsServer
	conn    *nats.Conn
	log     *slog.Logger
	address string
	secret  string // password of the connection inside the process

	splitter splitter

	mu         sync.Mutex         // guards what follows
	joiners    map[string]*joiner // by ID of a sender with an unfinished message
	unfinished int                // bytes of unfinished messages
	begun      uint64             // number of messages in several parts so far
	owners     []string           // addresses, see SetOwners
}

// Listen starts a server at an address. The caller calls Receive next.
func Listen(address string, keys *Keys, log *slog.Logger) (*Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen for crawlers: %q is not HOST:PORT", address)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("listen for crawlers: %q is not a port", port)
	}
	cert, err := keys.certificate()
	if err != nil {
		return nil, fmt.Errorf("listen for crawlers: %w", err)
	}
	s := &Server{keys: keys, log: log, secret: RandomID(), joiners: map[string]*joiner{}}
	if s.nats, err = startNATS(host, int(number), cert, s.admit, log); err != nil {
		return nil, fmt.Errorf("listen for crawlers at %s: %w", address, err)
	}
	s.address = reachable(host, strconv.Itoa(s.nats.Addr().(*net.TCPAddr).Port))
	if s.conn, err = nats.Connect("", nats.InProcessServer(s.nats), nats.Name(owner),
		nats.UserInfo(owner, s.secret)); err != nil {
		s.nats.Shutdown()
		return nil, fmt.Errorf("listen for crawlers: %w", err)
	}
	if _, err := s.conn.Subscribe(asksAll, s.answer); err != nil {
		return nil, errors.Join(fmt.Errorf("listen for crawlers: %w", err), s.Close())
	}
	return s, nil
}

// reachable returns an address for crawlers: the machine's name if host means all its addresses.
func reachable(host, port string) string {
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	return net.JoinHostPort(host, port)
}

// Reachable returns the address at which crawlers reach a server that listens at an address, or ""
// if its port is not known in advance.
func Reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" || port == "0" {
		return ""
	}
	return reachable(host, port)
}

// JoinLine returns the line with which a process joins this machine, or one of those given to
// SetOwners.
func (s *Server) JoinLine(r Role) JoinLine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return JoinLine{append([]string{s.address}, s.owners...), r, s.keys.Tokens[r], s.keys.authoritySum()}
}

// SetOwners sends all crawlers the addresses of machines that may be the owner after this one.
// Crawlers that join later ask for them; the caller repeats the call for crawlers that missed it.
// SetOwners reports whether the addresses have changed.
func (s *Server) SetOwners(addresses []string) (changed bool, err error) {
	owners := []string{}
	for _, address := range addresses {
		if address != s.address && len(owners) < maxAddresses-1 && isAddresses([]string{address}) {
			owners = append(owners, address)
		}
	}
	slices.Sort(owners)
	owners = slices.Compact(owners)
	s.mu.Lock()
	defer s.mu.Unlock()
	changed = !slices.Equal(owners, s.owners)
	s.owners = owners
	return changed, s.publishOwners(ownersSubject)
}

// publishOwners publishes the addresses given to SetOwners to a subject. The caller holds mu.
func (s *Server) publishOwners(subject string) error {
	message, err := json.Marshal(s.owners)
	if err != nil {
		return err
	}
	return s.conn.Publish(subject, message)
}

// answer answers a crawler that asks for the addresses. Before the first SetOwners it does nothing,
// because that SetOwners reaches the crawler, too.
func (s *Server) answer(question *nats.Msg) {
	_, id, _ := strings.Cut(question.Subject, ".")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owners == nil {
		return
	}
	if err := s.publishOwners(ownersSubject + "." + id); err != nil {
		s.log.Debug("cannot send a crawler the addresses of possible owners", "crawler", id, "error", err)
	}
}

// A natsServer is a NATS server in this process.
type natsServer interface {
	nats.InProcessConnProvider
	Addr() net.Addr
	Shutdown()
	WaitForShutdown()
}

// A grant lists the subjects that a connection may use. A nil grant allows all.
type grant struct{ publish, subscribe []string }

// admit admits the connection inside the process, and crawlers with the token. The user name of a
// crawler is "crawler.ID".
func (s *Server) admit(user, password string, from net.Addr) (*grant, bool) {
	if user == owner {
		return nil, isEqual(password, s.secret)
	}
	role, id, _ := strings.Cut(user, ".")
	if Role(role) != Crawler || !isHex(id, tokenBytes) || !isEqual(password, s.keys.Tokens[Crawler]) {
		s.log.Warn("refused a process: its token is wrong", "address", from.String())
		return nil, false
	}
	return &grant{
		publish:   []string{"up." + id, "asks." + id},
		subscribe: []string{"down." + id, ownersSubject, ownersSubject + "." + id},
	}, true
}

func isEqual(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// Receive starts to call handle with each message and its sender's ID, from one goroutine. handle
// owns the message and must not block.
func (s *Server) Receive(handle func(id string, message []byte)) error {
	sub, err := s.conn.Subscribe(upAll, func(m *nats.Msg) {
		id := strings.TrimPrefix(m.Subject, "up.")
		message, err := s.join(id, m.Data)
		if err != nil {
			s.log.Debug("lost a message of a crawler", "crawler", id, "error", err)
			return
		}
		if message != nil {
			handle(id, message)
		}
	})
	if err == nil {
		err = sub.SetPendingLimits(-1, maxPending)
	}
	return err
}

func (s *Server) join(id string, part []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.joiners[id]
	if j == nil {
		j = &joiner{}
	}
	before, begun := len(j.message), j.begun
	message, err := j.add(part)
	s.unfinished += len(j.message) - before
	switch {
	case !j.begun:
		delete(s.joiners, id)
	case !begun || len(part) > 0 && part[0] == firstPart:
		s.begun++
		j.order = s.begun
		s.joiners[id] = j
	}
	for s.unfinished > maxUnfinished {
		s.dropOldest()
	}
	return message, err
}

// dropOldest drops the unfinished message that began first; the others will finish soon. The caller
// holds mu.
func (s *Server) dropOldest() {
	oldest := ""
	for id, j := range s.joiners {
		if oldest == "" || j.order < s.joiners[oldest].order {
			oldest = id
		}
	}
	s.unfinished -= len(s.joiners[oldest].message)
	delete(s.joiners, oldest)
}

// Forget drops the state of a sender that has left.
func (s *Server) Forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.joiners[id]; j != nil {
		s.unfinished -= len(j.message)
		delete(s.joiners, id)
	}
}

// Send sends a message to a crawler. It is lost if the crawler is not connected.
func (s *Server) Send(id string, message []byte) error {
	return s.splitter.split(message, func(part []byte) error { return s.conn.Publish("down."+id, part) })
}

// Close ends all connections after all sent messages have left.
func (s *Server) Close() error {
	err := s.conn.FlushTimeout(time.Second)
	s.conn.Close()
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
	if errors.Is(err, nats.ErrConnectionClosed) {
		return nil
	}
	return err
}
