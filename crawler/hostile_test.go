package crawler

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	byteorder "encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf16"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"anatomy/vocab"
)

// scripted is a server that does what answer says with each connection. The path of a request picks
// the answer; robots.txt is there and empty, and every connection carries one page after it.
func scripted(t *testing.T, answer func(conn net.Conn, path string)) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				for {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					if r.URL.Path == "/robots.txt" {
						_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
						continue
					}
					answer(conn, r.URL.Path)
					return
				}
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// endless writes the same text until the client closes the connection.
func endless(conn net.Conn, text string) {
	for line := []byte(strings.Repeat(text, max(1, 4096/len(text)))); ; {
		if _, err := conn.Write(line); err != nil {
			return
		}
	}
}

// TestHostileServers: answers that break HTTP, by mistake or in order to harm, cost no more than the
// bounds, end as what they are, and leave the crawler whole for the next page.
func TestHostileServers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	chunked := ok + "Transfer-Encoding: chunked\r\n\r\n"
	answers := map[string]struct {
		text    string
		endless string // after it, without end
		want    string
		reason  string
	}{
		"/continue":      {"HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 4\r\n\r\npage", "", "fetched", ""},
		"/hints":         {"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" + ok + "Content-Length: 4\r\n\r\npage", "", "fetched", ""},
		"/allhints":      {"", "HTTP/1.1 103 Early Hints\r\n\r\n", "too large", "header larger than"},
		"/close":         {ok + "Connection: close\r\n\r\npage", "", "fetched", ""},
		"/short":         {ok + "Content-Length: 4\r\n\r\npage and more than was said", "", "fetched", ""},
		"/long":          {ok + "Content-Length: 400\r\n\r\npage", "", "failed", "unexpected EOF"},
		"/two":           {ok + "Content-Length: 4\r\nContent-Length: 5\r\n\r\npage", "", "failed", "Content-Length"},
		"/negative":      {ok + "Content-Length: -4\r\n\r\npage", "", "failed", "bad Content-Length"},
		"/nonumber":      {ok + "Content-Length: four\r\n\r\npage", "", "failed", "bad Content-Length"},
		"/enormous":      {ok + "Content-Length: 9223372036854775807\r\n\r\npage", "", "failed", "unexpected EOF"},
		"/overflow":      {ok + "Content-Length: 99999999999999999999\r\n\r\npage", "", "failed", "bad Content-Length"},
		"/chunks":        {chunked + "4\r\npage\r\n0\r\n\r\n", "", "fetched", ""},
		"/nochunk":       {chunked + "zz\r\npage\r\n0\r\n\r\n", "", "failed", "invalid byte in chunk length"},
		"/bigchunk":      {chunked + "ffffffffffffffffff\r\npage", "", "failed", "chunk length too large"},
		"/lyingchunk":    {chunked + "2\r\npage\r\n0\r\n\r\n", "", "failed", "malformed chunked encoding"},
		"/cutchunk":      {chunked + "10\r\npage", "", "failed", "unexpected EOF"},
		"/chunkline":     {chunked, "4", "failed", "too long"},
		"/chunknotes":    {chunked, "1;" + strings.Repeat("x", 2000) + "\r\np\r\n", "failed", "non-data"},
		"/smallchunks":   {chunked, "1\r\np\r\n", "fetched", "larger than"},
		"/trailers":      {chunked + "4\r\npage\r\n0\r\n", "X: y\r\n", "failed", "trailer"},
		"/both":          {ok + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npage\r\n0\r\n\r\n", "", "fetched", ""},
		"/headers":       {ok, "X-Bomb: y\r\n", "too large", "header larger than"},
		"/headerline":    {ok + "X-Bomb: ", "y", "too large", "header larger than"},
		"/headername":    {ok, "y", "too large", "header larger than"},
		"/statusline":    {"HTTP/1.1 200 ", "y", "too large", "header larger than"},
		"/fold":          {ok, " folded\r\n", "too large", "header larger than"},
		"/ssh":           {"SSH-2.0-OpenSSH_9.9\r\n", "", "failed", "malformed"},
		"/binary":        {"\x16\x03\x01\x00\x00\r\n\r\n", "", "failed", "malformed"},
		"/http9":         {"<p>page", "", "failed", ""},
		"/nothing":       {"", "", "failed", "EOF"},
		"/999":           {"HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n", "", "failed", "999"},
		"/0":             {"HTTP/1.1 000 No\r\nContent-Length: 0\r\n\r\n", "", "gone", "0"},
		"/minus":         {"HTTP/1.1 -20 No\r\nContent-Length: 0\r\n\r\n", "", "failed", "malformed"},
		"/switch":        {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "junk", "gone", "101"},
		"/nullinheader":  {ok + "X: a\x00b\r\nContent-Length: 4\r\n\r\npage", "", "failed", "malformed"},
		"/emptylocation": {"HTTP/1.1 302 Found\r\nLocation: \r\nContent-Length: 0\r\n\r\n", "", "gone", "302"},
		"/badlocation":   {"HTTP/1.1 302 Found\r\nLocation: http://[/\r\nContent-Length: 0\r\n\r\n", "", "refused", "302"},
		"/longlocation":  {"HTTP/1.1 302 Found\r\nLocation: http://a.test/" + strings.Repeat("x", 5000) + "\r\nContent-Length: 0\r\n\r\n", "", "refused", "302"},
		"/longhost":      {"HTTP/1.1 302 Found\r\nLocation: http://" + strings.Repeat("x", 300) + ".test/\r\nContent-Length: 0\r\n\r\n", "", "redirected", ""},
	}
	// The transport reports what comes after an answer to the standard logger.
	before := log.Writer()
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(before) })
	port := scripted(t, func(conn net.Conn, path string) {
		a := answers[path]
		_, _ = io.WriteString(conn, a.text)
		if a.endless != "" {
			endless(conn, a.endless)
		}
	})
	w := newWorld(t, http.NotFound, func(o *Options) { o.HTTPPort, o.MaxBody, o.MaxHeader = port, 64<<10, 16<<10 })
	n := 0
	for path, want := range answers {
		for range 2 {
			n++
			f := one(w.visit(t, "http://www.test"+path))
			if f.Outcome.String() != want.want || !strings.Contains(f.Reason, want.reason) {
				t.Errorf("%s: %s %.200q", path, f.Outcome, f.Reason)
			}
			if f.Outcome == vocab.Fetched && f.Page.Truncated == vocab.Whole && string(f.Page.Body) != "page" {
				t.Errorf("%s: %q", path, f.Page.Body)
			}
			// What came after an answer is read as the next one, unless the transport saw it before.
			// That one fails then and is tried again later; here each page is judged by itself.
			w.client.http.CloseIdleConnections()
		}
	}
	if n < 60 {
		t.Fatalf("%d cases", n)
	}
}

