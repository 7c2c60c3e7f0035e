package crawler

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"anatomy/vocab"
	"anatomy/weburl"
)

const (
	maxCookieHops  = 3       // redirects followed to set a cookie
	maxCookies     = 16      // of a visit
	maxCookieBytes = 4 << 10 // of a visit, names and values
)

// cookies are those of a host during one visit. They are sent only to that host, and discarded
// after the visit. The zero value has none.
type cookies struct {
	jar      *cookiejar.Jar
	n, bytes int
	refused  bool // following a redirect failed: no other is followed in this visit
}

// keep stores the cookies that an answer for u sets, within the bounds.
func (c *cookies) keep(u *weburl.URL, set []*http.Cookie) {
	from, err := url.Parse(u.String())
	if err != nil {
		return
	}
	if c.jar == nil {
		c.jar, _ = cookiejar.New(nil) // never fails without options
	}
	for _, k := range set {
		if c.n++; c.n > maxCookies || c.bytes+len(k.Name)+len(k.Value) > maxCookieBytes {
			return
		}
		c.bytes += len(k.Name) + len(k.Value)
		c.jar.SetCookies(from, []*http.Cookie{k})
	}
}

// header returns the Cookie field of a request for u, or "".
func (c *cookies) header(u *weburl.URL) string {
	if c.jar == nil {
		return ""
	}
	to, err := url.Parse(u.String())
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, k := range c.jar.Cookies(to) {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(k.Name + "=" + k.Value)
	}
	return b.String()
}

// asksForCookie reports whether a redirect may end once its cookie, or that of the next answer, is
// sent back: it leads to the same path and sets a cookie, as load balancers do, or to a URL of the
// same host with the path in its query, as consent walls do.
func asksForCookie(u, next *weburl.URL, set []*http.Cookie) bool {
	if next.Origin() != u.Origin() {
		return false
	}
	if next.Path() == u.Path() {
		return len(set) > 0
	}
	_, query, _ := strings.Cut(next.PathAndQuery(), "?")
	plain, err := url.QueryUnescape(query)
	return err == nil && len(u.Path()) > 1 && strings.Contains(plain, u.Path())
}

// followForCookie follows a redirect of u that may exist to set a cookie. If it leads back to u,
// and u is then not a redirect, f becomes that answer. If not, f stays the redirect, and no other
// is followed in this visit. robots.txt, delays and all bounds apply to each request.
func (v *fetcher) followForCookie(ctx context.Context, u *weburl.URL, f *vocab.Fetch) {
	at, step := *u, *f
	for hops := range maxCookieHops {
		next, err := weburl.Parse(step.Location)
		if err != nil || next.Origin() != u.Origin() {
			break
		}
		if hops == 0 && !asksForCookie(u, &next, v.set) {
			return
		}
		v.cookies.keep(&at, v.set)
		if !v.allowed(ctx, &next) || v.stop != "" || !v.wait(ctx) {
			break
		}
		isBack := next.String() == u.String()
		step = vocab.Fetch{Target: f.Target}
		if !isBack {
			step.Target = vocab.Target{URL: next.String(), Kind: f.Kind, Tries: f.Tries}
		}
		v.request(ctx, &next, &step)
		if step.Outcome != vocab.Redirected {
			if isBack {
				*f = step
				return
			}
			break
		}
		at = next
	}
	v.cookies = cookies{refused: true}
}
