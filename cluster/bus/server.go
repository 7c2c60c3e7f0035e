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
	maxPending = 256 << 20 // bytes that were received and not handled; more are dropped

	maxUnfinished = 256 << 20 // bytes of messages that have begun; more drop the oldest
)

// A Server is the owner's end of the bus, with the NATS server in it.
type Server struct {
	keys    *Keys
	nats    natsServer
	conn    *nats.Conn
	log     *slog.Logger
	address string
	secret  string // of the connection inside the process

	splitter splitter

	mu         sync.Mutex         // guards what follows
	joiners    map[string]*joiner // with an unfinished message, by ID of the sender
	unfinished int                // bytes of these messages
	begun      uint64             // such messages so far
	others     []string           // see Tell
}

// Listen starts a server at an address. Call Receive next.
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

// reachable returns an address for crawlers: the name of the machine if host is all its addresses.
func reachable(host, port string) string {
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	return net.JoinHostPort(host, port)
}

// Reachable returns the address at which crawlers reach a server that is to listen at an address; ""
// if that has no port that is known before.
func Reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" || port == "0" {
		return ""
	}
	return reachable(host, port)
}

// JoinLine returns the line with which a process joins this machine, or one of those given to Tell.
func (s *Server) JoinLine(r Role) JoinLine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return JoinLine{append([]string{s.address}, s.others...), r, s.keys.Tokens[r], s.keys.authoritySum()}
}

// Tell tells all crawlers the addresses of machines that may be the owner after this one. Those that
// join later ask for them, and it is called again and again for those that do not. It reports whether
// the addresses are others than before.
func (s *Server) Tell(addresses []string) (changed bool, err error) {
	others := []string{}
	for _, address := range addresses {
		if address != s.address && len(others) < maxAddresses-1 && isAddresses([]string{address}) {
			others = append(others, address)
		}
	}
	slices.Sort(others)
	others = slices.Compact(others)
	s.mu.Lock()
	defer s.mu.Unlock()
	changed = !slices.Equal(others, s.others)
	s.others = others
	return changed, s.publishOthers(ownersSubject)
}

// publishOthers sends the addresses of Tell to a subject. The caller holds mu.
func (s *Server) publishOthers(subject string) error {
	message, err := json.Marshal(s.others)
	if err != nil {
		return err
	}
	return s.conn.Publish(subject, message)
}

// answer answers a crawler that asks for the addresses. It says nothing before the first Tell, which
// reaches that crawler, too.
func (s *Server) answer(question *nats.Msg) {
	_, id, _ := strings.Cut(question.Subject, ".")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.others == nil {
		return
	}
	if err := s.publishOthers(ownersSubject + "." + id); err != nil {
		s.log.Debug("a crawler was not told who may be the owner", "crawler", id, "error", err)
	}
}

// A natsServer is a NATS server in this process.
type natsServer interface {
	nats.InProcessConnProvider
	Addr() net.Addr
	Shutdown()
	WaitForShutdown()
}

// A grant is the subjects that a connection may use; all, if it is nil.
type grant struct{ publish, subscribe []string }

// admit admits the connection inside the process and crawlers with the token. Their user name is
// "crawler.ID".
func (s *Server) admit(user, password string, from net.Addr) (*grant, bool) {
	if user == owner {
		return nil, isEqual(password, s.secret)
	}
	role, id, _ := strings.Cut(user, ".")
	if Role(role) != Crawler || !isHex(id, tokenBytes) || !isEqual(password, s.keys.Tokens[Crawler]) {
		s.log.Warn("a process was refused: its token is wrong", "address", from.String())
		return nil, false
	}
	return &grant{
		publish:   []string{"up." + id, "asks." + id},
		subscribe: []string{"down." + id, ownersSubject, ownersSubject + "." + id},
	}, true
}

func isEqual(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// Receive has handle called with each message and its sender's ID, in one goroutine. handle owns the
// message and must not block.
func (s *Server) Receive(handle func(id string, message []byte)) error {
	sub, err := s.conn.Subscribe(upAll, func(m *nats.Msg) {
		id := strings.TrimPrefix(m.Subject, "up.")
		message, err := s.join(id, m.Data)
		if err != nil {
			s.log.Debug("a message of a crawler was lost", "crawler", id, "error", err)
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

// dropOldest drops the unfinished message that began first: others are finished soon. The caller holds
// mu.
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

// Forget drops what is kept of a sender that has left.
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

// Close ends all connections, after what was sent has left.
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
