package warc

import (
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

// sortKey returns the SURT form of a URL as indexes have it: the host from its end without "www",
// path and query in lower case, parameters in order, without a slash at the end.
// "http://www.example.org:8080/A/?c=d&a=b" is "org,example:8080)/a?a=b&c=d".
func sortKey(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return strings.ReplaceAll(strings.ToLower(raw), " ", "%20")
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
	key := strings.Join(labels, ",")
	if port := u.Port(); port != "" {
		key += ":" + port
	}
	path := strings.ToLower(u.EscapedPath())
	key += ")" + "/" + strings.Trim(path, "/")
	if u.RawQuery != "" {
		parameters := strings.Split(strings.ToLower(u.RawQuery), "&")
		slices.Sort(parameters)
		key += "?" + strings.Join(parameters, "&")
	}
	return strings.ReplaceAll(key, " ", "%20")
}
