package access

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"anatomy/web/internal/respond"
)

// Origins are the origins of other sites whose scripts may read what the server answers (CORS).
// Cookies are never sent with their requests, so they read what everybody may read.
type Origins struct {
	all map[string]bool
	any bool
	own string // origin of the public URL, "" if there is none

	// BoxOnly are further origins, whose scripts may read what the search box needs. They are refused
	// while Private reports that the collection needs a login. Default: none.
	BoxOnly *Origins
	Private func() bool
}

// NewOrigins returns the origins of a list; "*" means every origin. public is the URL under
// which clients reach the server, or "".
func NewOrigins(list []string, public string) (*Origins, error) {
	o := &Origins{all: map[string]bool{}}
	if u, err := url.Parse(public); err == nil && u.Host != "" {
		o.own = originOf(u)
	}
	for _, raw := range list {
		if raw == "*" {
			o.any = true
			continue
		}
		u, err := url.Parse(raw)
		if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil ||
			strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("%q is not an origin: write https://app.example.org, or * for all", raw)
		}
		o.all[originOf(u)] = true
	}
	return o, nil
}

// originOf returns the origin of a URL as browsers write it: without the default port.
func originOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if u.Scheme == "http" {
		host = strings.TrimSuffix(host, ":80")
	} else if u.Scheme == "https" {
		host = strings.TrimSuffix(host, ":443")
	}
	return strings.ToLower(u.Scheme) + "://" + host
}

// Allow reports whether an origin may read answers.
func (o *Origins) Allow(origin string) bool { return origin != "" && (o.any || o.all[origin]) }

// allowFor reports whether the origin of a request may read the answer.
func (o *Origins) allowFor(r *http.Request) bool {
	origin := Origin(r)
	return o.Allow(origin) || o.BoxOnly != nil && isForBox(r.URL.Path) && o.BoxOnly.Allow(origin) && !o.Private()
}

// isForBox reports whether the search box, or DocSearch's client in its place, requests a path.
func isForBox(path string) bool {
	return path == "/box.js" || path == "/box/search" || strings.HasPrefix(path, "/1/indexes/")
}

// isEmpty reports whether no origin may read a path.
func (o *Origins) isEmpty(path string) bool {
	return !o.any && len(o.all) == 0 && (o.BoxOnly == nil || !isForBox(path) || o.BoxOnly.isEmpty(path))
}

// Origin returns the origin of the page that made the browser send a request, "" if none is named.
// Requests of elements, such as images, have no Origin but a Referer.
func Origin(r *http.Request) string {
	if origin := r.Header.Get("Origin"); origin != "" {
		return origin
	}
	if u, err := url.Parse(r.Header.Get("Referer")); err == nil && u.Host != "" {
		return originOf(u)
	}
	return ""
}

// isForeign reports whether a script or an element of another origin made a browser send the
// request. Following a link and sending a form do not count. Browsers without Sec-Fetch-Site, or
// over plain HTTP, send an Origin with the requests of scripts.
func (o *Origins) isForeign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return false
	case "cross-site", "same-site":
		return r.Header.Get("Sec-Fetch-Mode") != "navigate"
	}
	origin := r.Header.Get("Origin")
	if origin == "" || origin == o.own || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false // forms and tools check the origin of what is posted
	}
	u, err := url.Parse(origin)
	return err != nil || !strings.EqualFold(u.Host, r.Host)
}

// Check returns nil unless the request comes from a script or an element of an origin that may not
// read answers.
func (o *Origins) Check(r *http.Request) error {
	if !isPreflight(r) && !o.isForeign(r) || o.allowFor(r) {
		return nil
	}
	how := "To let its scripts read answers, start the server with --cors and its origin."
	if isForBox(r.URL.Path) {
		how = "To let it use the search box, add its origin to allow_origins in anatomy.toml, or start the server " +
			"with --cors and its origin. A collection that requires a login has no box."
	}
	return respond.NewProblem(http.StatusForbidden, "cross_origin", "Not allowed",
		"A page of another site sent this request. "+how)
}

// isPreflight reports whether r is a preflight request (CORS).
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// Open sets the headers that let an allowed origin read the answer. It reports whether the request
// is a preflight request, to which these headers are the answer.
func (o *Origins) Open(h http.Header, r *http.Request) (preflight bool) {
	if o.isEmpty(r.URL.Path) {
		return false
	}
	h.Add("Vary", "Origin")
	origin := Origin(r)
	if !o.allowFor(r) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "RateLimit, RateLimit-Policy, Retry-After")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	if !isPreflight(r) {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST")
	h.Set("Access-Control-Allow-Headers",
		"Authorization, Content-Type, X-API-Key, Last-Event-ID, Mcp-Protocol-Version, Mcp-Session-Id")
	h.Set("Access-Control-Max-Age", "600")
	return true
}