// TestByteByByte: a header that comes a byte at a time ends at its time-out. (A body that does is in
// TestBodies.)
func TestByteByByte(t *testing.T) {
	port := scripted(t, func(conn net.Conn, _ string) {
		for {
			if _, err := io.WriteString(conn, "H"); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	w := newWorld(t, http.NotFound, func(o *Options) { o.HTTPPort, o.HeaderTimeout = port, 50*time.Millisecond })
	if f := one(w.visit(t, "http://www.test/")); f.Outcome != vocab.Failed || !strings.Contains(f.Reason, "no answer within 50 milliseconds") {
		t.Errorf("%s %q", f.Outcome, f.Reason)
	}
}

// TestKeepAliveClosed: if a server closes a kept connection between requests, the request is repeated
// on a new one, and no page counts as failed.
func TestKeepAliveClosed(t *testing.T) {
	var pages atomic.Int64
	port := scripted(t, func(conn net.Conn, _ string) {
		pages.Add(1)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\npage") // and it is closed after all
	})
	w := newWorld(t, http.NotFound, func(o *Options) { o.HTTPPort = port })
	var urls []string
	for i := range 50 {
		urls = append(urls, fmt.Sprintf("http://www.test/%d", i))
	}
	got, report := w.visit(t, urls...)
	for _, f := range got {
		if f.Outcome != vocab.Fetched {
			t.Errorf("%s: %s %s", f.URL, f.Outcome, f.Reason)
		}
	}
	if pages.Load() != 50 || report.HoldFor != 0 {
		t.Errorf("%d pages served, %+v", pages.Load(), report)
	}
}

// TestResetAfterRequest: a kept connection that the server closes on the next request, without a word,
// is not the page's fault either; one that is new and does so is.
func TestResetAfterRequest(t *testing.T) {
	var conns atomic.Int64
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			first := conns.Add(1) == 1
			go func() { // the first connection serves robots.txt and dies on the page; others live
				defer conn.Close()
				in := bufio.NewReader(conn)
				for {
					r, err := http.ReadRequest(in)
					if err != nil || first && r.URL.Path != "/robots.txt" || r.URL.Path == "/dead" {
						return
					}
					_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n")
				}
			}()
		}
	}()
	w := newWorld(t, http.NotFound, func(o *Options) { o.HTTPPort = l.Addr().(*net.TCPAddr).Port })
	got, _ := w.visit(t, "http://www.test/a", "http://www.test/b", "http://www.test/dead", "http://www.test/c")
	if fmt.Sprint(outcomes(got)) != "[fetched fetched failed fetched]" {
		t.Errorf("%+v", got)
	}
	if st := w.Stats(); st.Requests != 5 {
		t.Errorf("%d requests counted", st.Requests)
	}
}

// h2 serves HTTP/2 by hand over TLS: answer writes the frames for each request, and says whether the
// connection goes on.
func h2(t *testing.T, answer func(f *http2.Framer, stream uint32, path string, reply func(end bool)) bool) (port int, pool *x509.CertPool) {
	t.Helper()
	borrowed := httptest.NewTLSServer(nil) // for its certificate
	defer borrowed.Close()
	config := &tls.Config{Certificates: borrowed.TLS.Certificates, NextProtos: []string{"h2"}}
	l, err := tls.Listen("tcp4", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serveH2(conn, answer)
		}
	}()
	pool = x509.NewCertPool()
	pool.AddCert(borrowed.Certificate())
	return l.Addr().(*net.TCPAddr).Port, pool
}

