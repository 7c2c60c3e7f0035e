package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// A fault fails a request, and returns true, or lets the server answer it.
type fault func(w http.ResponseWriter, r *http.Request) bool

func status(status int) fault {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(status)
		io.WriteString(w, "<html>a proxy's page</html>")
		return true
	}
}

func code(status int, code string) fault {
	return func(w http.ResponseWriter, _ *http.Request) bool { refuse(w, status, code); return true }
}

// cut closes the connection at once.
func cut(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }

// silent reads the request and does not answer.
func silent(_ http.ResponseWriter, r *http.Request) bool {
	io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
	return true
}

// trickle answers as the server does, with a byte every 20 seconds.
func (f *fake) trickle(w http.ResponseWriter, r *http.Request) bool {
	f.answer(slowWriter{w, r.Context()}, r)
	return true
}

type slowWriter struct {
	http.ResponseWriter
	ctx context.Context
}

func (w slowWriter) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := w.ResponseWriter.Write(p[i : i+1]); err != nil {
			return i, err
		}
		http.NewResponseController(w.ResponseWriter).Flush()
		select {
		case <-w.ctx.Done():
			return i, w.ctx.Err()
		case <-time.After(20 * time.Second):
		}
	}
	return len(p), nil
}

// faults passes each request to the next fault, and those after the last one to the server. The
// requests for the place of a bucket do not count.
func (f *fake) faults(faults ...fault) {
	f.fault = func(w http.ResponseWriter, r *http.Request) bool {
		f.mu.Lock()
		if len(faults) == 0 || r.URL.Query().Has("location") {
			f.mu.Unlock()
			return false
		}
		next := faults[0]
		faults = faults[1:]
		f.mu.Unlock()
		return next(w, r)
	}
}

func repeat(f fault, n int) []fault { return slices.Repeat([]fault{f}, n) }

// calls are the calls on a bucket that has the object "a" with "content".
var calls = map[string]func(b Bucket) error{
	"put": func(b Bucket) error {
		return b.Put(context.Background(), "a", strings.NewReader("content"), 7)
	},
	"get": func(b Bucket) error {
		got, err := getString(b, "a", 0, -1)
		if err == nil && got != "content" {
			err = fmt.Errorf("got %q", got)
		}
		return err
	},
	"list": func(b Bucket) error {
		n := 0
		for _, err := range b.List(context.Background(), "", "") {
			if err != nil {
				return err
			}
			n++
		}
		if n != 1 {
			return fmt.Errorf("%d objects", n)
		}
		return nil
	},
	"delete": func(b Bucket) error { return b.Delete(context.Background(), "a") },
}

// eachCall makes each call, in time that does not pass, on a server with one object.
func eachCall(t *testing.T, test func(t *testing.T, call string, f *fake, b *s3, do func() error)) {
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, b := newFake(t)
				putString(t, b, "a", "content")
				test(t, name, f, b, func() error { return call(b) })
			})
		})
	}
}

