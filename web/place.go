package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// Where people reach us, which is not where we listen when a proxy stands before us: under which
// host, by which scheme, below which path, and from which address.
//
// The path is that of Options.PublicURL. Inside, all paths begin at the root: arrive takes the path
// off what comes in, and page, redirect and path put it before what goes out. A proxy may take it
// off itself, but then it must not be one of ours, /search say, for then nobody can tell the two.

// A place is how a request reached us, where it came through a proxy that is trusted.
type place struct {
	https bool
	from  string // address of the asker
}

type placeKey struct{}

// placeOf is the zero place where a request came straight to us.
func placeOf(r *http.Request) place {
	p, _ := r.Context().Value(placeKey{}).(place)
	return p
}

// isHTTPS says whether the asker speaks TLS, with us or with a proxy.
func isHTTPS(r *http.Request) bool { return r.TLS != nil || placeOf(r).https }

// asker is the address a request comes from, without its port.
func asker(r *http.Request) string {
	if from := placeOf(r).from; from != "" {
		return from
	}
	if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return peer.Addr().Unmap().String()
	}
	return r.RemoteAddr
}

// arrive makes of a request what it would be without the proxy in between. X-Forwarded-For, -Proto
// and -Host count from trusted proxies alone: everybody else may write what they like there.
func (s *Server) arrive(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.trusts(r.RemoteAddr) {
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

// trusts says whether the other end of a connection is a proxy of ours.
func (s *Server) trusts(remote string) bool {
	peer, err := netip.ParseAddrPort(remote)
	return err == nil && s.isProxy(peer.Addr())
}

func (s *Server) isProxy(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(s.o.Proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// forwarded believes a proxy. Of the addresses in X-Forwarded-For, to which each proxy adds the one
// it saw, the last that is no proxy of ours is the asker; what stands before it is hearsay.
func (s *Server) forwarded(r *http.Request) *http.Request {
	p := place{https: strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		a, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		p.from = a.Unmap().String()
		if !s.isProxy(a) {
			break
		}
	}
	r = r.WithContext(context.WithValue(r.Context(), placeKey{}, p))
	if host := r.Header.Get("X-Forwarded-Host"); host != "" {
		r.Host = host
	}
	return r
}

// publicURL is where people reach us, without a slash at the end. Without Options.PublicURL it is
// what the request says, if that is a plain host.
func (s *Server) publicURL(r *http.Request) (string, error) {
	if s.o.PublicURL != "" {
		return strings.TrimRight(s.o.PublicURL, "/"), nil
	}
	scheme := "http"
	if isHTTPS(r) {
		scheme = "https"
	}
	u, err := url.Parse(scheme + "://" + r.Host)
	if err != nil || u.Host == "" || u.Host != r.Host || strings.ContainsAny(r.Host, `{}<>&"' `) {
		return "", badParameter("The Host header is not the name of a host.")
	}
	return scheme + "://" + u.Host, nil
}

// ParsePublicURL says what is wrong with a value of Options.PublicURL.
func ParsePublicURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, fmt.Errorf("%q has no scheme and host: https://search.example.org", raw)
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, fmt.Errorf("%q has more than scheme, host and path", raw)
	case strings.Trim(u.Path, "/") != strings.Trim(u.EscapedPath(), "/") || strings.ContainsAny(u.Path, `"'<>;`) || strings.Contains(u.Path, "//"):
		return nil, fmt.Errorf("%q has a path of other than plain characters", raw)
	}
	return u, nil
}

// path is the address of one of our paths on this server as the asker sees it.
func (s *Server) path(path string) string { return s.base + path }

// redirect sends the asker to one of our paths.
func (s *Server) redirect(c *gin.Context, code int, path string) { c.Redirect(code, s.path(path)) }

// placed puts the base path before the links of a page. That is done here, as the page goes out, so
// that no template can forget it. Only markup holds these attributes followed by a quotation mark:
// html/template escapes the mark wherever text stands.
func (s *Server) placed(page []byte) []byte {
	if s.base == "" {
		return page
	}
	placed := make([]byte, 0, len(page)+len(page)/8)
	for {
		at := bytes.Index(page, []byte(`="/`))
		if at < 0 {
			return append(placed, page...)
		}
		name := page[:at]
		name = name[bytes.LastIndexAny(name, " \n")+1:]
		at += len(`="`)
		placed = append(placed, page[:at]...)
		if linking[string(name)] && !bytes.HasPrefix(page[at:], []byte("//")) {
			placed = append(placed, s.base...)
		}
		page = page[at:]
	}
}

// linking are the attributes that hold an address.
var linking = set("href src action formaction poster data")