func serveH2(conn net.Conn, answer func(f *http2.Framer, stream uint32, path string, reply func(end bool)) bool) {
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	f := http2.NewFramer(conn, conn)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_ = f.WriteSettings()
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = f.WriteSettingsAck()
			}
		case *http2.MetaHeadersFrame:
			reply := func(end bool) { writeH2(f, frame.StreamID, end) }
			if !answer(f, frame.StreamID, frame.PseudoValue("path"), reply) {
				// What was written must not be lost to a reset for what was not read.
				_ = conn.(*tls.Conn).CloseWrite()
				_, _ = io.Copy(io.Discard, conn)
				return
			}
		}
	}
}

// writeH2 answers a stream with "page", or with its header alone.
func writeH2(f *http2.Framer, stream uint32, end bool) {
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	_ = enc.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	_ = enc.WriteField(hpack.HeaderField{Name: "content-type", Value: "text/html"})
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true})
	if end {
		_ = f.WriteData(stream, true, []byte("page"))
	}
}

// TestHTTP2Trouble: GOAWAY between requests and refused streams cost nothing; a stream that is reset
// in the middle fails its page alone.
func TestHTTP2Trouble(t *testing.T) {
	var sentAway, refused atomic.Int64
	port, pool := h2(t, func(f *http2.Framer, stream uint32, path string, reply func(bool)) bool {
		switch path {
		case "/goaway": // answered, and no more on this connection
			reply(true)
			_ = f.WriteGoAway(stream, http2.ErrCodeNo, nil)
			return false
		case "/unseen": // sent away unanswered, the first time
			if sentAway.Add(1) == 1 {
				_ = f.WriteGoAway(stream-2, http2.ErrCodeNo, nil)
				return false
			}
			reply(true)
		case "/refused":
			if refused.Add(1) == 1 {
				_ = f.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
				return true
			}
			reply(true)
		case "/reset":
			_ = f.WriteRSTStream(stream, http2.ErrCodeInternal)
		case "/half":
			reply(false)
			_ = f.WriteRSTStream(stream, http2.ErrCodeCancel)
		case "/bomb":
			var block bytes.Buffer
			enc := hpack.NewEncoder(&block)
			_ = enc.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
			for range 100 {
				_ = enc.WriteField(hpack.HeaderField{Name: "x-bomb", Value: strings.Repeat("y", 3000)}) // a byte each once indexed
			}
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: true})
		default:
			reply(true)
		}
		return true
	})
	w := newWorld(t, http.NotFound, func(o *Options) { o.HTTPSPort, o.RootCAs, o.MaxHeader = port, pool, 16<<10 })
	cases := []struct{ path, want string }{
		{"/a", "fetched"}, {"/goaway", "fetched"}, {"/b", "fetched"}, {"/unseen", "fetched"}, {"/refused", "fetched"},
		{"/reset", "failed"}, {"/c", "fetched"}, {"/half", "failed"}, {"/d", "fetched"}, {"/bomb", "too large"}, {"/e", "fetched"},
	}
	for _, c := range cases {
		f := one(w.visit(t, "https://example.com"+c.path))
		if f.Outcome.String() != c.want {
			t.Errorf("%s: %s %s", c.path, f.Outcome, f.Reason)
		}
	}
	if sentAway.Load() != 2 || refused.Load() != 2 {
		t.Errorf("asked %d and %d times", sentAway.Load(), refused.Load())
	}
}

