package control

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"anatomy/disk/snapshot"
	"anatomy/vocab"
)

// A Crawl is controlled through the socket. Its methods are called concurrently; the methods of
// Client with the same names document them.
type Crawl interface {
	Status() *vocab.CrawlStatus
	Trace(url string) ([]Step, error)
	Pause()
	Resume()
	AddSeeds(urls []string) ([]vocab.AddResult, error)
	SetDelay(host string, d time.Duration) (site string)
	Remove(pattern string) (uint64, error)
	Block(ctx context.Context, targets []string) (BlockReport, error)
	Unblock(ctx context.Context, targets []string) (BlockReport, error)
	Blocked() []string
	Snapshot(snapshot.Purpose) (*snapshot.Snapshot, error)
	Changes() string
}

// maxRequest bounds the body of a request in bytes.
const maxRequest = 1 << 20

// Serve answers on the socket until ctx ends. Then it finishes the requests in flight, which takes
// at most as long as a client waits, and closes the socket.
func Serve(ctx context.Context, socket net.Listener, crawl Crawl) {
	server := &http.Server{
		Handler:           handler(crawl),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
	}
	stop := context.AfterFunc(ctx, func() { socket.Close() })
	defer stop()
	server.Serve(socket) // returns when the socket is closed
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
	defer cancel()
	if server.Shutdown(grace) != nil {
		server.Close()
	}
}

func handler(crawl Crawl) http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, answer func(r *http.Request) (any, error)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+version+path, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
			body, err := answer(r)
			writeAnswer(w, body, err)
		})
	}
	handle("GET /status", func(*http.Request) (any, error) { return crawl.Status(), nil })
	handle("GET /trace", func(r *http.Request) (any, error) { return crawl.Trace(r.FormValue("url")) })
	handle("GET /bans", func(*http.Request) (any, error) { return BlockReport{Patterns: crawl.Blocked()}, nil })
	handle("GET /changes", func(*http.Request) (any, error) { return changesAnswer{crawl.Changes()}, nil })
	handle("POST /pause", func(*http.Request) (any, error) { crawl.Pause(); return struct{}{}, nil })
	handle("POST /resume", func(*http.Request) (any, error) { crawl.Resume(); return struct{}{}, nil })
	handle("POST /snapshot", func(r *http.Request) (any, error) {
		p, err := snapshot.ParsePurpose(r.URL.Query().Get("for"))
		if err != nil {
			return nil, err
		}
		return crawl.Snapshot(p)
	})
	handle("POST /add", decoding(func(_ context.Context, q addRequest) (any, error) {
		added, err := crawl.AddSeeds(q.URLs)
		return addAnswer{added}, err
	}))
	handle("POST /delay", decoding(func(_ context.Context, q delayRequest) (any, error) {
		return delayAnswer{crawl.SetDelay(q.Host, q.Delay)}, nil
	}))
	handle("POST /remove", decoding(func(_ context.Context, q removeRequest) (any, error) {
		removed, err := crawl.Remove(q.Pattern)
		return removeAnswer{removed}, err
	}))
	handle("POST /ban", decoding(func(ctx context.Context, q blockRequest) (any, error) {
		return crawl.Block(ctx, q.Targets)
	}))
	handle("POST /unban", decoding(func(ctx context.Context, q blockRequest) (any, error) {
		return crawl.Unblock(ctx, q.Targets)
	}))
	return mux
}

// decoding decodes the JSON body of a request for answer. Its context outlives the connection: an
// operation completes even if the client does not wait.
func decoding[Q any](answer func(context.Context, Q) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		var q Q
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			return nil, err
		}
		return answer(context.WithoutCancel(r.Context()), q)
	}
}

// writeAnswer writes body, or err if it is not nil.
func writeAnswer(w http.ResponseWriter, body any, err error) {
	status := http.StatusOK
	if err != nil {
		body, status = errorAnswer{err.Error()}, http.StatusBadRequest
		if errors.Is(err, ErrUnknownURL) {
			status = http.StatusNotFound
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body) // fails if the client has closed the connection
}
