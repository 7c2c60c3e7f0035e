// Package peer connects the nodes of a divided collection: a node sends calls about a shard to a
// keeper, a node that has the shard whole. Requests and replies are bytes, which this package does
// not interpret.
//
// A call is an HTTP/1.1 request over TLS 1.3, on a connection that is kept. It costs 0.11 ms of
// processor time at both ends together; over HTTP/2, it costs 0.17 ms (BenchmarkCall).
//
//	POST /shards/3/calls
//	Anatomy-Timeout: 1500        milliseconds until the caller's deadline; optional
//	Content-Length: 2048         required
//
// The body is the request, and that of the answer 200 is the reply. Other answers have the text of
// an error:
//
//	400  the request is malformed              [ErrRequest]
//	403  the caller is not a live node
//	404  the node does not have the shard      [ErrNotKept]
//	410  the state of the shard is gone        [ErrGone]
//	500  the call failed
//	503  the deadline passed
//
// # Identity
//
// Each node has a self-signed certificate, and announces in the bucket (cluster/node) its SHA-256
// and the address of its server. Both ends of a connection accept only a certificate that a live
// node has announced; names and authorities do not count. Whoever can write to the bucket can
// therefore call nodes, and can read all shards there anyway.
package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Errors of calls. A [Call] that serves returns errors that wrap them, and so does [Client.Call] if
// a server did.
var (
	ErrRequest = errors.New("the request is malformed")
	ErrNotKept = errors.New("this node does not have the shard whole")
	ErrGone    = errors.New("this node does not have that state of the shard")
)

var (
	errUnknown = errors.New("the certificate is not that of a live node")
	errBusy    = errors.New("the deadline passed before the call could begin")
)

// An errorStatus is the HTTP status of an error.
type errorStatus struct {
	err    error
	status int
}

// statuses are those of known errors. Others have status 500.
var statuses = []errorStatus{
	{ErrRequest, http.StatusBadRequest}, {errUnknown, http.StatusForbidden},
	{ErrNotKept, http.StatusNotFound}, {ErrGone, http.StatusGone},
	{errBusy, http.StatusServiceUnavailable},
	{context.DeadlineExceeded, http.StatusServiceUnavailable},
}

const (
	timeoutHeader = "Anatomy-Timeout"

	maxRequest = 1 << 20  // bytes
	maxReply   = 16 << 20 // bytes: more than a page of 10 MB, a crawl's usual bound, that does not compress
	maxError   = 1 << 10  // bytes

	longest = 30 * time.Second // of a call without a deadline, or with a later one
)

// protocols returns the protocols of servers and clients.
func protocols() *http.Protocols {
	var p http.Protocols
	p.SetHTTP1(true)
	return &p
}

// A Call answers a request about a shard. It does not retain or change the request.
type Call func(ctx context.Context, shard int, request []byte) (reply []byte, err error)

// readBody returns a body whose length is known and at most limit bytes.
func readBody(body io.Reader, length int64, limit int) ([]byte, error) {
	if length < 0 || length > int64(limit) {
		return nil, fmt.Errorf("%d bytes, at most %d are read", length, limit)
	}
	content := make([]byte, length)
	_, err := io.ReadFull(body, content)
	return content, err
}
