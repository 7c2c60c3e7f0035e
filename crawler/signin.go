package crawler

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

	"golang.org/x/net/html"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"anatomy/vocab"
	"anatomy/weburl"
)

const (
	signInPause     = time.Minute // between two sign-ins to an origin
	maxSignIns      = 3           // that fail in a row; then the origin is given up
	maxSignInHops   = 5           // redirects of one sign-in, all within the origin
	maxSignInAnswer = 1 << 20     // bytes of an answer that are looked at
)

// A signIn is how to be let in by an origin: by its form or with a token of OAuth 2.
type signIn struct {
	page   string     // URL of the form
	fields url.Values // what is filled in
	shows  string     // text that only those see who are in; may be empty

	grant *clientcredentials.Config // instead (RFC 6749 §4.4)
}

// errSignIn is the error of a sign-in that was answered by no.
var errSignIn = errors.New("not let in")

// readSignIn reads what follows the kind on a line of the file:
//
//	form    /login user=ada&password=correct+horse  Sign out
//	oauth2  https://auth.example.org/token client-id client-secret scope …
func readSignIn(origin, kind, secret string) (s signIn, err error) {
	first, rest := word(secret)
	second, rest := word(rest)
	if kind == "form" {
		s.fields, err = url.ParseQuery(second)
		if err != nil || len(s.fields) == 0 || !strings.HasPrefix(first, "/") {
			return s, errors.New("form takes /PATH NAME=VALUE&NAME=VALUE, percent-encoded, and a text that only those see who are in")
		}
		s.page, s.shows = origin+first, rest
		return s, nil
	}
	key, scopes := word(rest)
	u, err := weburl.Parse(first)
	switch {
	case err != nil || strings.Contains(first, "@") || key == "":
		return s, errors.New("oauth2 takes the URL of the token, the client's id, its secret, and scopes")
	case u.Scheme() != "https" && strings.HasPrefix(origin, "https:"):
		return s, errors.New("the URL of the token is not https, though the origin is")
	}
	s.grant = &clientcredentials.Config{TokenURL: u.String(), ClientID: second, ClientSecret: key, Scopes: strings.Fields(scopes)}
	return s, nil
}

// A session is what an origin gave for a sign-in. What it holds is sent to that origin alone.
type session struct {
	c      *Crawler
	origin string
	by     signIn
	client *http.Client

	mu      sync.Mutex
	in      bool
	tried   time.Time
	failed  int    // sign-ins in a row
	token   string // of a grant
	expires time.Time
}

// sessions are those that the credentials ask for, by origin; nobody is signed in yet.
func (c *Crawler) sessionsOf(credentials *Credentials) map[string]*session {
	if credentials == nil || len(credentials.signIns) == 0 {
		return nil
	}
	transport := c.transport()
	sessions := map[string]*session{}
	for origin, by := range credentials.signIns {
		jar, _ := cookiejar.New(nil) // it has no error to give
		s := &session{c: c, origin: origin, by: by}
		s.client = &http.Client{Transport: counted{c, transport}, Jar: jar, Timeout: c.o.HeaderTimeout, CheckRedirect: s.stays}
		sessions[origin] = s
	}
	return sessions
}

// A counted transport counts requests and says who we are.
type counted struct {
	c    *Crawler
	next http.RoundTripper
}

func (t counted) RoundTrip(r *http.Request) (*http.Response, error) {
	t.c.count.requests.Add(1)
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", t.c.o.UserAgent)
	return t.next.RoundTrip(r)
}

// stays ends a sign-in that is led to another origin, before anything is sent there.
func (s *session) stays(r *http.Request, via []*http.Request) error {
	switch {
	case s.by.grant != nil:
		return http.ErrUseLastResponse
	case r.URL.Scheme+"://"+r.URL.Host != s.origin:
		return errors.New("led to another origin")
	case len(via) > maxSignInHops:
		return fmt.Errorf("more than %d redirects", maxSignInHops)
	}
	return nil
}

// fetch asks for one URL, signed in where its origin wants that. A page that shows that we are no
// longer in is asked for once more after another sign-in.
func (v *visit) fetch(ctx context.Context, u *weburl.URL, f *vocab.Fetch) {
	s := v.c.sessions[originOf(u)]
	if s == nil {
		v.request(ctx, u, f)
		return
	}
	if !v.enter(ctx, s, f) {
		return
	}
	v.request(ctx, u, f)
	if !s.turnedAway(f) {
		return
	}
	s.leave()
	*f = vocab.Fetch{Target: f.Target}
	if !v.enter(ctx, s, f) {
		return
	}
	if v.request(ctx, u, f); s.turnedAway(f) {
		*f = ended(vocab.Fetch{Target: f.Target, Status: f.Status}, vocab.Failed, "sign-in: the page is not shown to us all the same")
	}
}

// enter signs in where we are not, keeping the delay, and gives the target an outcome where that fails.
func (v *visit) enter(ctx context.Context, s *session, f *vocab.Fetch) bool {
	asked, err := s.open(ctx)
	if asked {
		v.last = v.c.o.Now()
	}
	switch {
	case err == nil:
		return !asked || v.pace(ctx)
	case ctx.Err() != nil:
		f.Outcome, f.Reason = vocab.Skipped, "interrupted"
	case s.hopeless():
		f.Outcome, f.Reason = vocab.Refused, "sign-in: "+err.Error()
	default:
		f.Outcome, f.Reason = vocab.Failed, "sign-in: "+err.Error()
	}
	return false
}