func TestFailuresThatPass(t *testing.T) {
	for name, fault := range map[string]fault{
		"500": code(500, "InternalError"), "503 of a proxy": status(503), "429": status(429),
		"slow down": code(503, "SlowDown"), "timeout": code(400, "RequestTimeout"),
		"cut": cut, "silent": silent, "trickle": nil,
	} {
		t.Run(name, func(t *testing.T) {
			eachCall(t, func(t *testing.T, call string, f *fake, b *s3, do func() error) {
				if name == "trickle" {
					fault = f.trickle
				}
				f.faults(fault, fault)
				if err := do(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestFailuresThatStay(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault fault
		tries int
		want  string
	}{
		{"500", code(500, "InternalError"), maxTries, "the server failed"},
		{"502", status(502), maxTries, "the server failed"},
		{"507", code(507, "InsufficientStorage"), 1, "message of InsufficientStorage"},
		{"cut", cut, maxTries, "cannot be reached"},
		{"silent", silent, maxTries, "answers too slowly"},
		{"no permission", code(403, "AccessDenied"), 1, "no permission"},
		{"wrong secret", code(403, "SignatureDoesNotMatch"), 1, "AWS_SECRET_ACCESS_KEY"},
		{"wrong key", code(403, "InvalidAccessKeyId"), 1, "AWS_ACCESS_KEY_ID"},
		{"old token", code(400, "ExpiredToken"), 1, "AWS_SESSION_TOKEN"},
		{"wrong region", code(400, "AuthorizationHeaderMalformed"), 1, "AWS_REGION"},
		{"no bucket", code(404, "NoSuchBucket"), 1, "create it"},
		{"web server", status(404), 1, "not an S3 server"},
		{"login page", status(302), 1, "not an S3 server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachCall(t, func(t *testing.T, call string, f *fake, b *s3, do func() error) {
				before := f.count()
				f.faults(repeat(c.fault, 2*maxTries)...)
				err := do()
				if err == nil || !strings.Contains(err.Error(), c.want) ||
					!strings.Contains(err.Error(), ": "+call) ||
					!strings.Contains(err.Error(), b.String()) || errors.Is(err, ErrNotExist) {
					t.Errorf("%v, want an error with %q", err, c.want)
				}
				// net/http itself sends a request again when a connection that was used before ends.
				got := f.count() - before
				if got != c.tries && (got != maxTries+1 || c.tries != maxTries) {
					t.Errorf("%d requests, want %d", got, c.tries)
				}
			})
		})
	}
}

// A clock that is wrong by a day is named, with the difference.
func TestClock(t *testing.T) {
	for _, c := range []struct {
		ahead time.Duration
		want  string
	}{
		{24 * time.Hour, "24.0 hours behind the server's"},
		{-24 * time.Hour, "24.0 hours ahead of the server's"},
	} {
		eachCall(t, func(t *testing.T, call string, f *fake, b *s3, do func() error) {
			f.ahead = c.ahead
			if err := do(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", call, err, c.want)
			}
		})
	}
}

// A call ends with its context, whatever the server does.
func TestContextEndsCall(t *testing.T) {
	for _, fault := range []fault{silent, cut, status(500)} {
		synctest.Test(t, func(t *testing.T) {
			f, b := newFake(t)
			putString(t, b, "a", "content")
			f.faults(repeat(fault, 100)...)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			errs := []error{
				b.Put(ctx, "a", strings.NewReader("content"), 7),
				b.Delete(ctx, "a"),
			}
			for _, err := range b.List(ctx, "", "") {
				errs = append(errs, err)
			}
			_, err := getContext(ctx, b)
			errs = append(errs, err)
			for _, err := range errs {
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			}
			if len(errs) != 4 {
				t.Errorf("%d errors", len(errs))
			}
		})
	}
}

// half sends the first half of an object and then does what end does.
func (f *fake) half(end fault) fault {
	return func(w http.ResponseWriter, r *http.Request) bool {
		f.answer(&halfWriter{w, -1}, r)
		http.NewResponseController(w).Flush()
		return end(w, r)
	}
}

type halfWriter struct {
	http.ResponseWriter
	left int // of the first half; negative before the first write
}

func (w *halfWriter) Write(p []byte) (int, error) {
	if w.left < 0 {
		size, err := strconv.Atoi(w.Header().Get("Content-Length"))
		if err != nil {
			return 0, err
		}
		w.left = size / 2
	}
	n := min(len(p), w.left)
	w.left -= n
	if _, err := w.ResponseWriter.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// A download whose answer ends in its middle goes on there.
func TestDownloadResumes(t *testing.T) {
	content := strings.Repeat("0123456789", 30_000)
	for name, end := range map[string]fault{"cut": cut, "silent": silent} {
		for cuts := range 8 {
			synctest.Test(t, func(t *testing.T) {
				f, b := newFake(t)
				putString(t, b, "a", content)
				f.faults(repeat(f.half(end), cuts)...)
				got, err := getString(b, "a", 100, 250_000)
				switch {
				case cuts > maxCuts && err == nil:
					t.Errorf("%s %d times: no error", name, cuts)
				case cuts > maxCuts &&
					(!strings.Contains(err.Error(), "get a") || !strings.HasPrefix(content[100:], got)):
					t.Errorf("%s %d times: %v", name, cuts, err)
				case cuts <= maxCuts && (err != nil || got != content[100:250_100]):
					t.Errorf("%s %d times: %d bytes, %v", name, cuts, len(got), err)
				}
			})
		}
	}
}

func TestDownloadOfReplacedObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, b := newFake(t)
		putString(t, b, "a", strings.Repeat("a", 300_000))
		f.faults(f.half(cut))
		r, err := b.Get(t.Context(), "a", 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		putString(t, b, "a", strings.Repeat("b", 300_000))
		got, err := io.ReadAll(r)
		if !errors.Is(err, errReplaced) || strings.Contains(string(got), "b") {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
}

// Content that changes on its way to the server is refused there, and sent again.
func TestCorruptedPut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, b := newFake(t)
		changed := func(w http.ResponseWriter, r *http.Request) bool {
			r.Body = io.NopCloser(strings.NewReader("confent"))
			f.put(w, r, "a", time.Now())
			return true
		}
		f.faults(changed, changed)
		putString(t, b, "a", "content")
		if got, err := getString(b, "a", 0, -1); err != nil || got != "content" {
			t.Errorf("%q, %v", got, err)
		}
		f.faults(repeat(changed, maxTries)...)
		if err := b.Put(t.Context(), "b", strings.NewReader("content"), 7); err == nil {
			t.Error("changed content was stored")
		}
	})
}

// Answers that no S3 server gives are errors, and their content is not returned.
func TestForeignAnswers(t *testing.T) {
	answer := func(text string, header ...string) fault {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			if w.Header().Get("Content-Range") != "" {
				w.WriteHeader(http.StatusPartialContent)
			}
			io.WriteString(w, text)
			return true
		}
	}
	entry := func(key string) string {
		return "<Contents><Key>" + key + "</Key><Size>1</Size></Contents>"
	}
	list := func(entries ...string) string {
		return "<ListBucketResult>" + strings.Join(entries, "") + "</ListBucketResult>"
	}
	object := func(text string, header ...string) fault {
		now := time.Now().UTC().Format(http.TimeFormat)
		return answer(text, append(header, "ETag", "x", "Last-Modified", now)...)
	}
	for _, c := range []struct {
		name, call string
		fault      fault
	}{
		{"page for an object", "get", answer("<html></html>")},
		{"page for a put", "put", answer("<html></html>")},
		{"page for a list", "list", answer("<html></html>")},
		{"text for a list", "list", answer("OK")},
		{"endless list", "list", answer(list(strings.Repeat(" ", maxAnswer)))},
		{"list that goes back", "list", answer(list(entry("b"), entry("a")))},
		{"list with a name twice", "list", answer(list(entry("a"), entry("a")))},
		{"list of another prefix", "list in b", answer(list(entry("c")))},
		{"range ignored", "range", object("0123456789")},
		{"other range", "range", object("23", "Content-Range", "bytes 2-3/10")},
		{"part of range", "range", object("1", "Content-Range", "bytes 1-1/10")},
		{"larger range", "range", object("123", "Content-Range", "bytes 1-3/10")},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, b := newFake(t)
				putString(t, b, "a", "content")
				f.faults(repeat(c.fault, maxTries)...)
				err := error(nil)
				switch c.call {
				case "range":
					_, err = getString(b, "a", 1, 2)
				case "list in b":
					for _, err = range b.List(t.Context(), "b", "") {
					}
				default:
					err = calls[c.call](b)
				}
				if err == nil || !strings.Contains(err.Error(), "not an S3 server") {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

// Objects of others, and servers with small pages, do not disturb a list.
func TestListOfOthersObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := newFake(t)
		b := f.bucket(t, "crawl")
		f.page = 2
		var want []string
		for i := range 9 {
			want = append(want, fmt.Sprintf("a/%d", i))
			putString(t, b, want[i], "x")
		}
		for _, key := range []string{
			"crawl/", "crawl/a/", "crawl/a/3 4", "crawl/ä", "crawl/a//b", "crawlx", "other",
		} {
			f.objects[key] = stored{}
		}
		if got := names(t, b.List(t.Context(), "", "")); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// A list that is interrupted goes on after the last object.
func TestListResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, b := newFake(t)
		for i := range 2*pageLen + 1 {
			f.objects[fmt.Sprintf("%05d", i)] = stored{}
		}
		pass := func(http.ResponseWriter, *http.Request) bool { return false }
		f.faults(cut, pass, cut, status(500), pass, silent)
		got := names(t, b.List(t.Context(), "", ""))
		if len(got) != 2*pageLen+1 || !slices.IsSorted(got) {
			t.Errorf("%d objects", len(got))
		}
	})
}

// A server that is not there, one with another certificate, and one without https have different errors.
func TestUnreachable(t *testing.T) {
	page := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	secure, open := httptest.NewUnstartedServer(page), httptest.NewServer(page)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	defer open.Close()
	key := credentials.NewStaticV4(fakeKey, "secret", "")
	for _, c := range []struct {
		server *httptest.Server
		plain  bool
		want   string
	}{
		{secure, false, "SSL_CERT_FILE"},
		{secure, true, "not an S3 server, or this is not its port"},
		{open, false, "s3+http://"},
	} {
		a := address{host: c.server.Listener.Addr().String(), plain: c.plain, bucket: fakeBucket}
		b, err := newS3(a, key, newTransport(dialer(c.plain), c.plain))
		if err != nil {
			t.Fatal(err)
		}
		failsWith(t, b, c.want)
	}
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		refuse := func(context.Context, string, string) (net.Conn, error) {
			dials++
			return nil, errors.New("connection refused")
		}
		a := address{host: "s3.test", bucket: fakeBucket}
		b, err := newS3(a, key, newTransport(refuse, false))
		if err != nil {
			t.Fatal(err)
		}
		failsWith(t, b, "cannot be reached")
		if dials != 4*maxTries {
			t.Errorf("%d dials of 4 calls", dials)
		}
		missing := func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.DNSError{Err: "no such host", Name: "s3.test", IsNotFound: true}
		}
		b, err = newS3(a, key, newTransport(missing, false))
		if err != nil {
			t.Fatal(err)
		}
		failsWith(t, b, "no such host")
	})
}

// Over http the package connects to local addresses alone, whatever a name resolves to.
func TestPlainConnectsToLocalAddresses(t *testing.T) {
	for _, c := range []struct {
		address string
		local   bool
	}{
		{"127.0.0.1:1", true}, {"[::1]:1", true}, {"203.0.113.1:80", false}, {"[2001:db8::1]:80", false},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // nobody is connected to
		_, err := dialer(true)(ctx, "tcp", c.address)
		if c.local && errors.Is(err, errPublic) {
			t.Errorf("%s: %v", c.address, err)
		}
		if _, err := dialer(true)(t.Context(), "tcp", c.address); c.local == errors.Is(err, errPublic) {
			t.Errorf("%s: %v", c.address, err)
		}
	}
}
