package warc

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"strconv"
	"strings"
)

// HTTP returns the HTTP response of a response or revisit record, or makes one from a resource or
// conversion record, whose text is UTF-8. Its body ends with the block; a length in the header is
// ignored. Chunks are joined if the body has them: some writers join them and keep the header. The
// content coding is kept.
func (r *Record) HTTP() (*http.Response, error) {
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: -1}
	if kind := r.Type(); kind == Resource || kind == Conversion {
		media := r.Get("Content-Type")
		if kind == Conversion && media == "text/plain" {
			media = "text/plain; charset=utf-8"
		}
		resp.Header.Set("Content-Type", media)
		resp.Body = io.NopCloser(bytes.NewReader(r.Block))
		return resp, nil
	}
	in := bufio.NewReader(bytes.NewReader(r.Block))
	lines := textproto.NewReader(in)
	line, err := lines.ReadLine()
	if err != nil {
		return nil, fmt.Errorf("warc: %s: no status line", r.URL())
	}
	proto, status, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(strings.TrimSpace(status), " ")
	if resp.StatusCode, err = strconv.Atoi(code); err != nil || !strings.HasPrefix(proto, "HTTP/") {
		return nil, fmt.Errorf("warc: %s: %.40q is not a status line", r.URL(), line)
	}
	header, err := lines.ReadMIMEHeader()
	if err != nil && (err != io.EOF || len(header) == 0) {
		return nil, fmt.Errorf("warc: %s: header of the answer: %w", r.URL(), err)
	}
	resp.Header = http.Header(header)
	var body io.Reader = in
	if strings.EqualFold(resp.Header.Get("Transfer-Encoding"), "chunked") && chunked(in) {
		body = httputil.NewChunkedReader(in)
	}
	resp.Body = io.NopCloser(body)
	return resp, nil
}

// chunked reports whether a body begins with the length of a chunk.
func chunked(in *bufio.Reader) bool {
	head, _ := in.Peek(18)
	size, _, ok := bytes.Cut(head, []byte("\r\n"))
	size, _, _ = bytes.Cut(size, []byte(";"))
	_, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 63)
	return ok && err == nil
}
