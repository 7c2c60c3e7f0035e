// Package session decides who is logged in to a server, and records logins and actions.
package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/web/internal/access"
	"anatomy/web/internal/address"
	"anatomy/web/internal/respond"
)

const (
	sessionCookie = "anatomy_session"
	sessionLength = 12 * time.Hour
)

// MaxForm bounds a posted form, in bytes.
const MaxForm = 256 << 10

// MinToken is the minimum length of a token in bytes.
const MinToken = 16

// Sessions decide who may act and who may read private pages. Whoever knows a token logs in with it
// and gets a cookie: the end of the session, and a hash of it keyed by the token. The server stores
// no session, and the cookie does not reveal the token. Browsers send the cookie only with requests
// that begin on the server's own pages (SameSite). A form must also send back the value that its
// page contained, a keyed hash of the cookie.
type Sessions struct {
	o          Options
	sameOrigin *http.CrossOriginProtection
	attempts   *access.Attempts
	audit      *audit
}

// Options configure Sessions.
type Options struct {
	Token     string // to act and to read; "": nobody may act
	ReadToken string // to read alone; "": there is none
	Site      *address.Site
	Now       func() time.Time
	Log       *slog.Logger // of requests that are refused
	Audit     *slog.Logger // a line for each login and action
	Keep      func(Action) // default nil: nothing keeps them
}

// New returns sessions. None is open.
func New(o Options) *Sessions {
	return &Sessions{
		o, o.Site.SameOrigin(o.Log), access.NewAttempts(o.Now),
		&audit{log: o.Audit, keep: o.Keep, tokens: refusals{now: o.Now}, keys: refusals{now: o.Now}},
	}
}

// HasToken reports whether there is a token to act.
func (s *Sessions) HasToken() bool { return s.o.Token != "" }

// HasAnyToken reports whether there is a token to act or to read.
func (s *Sessions) HasAnyToken() bool { return s.o.Token != "" || s.o.ReadToken != "" }

// RecordAction records an action of the admin page; err is nil if it succeeded.
func (s *Sessions) RecordAction(r *http.Request, what string, err error) {
	s.audit.record(r, what, err)
}

// RecordKey records that a request came with a wrong API key.
func (s *Sessions) RecordKey(r *http.Request, err error) { s.audit.record(r, keyUse, err) }

// sign returns a hash keyed by a token.
func sign(token, what, text string) string {
	mac := hmac.New(sha256.New, []byte(token))
	fmt.Fprintf(mac, "%s %s", what, text)
	return hex.EncodeToString(mac.Sum(nil))
}

// isToken compares in a time that does not depend on the texts or their lengths. No text is the
// empty token.
func isToken(given, token string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(token))
	return token != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// Form reports whether a request has a session that may act, and returns the value that its forms
// must send.
func (s *Sessions) Form(r *http.Request) (value string, ok bool) {
	if !s.isOpen(r, s.o.Token) {
		return "", false
	}
	cookie, _ := r.Cookie(sessionCookie) // the session is open, so there is one
	return sign(s.o.Token, "form", cookie.Value), true
}

// isOpen reports whether a request has a session that a token opened.
func (s *Sessions) isOpen(r *http.Request, token string) bool {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil || token == "" {
		return false
	}
	end, mac, _ := strings.Cut(cookie.Value, ".")
	if !hmac.Equal([]byte(mac), []byte(sign(token, "session", end))) {
		return false
	}
	until, err := strconv.ParseInt(end, 10, 64)
	return err == nil && s.o.Now().Before(time.Unix(until, 0))
}

// try checks a token that a request sent, and records a wrong one. The token for reading is wrong if
// toAct is set.
func (s *Sessions) try(r *http.Request, given string, toAct bool) error {
	err := s.attempts.Try(access.ClientOf(r.Context()), func() bool {
		return isToken(given, s.o.Token) || isToken(given, s.o.ReadToken)
	})
	if err == nil && toAct && !isToken(given, s.o.Token) {
		err = respond.Forbidden("This token is for reading pages alone. To act, use the token of --token.")
	}
	if err != nil {
		s.audit.record(r, login, err)
	}
	return err
}

// IsActor reports whether a request comes from someone who may act.
func (s *Sessions) IsActor(r *http.Request) bool {
	if given, ok := respond.BearerToken(r); ok {
		return s.try(r, given, false) == nil && isToken(given, s.o.Token)
	}
	_, ok := s.Form(r)
	return ok
}

// ErrNoLogin is the error of a request to read private pages that has neither a token nor a session.
var ErrNoLogin = errors.New("not logged in")

// PermitRead returns nil if a request comes from someone who may read private pages.
func (s *Sessions) PermitRead(r *http.Request) error {
	if given, ok := respond.BearerToken(r); ok {
		return s.try(r, given, false)
	}
	if s.isOpen(r, s.o.Token) || s.isOpen(r, s.o.ReadToken) {
		return nil
	}
	return ErrNoLogin
}

// Permit returns nil if a request may act: it has the token, or a session and the value of a form.
func (s *Sessions) Permit(r *http.Request) error {
	if s.o.Token == "" {
		return respond.Forbidden("No token is set. Start the server with --token FILE, or use the command line: anatomy crawl pause, resume, add, remove.")
	}
	if given, ok := respond.BearerToken(r); ok {
		return s.try(r, given, true)
	}
	if err := s.sameOrigin.Check(r); err != nil {
		return respond.Forbidden("Another site sent this request.")
	}
	value, ok := s.Form(r)
	if !ok {
		return respond.NewProblem(http.StatusUnauthorized, "not_logged_in", "Not logged in", "Log in first, at /crawl.")
	}
	if !hmac.Equal([]byte(value), []byte(r.PostFormValue("form"))) {
		return respond.Forbidden("The form is out of date. Open the page again.")
	}
	return nil
}

// LogIn begins a session if the form has a token, for acting if toAct is set.
func (s *Sessions) LogIn(c *gin.Context, toAct bool) error {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, MaxForm)
	switch {
	case s.sameOrigin.Check(c.Request) != nil:
		return respond.Forbidden("Another site sent this request.")
	case s.o.Token == "" && (toAct || s.o.ReadToken == ""):
		return s.Permit(c.Request)
	}
	given := strings.TrimSpace(c.PostForm("token"))
	if err := s.try(c.Request, given, toAct); err != nil {
		return err
	}
	token, what := s.o.Token, login
	if !isToken(given, s.o.Token) {
		token, what = s.o.ReadToken, readLogin
	}
	s.audit.record(c.Request, what, nil)
	end := strconv.FormatInt(s.o.Now().Add(sessionLength).Unix(), 10)
	s.setCookie(c, end+"."+sign(token, "session", end), int(sessionLength.Seconds()))
	return nil
}

// LogOut ends the session.
func (s *Sessions) LogOut(c *gin.Context) error {
	if s.sameOrigin.Check(c.Request) != nil {
		return respond.Forbidden("Another site sent this request.")
	}
	s.setCookie(c, "", -1)
	return nil
}

func (s *Sessions) setCookie(c *gin.Context, value string, seconds int) {
	http.SetCookie(c.Writer, &http.Cookie{
		Name: sessionCookie, Value: value, Path: s.o.Site.Path("/"), MaxAge: seconds,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.o.Site.Secure(c.Request),
	})
}
