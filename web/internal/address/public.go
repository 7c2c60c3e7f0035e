package address

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"anatomy/web/internal/respond"

	"github.com/gin-gonic/gin"
)

// A Site knows the address under which clients reach the server. Behind a proxy that is not the
// address at which the server listens: host, scheme, base path and client address differ.
//
// Inside the server all paths begin at the root. Forward removes the base path from requests; Path,
// Redirect and Rebase put it before links. A proxy may remove the base path itself, provided that it
// is not one of the server's own paths, such as /search.
type Site struct {
	public  string         // URL, without a slash at the end; "" if the requests' own is used
	path    string         // path below public of a collection beside others, "" or "/wiki"
	base    string         // path of public and path, "" or "/find/wiki"
	proxies []netip.Prefix // whose X-Forwarded-For, -Proto and -Host are trusted
}

// NewSite returns a site at a path, "" or "/wiki", below a public URL, see ParsePublicURL, or below "".
func NewSite(public, path string, proxies []netip.Prefix) (*Site, error) {
	s := &Site{public: strings.TrimRight(public, "/"), path: path, base: path, proxies: proxies}
	if public == "" {
		return s, nil
	}
	u, err := ParsePublicURL(public)
	if err == nil {
		s.base = strings.TrimRight(u.Path, "/") + path
	}
	return s, err
}

// ParsePublicURL parses the URL under which clients reach a server: scheme, host and a path of
// plain characters.
func ParsePublicURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, fmt.Errorf("%q has no scheme and host: write https://search.example.org", raw)
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, fmt.Errorf("%q has more than scheme, host and path", raw)
	case strings.Trim(u.Path, "/") != strings.Trim(u.EscapedPath(), "/"),
		strings.ContainsAny(u.Path, `"'<>;`), strings.Contains(u.Path, "//"):
		return nil, fmt.Errorf("%q has special characters in its path", raw)
	}
	return u, nil
}

// A route is how a request came through a trusted proxy.
type route struct {
	https bool
	from  string // client address
}

type routeKey struct{}

// routeOf returns the zero route for a request without a trusted proxy.
func routeOf(r *http.Request) route {
	via, _ := r.Context().Value(routeKey{}).(route)
	return via
}

// isHTTPS reports whether the client uses TLS, to the server or to a trusted proxy.
func isHTTPS(r *http.Request) bool { return r.TLS != nil || routeOf(r).https }

// Secure reports whether cookies for the client need TLS.
func (s *Site) Secure(r *http.Request) bool {
	return isHTTPS(r) || strings.HasPrefix(s.public, "https://")
}

// ClientAddr returns the address that a request comes from, without its port.
func ClientAddr(r *http.Request) string {
	if from := routeOf(r).from; from != "" {
		return from
	}
	if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return peer.Addr().Unmap().String()
	}
	return r.RemoteAddr
}

// Forward wraps a handler: requests reach it as if no proxy and no base path were in between.
// X-Forwarded-For, -Proto and -Host count only if they come from a trusted proxy.
func (s *Site) Forward(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.FromProxy(r) {
			r = s.forwarded(r)
		}
		if path, ok := strings.CutPrefix(r.URL.Path, s.base+"/"); ok && s.base != "" {
			r = withPath(r, "/"+path)
		} else if s.base != "" && r.URL.Path == s.base {
			r = withPath(r, "/")
		}
		next.ServeHTTP(w, r)
	})
}

func withPath(r *http.Request, path string) *http.Request {
	moved, address := *r, *r.URL
	address.Path, address.RawPath = path, ""
	moved.URL = &address
	return &moved
}

func (s *Site) isProxy(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(s.proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// FromProxy reports whether a request comes from a trusted proxy.
func (s *Site) FromProxy(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && s.isProxy(peer.Addr())
}

// forwarded applies the header fields of a trusted proxy. Each proxy appends the address that it
// saw to X-Forwarded-For, so the client is the last address that is no trusted proxy.
func (s *Site) forwarded(r *http.Request) *http.Request {
	via := route{https: strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		a, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		via.from = a.Unmap().String()
		if !s.isProxy(a) {
			break
		}
	}
	r = r.WithContext(context.WithValue(r.Context(), routeKey{}, via))
	if host := r.Header.Get("X-Forwarded-Host"); host != "" {
		r.Host = host
	}
	return r
}

// URL returns the public URL of the server, without a slash at the end. Without a configured one it
// is taken from the request, whose Host must be a plain host name.
func (s *Site) URL(r *http.Request) (string, error) {
	if s.public != "" {
		return s.public + s.path, nil
	}
	scheme := "http"
	if isHTTPS(r) {
		scheme = "https"
	}
	u, err := url.Parse(scheme + "://" + r.Host)
	if err != nil || u.Host == "" || u.Host != r.Host || strings.ContainsAny(r.Host, `{}<>&"' `) {
		return "", respond.BadParameter("The Host header is not a host name.")
	}
	return scheme + "://" + u.Host + s.path, nil
}

// Path returns the public path of one of the server's paths.
func (s *Site) Path(path string) string { return s.base + path }

// Redirect redirects to one of the server's paths.
func (s *Site) Redirect(c *gin.Context, code int, path string) { c.Redirect(code, s.Path(path)) }

// Rebase puts the base path before the links of a finished page, so that no template can forget it.
// Links to other collections, which have another path, are in single quotes and stay unchanged.
func (s *Site) Rebase(page []byte) []byte { return rebase(page, s.base) }

// RebaseFragment puts the path of the collection before the links of a part of a page. The part is
// for a page of all collections, to which Rebase then adds the base path.
func (s *Site) RebaseFragment(part []byte) []byte { return rebase(part, s.path) }

// rebase puts a path before the links of a page. The attributes of linking, followed by a quotation
// mark, occur in markup only: html/template escapes the mark in text.
func rebase(page []byte, base string) []byte {
	if base == "" {
		return page
	}
	rebased := make([]byte, 0, len(page)+len(page)/8)
	for {
		at := bytes.Index(page, []byte(`="/`))
		if at < 0 {
			return append(rebased, page...)
		}
		name := page[:at]
		name = name[bytes.LastIndexAny(name, " \n")+1:]
		at += len(`="`)
		rebased = append(rebased, page[:at]...)
		if linking[string(name)] && !bytes.HasPrefix(page[at:], []byte("//")) {
			rebased = append(rebased, base...)
		}
		page = page[at:]
	}
}

// linking are the attributes whose value is an address.
var linking = map[string]bool{
	"href": true, "src": true, "action": true, "formaction": true, "poster": true, "data": true,
}

// SameOrigin returns the test of forms: whether a request comes from one of the server's own pages.
func (s *Site) SameOrigin(log *slog.Logger) *http.CrossOriginProtection {
	protection := http.NewCrossOriginProtection()
	if u, err := url.Parse(s.public); err == nil && u.Host != "" {
		if err := protection.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			log.Warn("the public URL cannot be used", "error", err)
		}
	}
	return protection
}
