package warc

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// An Entry is a line of a CDXJ index, by which players of web archives find a record.
type Entry struct {
	URL      string
	At       time.Time
	Media    string // media type, "warc/revisit" for a revisit record
	Status   int    // of HTTP
	Digest   string // of the payload, as in the record
	Length   int64  // of the record in the file, compressed
	Offset   int64  // where it begins
	Filename string // of the archive
}

// Line returns the entry without a line end. Lines in the order of their bytes make an index.
func (e *Entry) Line() string {
	text := func(v any) string {
		var b strings.Builder
		j := json.NewEncoder(&b)
		j.SetEscapeHTML(false)
		_ = j.Encode(v) // a string
		return strings.TrimSuffix(b.String(), "\n")
	}
	return fmt.Sprintf(`%s %s {"url": %s, "mime": %s, "status": "%d", "digest": %s, "length": "%d", "offset": "%d", "filename": %s}`,
		sortKey(e.URL), e.At.UTC().Format("20060102150405"), text(e.URL), text(e.Media), e.Status, text(e.Digest), e.Length, e.Offset, text(e.Filename))
}

// sortKey returns the SURT form of a URL as players look it up (package surt of the Internet Archive):
// the host from its end without "www", and without the port of the scheme; path and query in lower
// case, with only those escapes that are needed; the path without empty segments; parameters in order.
// Unlike there, session IDs stay.
// "http://www.example.org:8080/A//%28b%29/?c=d&a=b" is "org,example:8080)/a/(b)?a=b&c=d".
func sortKey(raw string) string {
	scheme, rest, _ := strings.Cut(raw, "://")
	rest, _, _ = strings.Cut(rest, "#")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	u, err := url.Parse(scheme + "://" + rest[:end])
	if err != nil || u.Hostname() == "" {
		return minimalEscape(raw)
	}
	host := strings.ToLower(u.Hostname())
	if first, rest, ok := strings.Cut(host, "."); ok && strings.TrimRight(first, "0123456789") == "www" {
		host = rest
	}
	labels := []string{host}
	if strings.Trim(host, "0123456789.:") != "" { // no address
		labels = strings.Split(host, ".")
		slices.Reverse(labels)
	}
	key := minimalEscape(strings.Join(labels, ","))
	if port := u.Port(); port != "" && port != defaultPorts[u.Scheme] {
		key += ":" + port
	}
	path, query, _ := strings.Cut(rest[end:], "?")
	key += ")" + minimalEscape(cleanPath(unescape(path)))
	if query = minimalEscape(query); query != "" {
		parameters := strings.Split(query, "&")
		slices.SortFunc(parameters, func(a, b string) int {
			nameA, valueA, _ := strings.Cut(a, "=")
			nameB, valueB, _ := strings.Cut(b, "=")
			return cmp.Or(strings.Compare(nameA, nameB), strings.Compare(valueA, valueB), len(a)-len(b))
		})
		key += "?" + strings.Join(parameters, "&")
	}
	return key
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

// cleanPath resolves the segments . and .. of a path, and then removes empty ones.
func cleanPath(path string) string {
	var kept []string
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		switch {
		case segment == ".":
		case segment == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
		default:
			kept = append(kept, segment)
		}
	}
	return "/" + strings.Join(slices.DeleteFunc(kept, func(s string) bool { return s == "" }), "/")
}

// minimalEscape returns s in lower case, with no escapes but those of control characters, spaces, %, #
// and all beyond ASCII.
func minimalEscape(s string) string {
	var b strings.Builder
	for _, c := range []byte(unescape(s)) {
		switch {
		case c <= ' ' || c >= 0x7f || c == '%' || c == '#':
			fmt.Fprintf(&b, "%%%02x", c)
		case 'A' <= c && c <= 'Z':
			b.WriteByte(c + 'a' - 'A')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unescape decodes the escapes of s until none is left. Those that are not hexadecimal stay.
func unescape(s string) string {
	out := make([]byte, 0, len(s))
	for _, c := range []byte(s) {
		out = append(out, c)
		for n := len(out); n >= 3 && out[n-3] == '%'; n = len(out) {
			if _, err := hex.Decode(out[n-3:], out[n-2:]); err != nil {
				break
			}
			out = out[:n-2]
		}
	}
	return string(out)
}