// TestManyRedirects: each of 10,000 redirects is one request and one target; robots.txt that leads on
// as long is given up after five.
func TestManyRedirects(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		n := 0
		if r.URL.Path == "/robots.txt" && r.Host == "www.test" {
			http.NotFound(rw, r)
			return
		}
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &n)
		http.Redirect(rw, r, fmt.Sprintf("/%d", n+1), http.StatusFound)
	}, nil)
	url := "http://www.test/0"
	for i := range 10_000 {
		f := one(w.visit(t, url))
		if url = fmt.Sprintf("http://www.test/%d", i+1); f.Location != url {
			t.Fatalf("%d: %s %q", i, f.Outcome, f.Location)
		}
	}
	if st := w.Stats(); st.Requests != 10_001 {
		t.Errorf("%d requests", st.Requests)
	}
	if f := one(w.visit(t, "http://loop.test/x")); f.Outcome != vocab.Redirected || w.Stats().Requests != 10_001+1+robotsRedirects+1 {
		t.Errorf("%s, %d requests", f.Outcome, w.Stats().Requests)
	}
}

// TestHostNames: names that are not valid are not looked up.
func TestHostNames(t *testing.T) {
	w := newWorld(t, http.NotFound, nil)
	for _, host := range []string{strings.Repeat("x", 300), strings.Repeat("x", 64) + ".test", strings.Repeat("x.", 200) + "test", "a..test", strings.Repeat("1", 300), "_", "-.test"} {
		got, report := w.visit(t, "http://"+host+"/")
		if o := got[0].Outcome; o != vocab.NoName && o != vocab.Refused && !(o == vocab.NotFound && len(host) < 10) || report.HoldFor != 0 {
			t.Errorf("%.20s: %s %.100s", host, o, got[0].Reason)
		}
		if len(got[0].Reason) > 1000 {
			t.Errorf("%.20s: a reason of %d bytes", host, len(got[0].Reason))
		}
	}
}

// TestOddRobots: robots.txt in UTF-16, or of one endless line, is obeyed.
func TestOddRobots(t *testing.T) {
	const rules = "User-agent: *\r\nDisallow: /x\r\n"
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			page(rw, "page")
			return
		}
		switch r.Host {
		case "le.test":
			_, _ = rw.Write(wide(byteorder.LittleEndian, "\uFEFF"+rules))
		case "be.test":
			_, _ = rw.Write(wide(byteorder.BigEndian, "\uFEFF"+rules))
		case "bare.test":
			_, _ = rw.Write(wide(byteorder.LittleEndian, rules))
		case "line.test":
			_, _ = io.WriteString(rw, rules+"Disallow: /")
			for part := []byte(strings.Repeat("y", 8000)); ; {
				if _, err := rw.Write(part); err != nil {
					return
				}
			}
		}
	}, nil)
	for _, host := range []string{"le.test", "be.test", "bare.test", "line.test"} {
		got, _ := w.visit(t, "http://"+host+"/x", "http://"+host+"/y")
		if fmt.Sprint(outcomes(got)) != "[forbidden fetched]" {
			t.Errorf("%s: %v", host, outcomes(got))
		}
	}
}