// turnedAway says whether an answer asks to sign in.
func (s *session) turnedAway(f *vocab.Fetch) bool {
	if f.Status == http.StatusUnauthorized {
		return true
	}
	place, _, _ := strings.Cut(f.Location, "?")
	return f.Outcome == vocab.Redirected && s.by.grant == nil && place == s.by.page && f.URL != s.by.page
}

func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.in = false
}

func (s *session) hopeless() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed >= maxSignIns
}

// open signs in unless we are in. It asks no more than once a minute, and not again after some
// failures in a row. asked says that it sent requests.
func (s *session) open(ctx context.Context) (asked bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.c.o.Now()
	switch {
	case s.in && (s.expires.IsZero() || now.Before(s.expires)):
		return false, nil
	case s.failed >= maxSignIns:
		return false, fmt.Errorf("given up after %d tries", s.failed)
	case !s.in && !s.tried.IsZero() && now.Sub(s.tried) < signInPause:
		return false, errors.New("tried less than a minute ago")
	}
	s.tried = now
	if s.by.grant != nil {
		err = s.fetchToken(ctx, now)
	} else {
		err = s.fillIn(ctx)
	}
	if s.in = err == nil; !s.in {
		s.failed++
		return true, err
	}
	s.failed = 0
	return true, nil
}

// fetchToken gets a token. The library's errors would show the answer, which may hold anything.
func (s *session) fetchToken(ctx context.Context, now time.Time) error {
	token, err := s.by.grant.Token(context.WithValue(ctx, oauth2.HTTPClient, s.client))
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused):
		return fmt.Errorf("%w: the token's server answered %s", errSignIn, statusReason(refused.Response.StatusCode))
	case err != nil:
		return errors.New("the token's server gave none: " + shortly(err))
	case !strings.EqualFold(token.Type(), "Bearer"):
		return errors.New("the token is none of bearer")
	}
	s.token, s.expires = token.AccessToken, time.Time{}
	if !token.Expiry.IsZero() {
		s.expires = now.Add(max(time.Until(token.Expiry)-10*time.Second, time.Second))
	}
	return nil
}

// fillIn fetches the form, fills it in with its hidden fields kept, sends it, and looks at the answer.
func (s *session) fillIn(ctx context.Context) error {
	page, at, err := s.ask(ctx, s.by.page, nil, "")
	if err != nil {
		return err
	}
	action, fields := formWith(page, s.by.fields)
	target, err := at.Parse(action)
	switch {
	case fields == nil:
		return errors.New("the page has no form with these fields")
	case err != nil || target.Scheme+"://"+target.Host != s.origin:
		return errors.New("the form leads to another origin")
	}
	answer, _, err := s.ask(ctx, target.String(), fields, at.String())
	if err != nil {
		return err
	}
	_, again := formWith(answer, s.by.fields)
	switch {
	case s.by.shows != "" && !bytes.Contains(answer, []byte(s.by.shows)):
		return fmt.Errorf("%w: what shows success is not on the page", errSignIn)
	case s.by.shows == "" && again != nil:
		return fmt.Errorf("%w: the form is shown again", errSignIn)
	}
	return nil
}

// ask sends a request of a sign-in, a form where there are fields.
func (s *session) ask(ctx context.Context, target string, fields url.Values, referer string) (page []byte, at *url.URL, err error) {
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if fields != nil {
		method, body = http.MethodPost, strings.NewReader(fields.Encode())
	}
	r, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, nil, errors.New("bad address of the form")
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
		return nil, nil, errors.New(shortly(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 400 {
		return nil, nil, fmt.Errorf("%w: %s", errSignIn, statusReason(resp.StatusCode))
	}
	page, err = io.ReadAll(io.LimitReader(resp.Body, maxSignInAnswer))
	return page, resp.Request.URL, err
}

// formWith finds the form that has an input for each of the fields, and fills it in: its hidden inputs
// keep their values. filled is nil where there is none.
func formWith(page []byte, fields url.Values) (action string, filled url.Values) {
	var known url.Values
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return "", nil
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			attrs := map[string]string{}
			for _, a := range t.Attr {
				attrs[a.Key] = a.Val
			}
			switch {
			case t.Data == "form":
				action, known = attrs["action"], url.Values{}
			case t.Data == "input" && known != nil && attrs["name"] != "":
				if attrs["type"] == "hidden" || fields.Has(attrs["name"]) {
					known.Set(attrs["name"], attrs["value"])
				}
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == "form" && hasAll(known, fields) {
				for name, values := range fields {
					known[name] = values
				}
				return action, known
			}
		}
	}
}

func hasAll(known, fields url.Values) bool {
	for name := range fields {
		if !known.Has(name) {
			return false
		}
	}
	return known != nil
}

// header is base with what the origin gave us: cookies or a token.
func (s *session) header(base http.Header, u *weburl.URL) http.Header {
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

// keep takes the cookies of an answer: servers change them as a visit goes on.
func (s *session) keep(u *weburl.URL, resp *http.Response) {
	if at, err := url.Parse(u.String()); err == nil && s.by.grant == nil {
		s.client.Jar.SetCookies(at, resp.Cookies())
	}
}

// String shows nothing of the session, nor do the other verbs of fmt.
func (s *session) String() string { return "session of " + s.origin }

// GoString is String.
func (s *session) GoString() string { return s.String() }
