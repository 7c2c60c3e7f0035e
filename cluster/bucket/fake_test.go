package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// A fake is an S3 server in memory, with as much of the protocol as the package uses. It refuses
// requests without a signature, with the time of another day, and with content that has not the
// SHA-256 of its header. It does not compute signatures.
type fake struct {
	mu       sync.Mutex
	objects  map[string]stored // by key
	requests int

	fault fault         // of each request, or nil
	ahead time.Duration // of the server's clock
	page  int           // at most so many names in a list; 1000 if 0
}

type stored struct {
	content []byte
	version string
	changed time.Time
}

const (
	fakeBucket = "crawl"
	fakeKey    = "KEY"
)

// newFake returns a bucket on a new fake server, which is reached by pipes.
func newFake(t testing.TB) (*fake, *s3) {
	t.Helper()
	f := &fake{objects: map[string]stored{}}
	return f, f.bucket(t, "")
}

// bucket returns a bucket on the server, for objects that begin with the prefix.
func (f *fake) bucket(t testing.TB, prefix string) *s3 {
	t.Helper()
	return serve(t, f, prefix)
}

// serve returns a bucket on a server with a handler.
func serve(t testing.TB, h http.Handler, prefix string) *s3 {
	t.Helper()
	t.Setenv("AWS_REGION", "")
	p := pipes{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: h}
	go server.Serve(p)
	transport := newTransport(p.dial, true)
	a := address{host: "127.0.0.1:1", plain: true, bucket: fakeBucket, prefix: prefix}
	b, err := newS3(a, credentials.NewStaticV4(fakeKey, "secret", ""), transport)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	return b
}

// pipes is a listener whose connections are pipes.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.done); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.done:
		return nil, fmt.Errorf("dial: connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var authorization = regexp.MustCompile(
	`^AWS4-HMAC-SHA256 Credential=([^/]+)/[0-9]{8}/[a-z0-9-]+/s3/aws4_request, ` +
		`SignedHeaders=[a-z0-9;-]*host;[a-z0-9;-]*x-amz-content-sha256;x-amz-date, ?` +
		`Signature=[0-9a-f]{64}$`)

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.requests++
	f.mu.Unlock()
	w.Header().Set("Date", time.Now().Add(f.ahead).UTC().Format(http.TimeFormat))
	if f.fault == nil || !f.fault(w, r) {
		f.answer(w, r)
	}
}

// count returns the number of requests so far.
func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests
}

func (f *fake) answer(w http.ResponseWriter, r *http.Request) {
	now := time.Now().Add(f.ahead)
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	match := authorization.FindStringSubmatch(r.Header.Get("Authorization"))
	sent, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	switch {
	case match == nil:
		refuse(w, http.StatusForbidden, "AccessDenied")
	case match[1] != fakeKey:
		refuse(w, http.StatusForbidden, "InvalidAccessKeyId")
	case err != nil || now.Sub(sent).Abs() > maxSkew:
		refuse(w, http.StatusForbidden, "RequestTimeTooSkewed")
	case bucket != fakeBucket:
		refuse(w, http.StatusNotFound, "NoSuchBucket")
	case r.URL.Query().Has("location"):
		io.WriteString(w, "<LocationConstraint></LocationConstraint>")
	case key == "" && r.Method == http.MethodGet:
		f.list(w, r.URL.Query())
	case r.Method == http.MethodPut:
		f.put(w, r, key, now)
	case r.Method == http.MethodGet:
		f.get(w, r, key)
	case r.Method == http.MethodDelete:
		f.mu.Lock()
		delete(f.objects, key)
		f.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	default:
		refuse(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	io.WriteString(w, "<?xml version=\"1.0\"?><Error><Code>"+code+"</Code>"+
		"<Message>message of "+code+"</Message></Error>")
}

func (f *fake) put(w http.ResponseWriter, r *http.Request, key string, now time.Time) {
	content, err := io.ReadAll(r.Body)
	sum := sha256.Sum256(content)
	switch {
	case err != nil || int64(len(content)) != r.ContentLength:
		refuse(w, http.StatusBadRequest, "IncompleteBody")
		return
	case r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]):
		refuse(w, http.StatusBadRequest, "XAmzContentSHA256Mismatch")
		return
	case r.Header.Get("If-Match")+r.Header.Get("If-None-Match") != "":
		refuse(w, http.StatusNotImplemented, "NotImplemented")
		return
	}
	version := fmt.Sprintf("%q", hex.EncodeToString(sum[:16]))
	f.mu.Lock()
	f.objects[key] = stored{content, version, now}
	f.mu.Unlock()
	w.Header().Set("ETag", version)
}

func (f *fake) get(w http.ResponseWriter, r *http.Request, key string) {
	f.mu.Lock()
	o, ok := f.objects[key]
	f.mu.Unlock()
	if !ok {
		refuse(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	w.Header().Set("ETag", o.version)
	if r.Header.Get("Range") != "" && len(o.content) == 0 {
		refuse(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
		return
	}
	var in io.ReadSeeker = bytes.NewReader(o.content)
	http.ServeContent(rangeWriter{w}, r, "", o.changed, in)
}

// A rangeWriter answers 416 as S3 does, not in text.
type rangeWriter struct{ http.ResponseWriter }

func (w rangeWriter) WriteHeader(status int) {
	if status != http.StatusRequestedRangeNotSatisfiable {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	refuse(w.ResponseWriter, status, "InvalidRange")
}

func (f *fake) list(w http.ResponseWriter, query url.Values) {
	type contents struct {
		Key          string
		LastModified string
		Size         int
	}
	var result struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		EncodingType          string
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []contents
	}
	most, err := strconv.Atoi(query.Get("max-keys"))
	if err != nil || query.Get("list-type") != "2" {
		refuse(w, http.StatusBadRequest, "InvalidArgument")
		return
	}
	if f.page > 0 {
		most = min(most, f.page)
	}
	after := max(query.Get("start-after"), query.Get("continuation-token"))
	result.EncodingType = "url"
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(f.objects)) {
		if !strings.HasPrefix(key, query.Get("prefix")) || key <= after {
			continue
		}
		if len(result.Contents) == most {
			result.IsTruncated = true
			result.NextContinuationToken = result.Contents[most-1].Key
			break
		}
		o := f.objects[key]
		result.Contents = append(result.Contents,
			contents{key, o.changed.UTC().Format(time.RFC3339Nano), len(o.content)})
	}
	for i, c := range result.Contents {
		result.Contents[i].Key = url.QueryEscape(c.Key)
	}
	xml.NewEncoder(w).Encode(result)
}
