package peer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"time"
)

const (
	handshakeTimeout = 5 * time.Second
	bodyTimeout      = 10 * time.Second
	idleTimeout      = 2 * time.Minute
	grace            = 5 * time.Second // for calls in progress at the end

	callsPerProcessor = 4 // further calls wait
)

// A Server answers the calls of other nodes.
type Server struct {
	listener net.Listener
	id       *Identity
	nodes    *Directory
	log      *slog.Logger
	answer   Call
	slots    chan struct{} // one value for each call in progress
}

// Listen returns a server for the live nodes of a directory. It listens at an address, and the
// caller calls Run next.
func Listen(address string, id *Identity, nodes *Directory, log *slog.Logger) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for other nodes: %w", err)
	}
	slots := make(chan struct{}, callsPerProcessor*runtime.GOMAXPROCS(0))
	return &Server{listener: l, id: id, nodes: nodes, log: log, slots: slots}, nil
}

// Addr returns the address at which the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Run answers calls until ctx ends, then waits some seconds for calls in progress. It closes the
// listener.
func (s *Server) Run(ctx context.Context, answer Call) error {
	s.answer = answer
	routes := http.NewServeMux()
	routes.HandleFunc("POST /shards/{shard}/calls", s.serve)
	server := &http.Server{
		Handler: routes,
		TLSConfig: s.id.config(func(certificate string) bool {
			ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
			defer cancel()
			return s.nodes.knows(ctx, certificate)
		}),
		Protocols:         protocols(),
		ReadHeaderTimeout: handshakeTimeout,
		ReadTimeout:       bodyTimeout,
		WriteTimeout:      longest + bodyTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    4 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(s.listener, "", "") }()
	var failed error
	select {
	case failed = <-ended:
		server.Close() // ends the contexts of calls in progress
	case <-ctx.Done():
		s.shutDown(ctx, server)
		<-ended
	}
	tooLong := time.After(grace)
	for range cap(s.slots) { // wait for the calls in progress, whose contexts have ended
		select {
		case s.slots <- struct{}{}:
		case <-tooLong:
			return errors.Join(failed, errors.New("a call of another node does not end"))
		}
	}
	return failed
}

// shutDown lets calls in progress end, for some seconds.
func (s *Server) shutDown(ctx context.Context, server *http.Server) {
	waiting, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if server.Shutdown(waiting) != nil {
		server.Close()
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	reply, err := s.call(r)
	if err == nil && len(reply) > maxReply {
		err = fmt.Errorf("the reply has %d bytes, at most %d are sent", len(reply), maxReply)
	}
	if err != nil {
		s.log.Debug("a call of another node failed", "path", r.URL.Path, "error", err)
		text := err.Error()
		http.Error(w, text[:min(len(text), maxError)], statusOf(err))
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(reply)))
	w.Write(reply)
}

func statusOf(err error) int {
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return s.status
		}
	}
	return http.StatusInternalServerError
}

// call answers the call of an HTTP request.
func (s *Server) call(r *http.Request) ([]byte, error) {
	// The connection may be older than the last list of nodes.
	if !s.nodes.knows(r.Context(), sum(r.TLS.PeerCertificates[0].Raw)) {
		return nil, errUnknown
	}
	shard, err := strconv.ParseUint(r.PathValue("shard"), 10, 31)
	if err != nil {
		return nil, fmt.Errorf("%w: shard %q", ErrRequest, r.PathValue("shard"))
	}
	timeout, err := parseTimeout(r.Header.Get(timeoutHeader))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	request, err := readBody(r.Body, r.ContentLength, maxRequest)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, errBusy
	}
	return s.answer(ctx, int(shard), request)
}

// parseTimeout parses the value of the header for timeouts, which may be missing.
func parseTimeout(value string) (time.Duration, error) {
	if value == "" {
		return longest, nil
	}
	ms, err := strconv.ParseUint(value, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%w: timeout %q", ErrRequest, value)
	}
	return time.Duration(min(ms, uint64(longest.Milliseconds()))) * time.Millisecond, nil
}
