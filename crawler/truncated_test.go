package crawler

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"anatomy/vocab"
)

// visitLast visits a URL for the last time.
func (w *world) visitLast(t testing.TB, url string) vocab.Fetch {
	t.Helper()
	lease := vocab.Lease{ID: 7, Host: "www.test", Site: "www.test"}
	lease.URLs = []vocab.Target{{Doc: 1, URL: url, LastTry: true}}
	return one(w.work(t, context.Background(), lease))
}

// TestCutBodies cuts answers at random points, with all framings and codings. Whatever is kept is a
// prefix of the body, it is marked unless it is the whole body, and nothing is kept before the last
// try.
func TestCutBodies(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var text strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&text, "<p>line %d of the page, %x\n", i, random.Uint64())
	}
	body := text.String()
	pack := func(to func(io.Writer) io.WriteCloser) string {
		var b bytes.Buffer
		z := to(&b)
		_, _ = io.WriteString(z, body)
		_ = z.Close()
		return b.String()
	}
	codings := map[string]string{
		"identity": body,
		"gzip":     pack(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }),
		"deflate":  pack(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }),
		"br":       pack(func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }),
		"zstd":     pack(func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z }),
	}
	var cut int
	var answer string
	header := 0
	port := scripted(t, func(conn net.Conn, _ string) { _, _ = io.WriteString(conn, answer[:cut]) })
	w := newWorld(t, http.NotFound, func(o *Options) { o.HTTPPort = port })
	kept := 0
	for coding, packed := range codings {
		for _, chunked := range []bool{false, true} {
			head := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"1\"\r\nContent-Encoding: " + coding + "\r\n"
			if chunked {
				answer = head + "Transfer-Encoding: chunked\r\n\r\n"
				header = len(answer)
				for rest := packed; rest != ""; {
					n := min(len(rest), 1+random.IntN(5000))
					answer += fmt.Sprintf("%x\r\n%s\r\n", n, rest[:n])
					rest = rest[n:]
				}
				answer += "0\r\n\r\n"
			} else {
				answer = head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(packed))
				header = len(answer)
				answer += packed
			}
			cuts := []int{header, header + 1, len(answer) - 1, len(answer)}
			for range 12 {
				cuts = append(cuts, header+random.IntN(len(answer)-header))
			}
			for _, cut = range cuts {
				at := fmt.Sprintf("%s, chunked %v, cut %d of %d", coding, chunked, cut-header, len(answer)-header)
				f := one(w.visit(t, "http://www.test/"))
				if cut < len(answer) && f.Outcome != vocab.Failed || cut == len(answer) && f.Outcome != vocab.Fetched {
					t.Errorf("%s, to be tried again: %s %q", at, f.Outcome, f.Reason)
				}
				f = w.visitLast(t, "http://www.test/")
				switch {
				case cut == len(answer):
					if f.Page == nil || string(f.Page.Body) != body || f.Page.Truncated != vocab.Whole {
						t.Errorf("%s: %s %q", at, f.Outcome, f.Reason)
					}
				case f.Outcome == vocab.Failed && cut-header < len(packed)/2: // a decoder may need more
				case f.Outcome != vocab.Fetched:
					t.Errorf("%s: %s %q", at, f.Outcome, f.Reason)
				case !strings.HasPrefix(body, string(f.Page.Body)) || len(f.Page.Body) == 0:
					t.Errorf("%s: %d bytes that are no prefix", at, len(f.Page.Body))
				case f.Page.Truncated != vocab.Disconnected || f.Reason == "" || f.Validators != (vocab.Validators{}):
					t.Errorf("%s: %q, %q, %v", at, f.Page.Truncated, f.Reason, f.Validators)
				default:
					kept++
				}
			}
		}
	}
	if kept < 80 {
		t.Errorf("only %d cut bodies were kept", kept)
	}
}

// TestOverlongBodies: of a body over the bound exactly the bound is kept at the first try, however
// its length is stated; of one that is too slow what came, at the last. Of a bomb, of binary data
// and of a coding that is wrong nothing is kept.
func TestOverlongBodies(t *testing.T) {
	const most = 100_000
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "<p>text and more text, %d\n", i*i)
	}
	body := text.String()
	var packed, bomb bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, body)
	_ = z.Close()
	z = gzip.NewWriter(&bomb)
	_, _ = z.Write(bytes.Repeat([]byte("a"), 8<<20))
	_ = z.Close()
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		rw.Header().Set("ETag", `"1"`)
		switch r.URL.Path {
		case "/length":
			rw.Header().Set("Content-Length", fmt.Sprint(len(body)))
			_, _ = io.WriteString(rw, body)
		case "/chunked":
			_, _ = io.WriteString(rw, body)
		case "/gzip":
			rw.Header().Set("Content-Encoding", "gzip")
			_, _ = rw.Write(packed.Bytes())
		case "/exact":
			_, _ = io.WriteString(rw, body[:most])
		case "/binary":
			_, _ = rw.Write(make([]byte, 2*most))
		case "/slow":
			trickle(rw, r)
		default:
			http.NotFound(rw, r)
		}
	}, func(o *Options) { o.MaxBody, o.Grace, o.MinRate = most, 60*time.Millisecond, 1000 })
	for _, path := range []string{"/length", "/chunked", "/gzip"} {
		f := one(w.visit(t, "http://www.test"+path))
		if f.Page == nil || string(f.Page.Body) != body[:most] || f.Page.Truncated != vocab.OverLength ||
			!strings.Contains(f.Reason, "larger than 100000 bytes") || f.Validators.ETag != `"1"` {
			t.Errorf("%s: %s %q %v", path, f.Outcome, f.Reason, f.Validators)
		}
	}
	if f := one(w.visit(t, "http://www.test/exact")); f.Page == nil || f.Page.Truncated != vocab.Whole || len(f.Page.Body) != most {
		t.Errorf("exact: %s %q", f.Outcome, f.Reason)
	}
	if f := one(w.visit(t, "http://www.test/binary")); f.Outcome != vocab.Unsupported {
		t.Errorf("binary: %s %q", f.Outcome, f.Reason)
	}
	if f := one(w.visit(t, "http://www.test/slow")); f.Outcome != vocab.Failed {
		t.Errorf("slow, to be tried again: %s %q", f.Outcome, f.Reason)
	}
	f := w.visitLast(t, "http://www.test/slow")
	if f.Page == nil || f.Page.Truncated != vocab.OverTime || strings.Trim(string(f.Page.Body), "x") != "" {
		t.Errorf("slow: %s %q", f.Outcome, f.Reason)
	}
	roomy := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(rw, r)
			return
		}
		rw.Header().Set("Content-Type", "text/plain")
		rw.Header().Set("Content-Encoding", "gzip")
		if r.URL.Path == "/bomb" {
			_, _ = rw.Write(bomb.Bytes())
			return
		}
		wrong := bytes.Clone(packed.Bytes())
		wrong[len(wrong)-6] ^= 1 // of the checksum
		_, _ = rw.Write(wrong)
	}, nil)
	if f := roomy.visitLast(t, "http://www.test/bomb"); f.Outcome != vocab.TooLarge {
		t.Errorf("bomb: %s %q", f.Outcome, f.Reason)
	}
	if f := roomy.visitLast(t, "http://www.test/wrong"); f.Outcome != vocab.Failed {
		t.Errorf("wrong checksum: %s %q", f.Outcome, f.Reason)
	}
}