func wide(order byteorder.AppendByteOrder, text string) (b []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return b
}

// TestHostileSitemaps: sitemaps of any size, packed or not, end at the bounds of the protocol, with what
// was read by then.
func TestHostileSitemaps(t *testing.T) {
	urls := []byte(strings.Repeat("<url><loc>http://www.test/a</loc></url>", 1000))
	endless := func(to io.Writer, part []byte) {
		for {
			if _, err := to.Write(part); err != nil {
				return
			}
		}
	}
	member := func(text []byte) []byte { // of a gzip file; any number of them is one
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(text)
		_ = z.Close()
		return b.Bytes()
	}
	spaces, remarks, packed := member(make([]byte, 1<<20)), member(bytes.Repeat([]byte("<!---->"), 100_000)), member(urls)
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/huge.xml": // 10 GB, as it says
			rw.Header().Set("Content-Length", "10737418240")
			endless(rw, urls)
		case "/endless.xml":
			endless(rw, urls)
		case "/bomb.xml":
			rw.Header().Set("Content-Encoding", "gzip")
			endless(rw, spaces)
		case "/bomb.xml.gz":
			endless(rw, remarks)
		case "/packed.xml.gz":
			endless(rw, packed)
		case "/self.xml":
			_, _ = io.WriteString(rw, "<sitemapindex><sitemap><loc>/self.xml</loc></sitemap></sitemapindex>")
		}
	}, func(o *Options) { o.MinRate = 1 }) // the test may have to wait for a processor
	for path, want := range map[string]string{
		"/huge.xml": "too large 0 0", "/endless.xml": "fetched 50000 0", "/bomb.xml": "too large 0 0", "/bomb.xml.gz": "fetched 0 0", "/packed.xml.gz": "fetched 50000 0",
		"/self.xml": "fetched 0 1", // and the seen test knows it
	} {
		f := one(w.work(t, context.Background(), vocab.Lease{URLs: []vocab.Target{{URL: "http://www.test" + path, Kind: vocab.SitemapTarget}}}))
		if got := fmt.Sprintf("%s %d %d", f.Outcome, len(f.SitemapEntries), len(f.Sitemaps)); got != want {
			t.Errorf("%s: %s, want %s: %q", path, got, want, f.Reason)
		}
	}
}

// TestRobotsMemory: the rules of many hosts stay within their bound, those used last.
func TestRobotsMemory(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			for i := range 100 {
				fmt.Fprintf(rw, "User-agent: *\nDisallow: /%s%d\n", strings.Repeat("x", 100), i)
			}
		}
	}, func(o *Options) { o.RobotsBytes = 100_000 })
	for i := range 30 {
		w.visit(t, fmt.Sprintf("http://h%d.test/", i))
	}
	if n := w.robots.rules.Len(); n < 2 || n > 15 {
		t.Errorf("the rules of %d hosts are kept", n)
	}
	before := w.Stats().Robots
	w.visit(t, "http://h29.test/", "http://h0.test/")
	if asked := w.Stats().Robots - before; asked != 1 {
		t.Errorf("%d asked again", asked)
	}
}

// TestDeadline: an answer that is quick enough at every moment ends all the same.
func TestDeadline(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			return
		}
		rw.Header().Set("Content-Type", "text/html")
		for {
			if _, err := io.WriteString(rw, strings.Repeat("x", 100)); err != nil {
				return
			}
			_ = http.NewResponseController(rw).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(time.Millisecond):
			}
		}
	}, func(o *Options) { o.Timeout = 100 * time.Millisecond })
	f := one(w.work(t, context.Background(), vocab.Lease{URLs: []vocab.Target{{URL: "http://www.test/"}}}))
	if f.Outcome != vocab.Failed || !strings.Contains(f.Reason, "not done within 100 milliseconds") {
		t.Errorf("%s %q", f.Outcome, f.Reason)
	}
}
