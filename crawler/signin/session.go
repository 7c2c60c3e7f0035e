package signin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"anatomy/crawler/internal/reason"
	"anatomy/weburl"
)

const (
	pause     = time.Minute // least time between two sign-ins to an origin
	maxFailed = 3           // failed sign-ins in a row, then the origin is given up
	maxHops   = 5           // redirects of one sign-in, all within the origin
	maxAnswer = 1 << 20     // bytes of an answer that are read
)

// errRefused is the error of a sign-in that the server answered and refused.
var errRefused = errors.New("sign-in refused")

// Options of sessions.
type Options struct {
	Transport http.RoundTripper // sends the requests of sign-ins
	Timeout   time.Duration     // of one request
	Now       func() time.Time
}

// A Session is the state of the sign-in to one origin. Its cookies and tokens are sent only to that
// origin. It is safe for concurrent use; only one goroutine signs in at a time.
type Session struct {
	origin string
	method method
	now    func() time.Time
	client *http.Client // its cookie jar is that of the origin

	mu       sync.Mutex
	signedIn bool
	tried    time.Time // last sign-in
	failed   int       // sign-ins in a row
	token    string    // of OAuth 2
	expires  time.Time // of the token; zero if it does not
}

// Sessions returns a session for each origin with a form or OAuth 2, not signed in.
func (c *Credentials) Sessions(o Options) map[string]*Session {
	sessions := map[string]*Session{}
	if c == nil {
		return sessions
	}
	for origin, m := range c.methods {
		jar, _ := cookiejar.New(nil) // never fails without options
		s := &Session{origin: origin, method: m, now: o.Now}
		s.client = &http.Client{
			Transport: o.Transport, Jar: jar, Timeout: o.Timeout, CheckRedirect: s.checkRedirect,
		}
		sessions[origin] = s
	}
	return sessions
}

// checkRedirect ends a sign-in that is redirected to another origin, before anything is sent there.
func (s *Session) checkRedirect(r *http.Request, via []*http.Request) error {
	switch {
	case s.method.grant != nil:
		return http.ErrUseLastResponse
	case r.URL.Scheme+"://"+r.URL.Host != s.origin:
		return errors.New("redirected to another origin")
	case len(via) > maxHops:
		return fmt.Errorf("more than %d redirects", maxHops)
	}
	return nil
}

// Open signs in unless already signed in: at most once a minute, and not again after several
// failures in a row. sent reports whether it sent requests.
func (s *Session) Open(ctx context.Context) (sent bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	switch {
	case s.signedIn && (s.expires.IsZero() || now.Before(s.expires)):
		return false, nil
	case s.failed >= maxFailed:
		return false, fmt.Errorf("given up after %d tries", s.failed)
	case !s.signedIn && !s.tried.IsZero() && now.Sub(s.tried) < pause:
		return false, errors.New("tried less than a minute ago")
	}
	s.tried = now
	if s.method.grant != nil {
		err = s.requestToken(ctx, now)
	} else {
		err = s.sendForm(ctx)
	}
	if s.signedIn = err == nil; !s.signedIn {
		s.failed++
		return true, err
	}
	s.failed = 0
	return true, nil
}

// End ends the session, so that the next Open signs in again.
func (s *Session) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signedIn = false
}

// GivenUp reports whether no further sign-in is attempted.
func (s *Session) GivenUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed >= maxFailed
}

// NeedsSignIn reports whether the answer to a request for url requires a sign-in: by its status, or
// by a redirect to the form.
func (s *Session) NeedsSignIn(url string, status int, location string) bool {
	page, _, _ := strings.Cut(location, "?")
	return status == http.StatusUnauthorized ||
		s.method.grant == nil && page == s.method.page && url != s.method.page
}

// requestToken gets a token. Errors of the library are not passed on, since they quote the answer.
func (s *Session) requestToken(ctx context.Context, now time.Time) error {
	token, err := s.method.grant.Token(context.WithValue(ctx, oauth2.HTTPClient, s.client))
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused):
		status := reason.Status(refused.Response.StatusCode)
		return fmt.Errorf("%w: the token's server answered %s", errRefused, status)
	case err != nil:
		return errors.New("the token's server sent no token: " + reason.Of(err))
	case !strings.EqualFold(token.Type(), "Bearer"):
		return errors.New("the token is not a bearer token")
	}
	s.token, s.expires = token.AccessToken, time.Time{}
	if !token.Expiry.IsZero() {
		s.expires = now.Add(max(time.Until(token.Expiry)-10*time.Second, time.Second))
	}
	return nil
}

// sendForm fetches the page with the form, sends the form filled in, and checks the answer.
func (s *Session) sendForm(ctx context.Context) error {
	page, at, err := s.do(ctx, s.method.page, nil, "")
	if err != nil {
		return err
	}
	action, fields := fillForm(page, s.method.fields)
	target, err := at.Parse(action)
	switch {
	case fields == nil:
		return errors.New("the page has no form with these fields")
	case err != nil || target.Scheme+"://"+target.Host != s.origin:
		return errors.New("the form leads to another origin")
	}
	answer, _, err := s.do(ctx, target.String(), fields, at.String())
	if err != nil {
		return err
	}
	_, again := fillForm(answer, s.method.fields)
	switch {
	case s.method.shows != "" && !bytes.Contains(answer, []byte(s.method.shows)):
		return fmt.Errorf("%w: the text that shows success is not on the page", errRefused)
	case s.method.shows == "" && again != nil:
		return fmt.Errorf("%w: the form is shown again", errRefused)
	}
	return nil
}

// do sends a request of a sign-in, with a form if there are fields, and returns the answer and its
// URL.
func (s *Session) do(
	ctx context.Context, target string, fields url.Values, referer string,
) (page []byte, at *url.URL, err error) {
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if fields != nil {
		method, body = http.MethodPost, strings.NewReader(fields.Encode())
	}
	r, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, nil, errors.New("the form has an invalid URL")
	}
	if fields != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", s.origin)
		r.Header.Set("Referer", referer)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err
		}
		return nil, nil, errors.New(reason.Of(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 400 {
		return nil, nil, fmt.Errorf("%w: %s", errRefused, reason.Status(resp.StatusCode))
	}
	page, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return page, resp.Request.URL, err
}

// Header returns base with the session's cookies or token for a request of u.
func (s *Session) Header(base http.Header, u *weburl.URL) http.Header {
	h := base.Clone()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != "" {
		h.Set("Authorization", "Bearer "+s.token)
		return h
	}
	at, err := url.Parse(u.String())
	if err != nil {
		return base
	}
	fields := h.Values("Cookie")
	for _, c := range s.client.Jar.Cookies(at) {
		fields = append(fields, c.Name+"="+c.Value)
	}
	if len(fields) > 0 {
		h.Set("Cookie", strings.Join(fields, "; "))
	}
	return h
}

// Keep stores the cookies of an answer, which servers change during a visit.
func (s *Session) Keep(u *weburl.URL, resp *http.Response) {
	if at, err := url.Parse(u.String()); err == nil && s.method.grant == nil {
		s.client.Jar.SetCookies(at, resp.Cookies())
	}
}

// String shows nothing secret, and neither does any other formatting.
func (s *Session) String() string { return "session of " + s.origin }

// GoString is String.
func (s *Session) GoString() string { return s.String() }

// Close closes idle connections.
func (s *Session) Close() { s.client.CloseIdleConnections() }
