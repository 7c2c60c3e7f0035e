package pages

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
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

// What the audit calls a login, and the use of a wrong API key.
const (
	login     = "login"
	readLogin = "login to read"
	keyUse    = "use of a key"
)

// MinToken is the minimum length of a token in bytes.
const MinToken = 16

// sessions decide who may act and who may read private pages. Whoever knows a token logs in with it
// and gets a cookie: the end of the session, and a hash of it keyed by the token. The server stores
// no session, and the cookie does not reveal the token. Browsers send the cookie only with requests
// that begin on the server's own pages (SameSite). A form must also send back the value that its
// page held, a keyed hash of the cookie.
type sessions struct {
	token      string // to act and to read; "": nobody may act
	readToken  string // to read alone; "": there is none
	site       *address.Site
	sameOrigin *http.CrossOriginProtection
	now        func() time.Time
	attempts   *access.Attempts
	audit      *audit
}

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

// form reports whether a request has a session that may act, and returns the value that its forms
// must send.
func (s *sessions) form(r *http.Request) (value string, ok bool) {
	if !s.isOpen(r, s.token) {
		return "", false
	}
	cookie, _ := r.Cookie(sessionCookie) // the session is open, so there is one
	return sign(s.token, "form", cookie.Value), true
}

// isOpen reports whether a request has a session that a token opened.
func (s *sessions) isOpen(r *http.Request, token string) bool {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil || token == "" {
		return false
	}
	end, mac, _ := strings.Cut(cookie.Value, ".")
	if !hmac.Equal([]byte(mac), []byte(sign(token, "session", end))) {
		return false
	}
	until, err := strconv.ParseInt(end, 10, 64)
	return err == nil && s.now().Before(time.Unix(until, 0))
}

// try looks at a token that a request sent, and records a wrong one. The token for reading is wrong
// where toAct is set.
func (s *sessions) try(r *http.Request, given string, toAct bool) error {
	err := s.attempts.Try(access.ClientOf(r.Context()), func() bool {
		return isToken(given, s.token) || isToken(given, s.readToken)
	})
	if err == nil && toAct && !isToken(given, s.token) {
		err = respond.Forbidden("This token is for reading pages alone. To act, use the token of --token.")
	}
	if err != nil {
		s.audit.record(r, login, err)
	}
	return err
}

// isActor reports whether a request comes from someone who may act.
func (s *sessions) isActor(r *http.Request) bool {
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return s.try(r, given, false) == nil && isToken(given, s.token)
	}
	_, ok := s.form(r)
	return ok
}

// mayRead reports whether a request comes from someone who may read private pages.
func (s *sessions) mayRead(r *http.Request) bool {
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return s.try(r, given, false) == nil
	}
	return s.isOpen(r, s.token) || s.isOpen(r, s.readToken)
}

// permit returns nil if a request may act: it has the token, or a session and the value of a form.
func (s *sessions) permit(r *http.Request) error {
	if s.token == "" {
		return respond.Forbidden("No token is set. Start the server with --token FILE, or use the command line: anatomy crawl pause, resume, add, remove.")
	}
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return s.try(r, given, true)
	}
	if err := s.sameOrigin.Check(r); err != nil {
		return respond.Forbidden("Another site sent this request.")
	}
	value, ok := s.form(r)
	if !ok {
		return respond.NewProblem(http.StatusUnauthorized, "not_logged_in", "Not logged in", "Log in first, at /crawl.")
	}
	if !hmac.Equal([]byte(value), []byte(r.PostFormValue("form"))) {
		return respond.Forbidden("The form is out of date. Open the page again.")
	}
	return nil
}

// login begins a session if the form has a token, for acting if toAct is set.
func (s *sessions) login(c *gin.Context, toAct bool) error {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, MaxForm)
	switch {
	case s.sameOrigin.Check(c.Request) != nil:
		return respond.Forbidden("Another site sent this request.")
	case s.token == "" && (toAct || s.readToken == ""):
		return s.permit(c.Request)
	}
	given := strings.TrimSpace(c.PostForm("token"))
	if err := s.try(c.Request, given, toAct); err != nil {
		return err
	}
	token, what := s.token, login
	if !isToken(given, s.token) {
		token, what = s.readToken, readLogin
	}
	s.audit.record(c.Request, what, nil)
	end := strconv.FormatInt(s.now().Add(sessionLength).Unix(), 10)
	s.setCookie(c, end+"."+sign(token, "session", end), int(sessionLength.Seconds()))
	return nil
}

// logout ends the session.
func (s *sessions) logout(c *gin.Context) error {
	if s.sameOrigin.Check(c.Request) != nil {
		return respond.Forbidden("Another site sent this request.")
	}
	s.setCookie(c, "", -1)
	return nil
}

func (s *sessions) setCookie(c *gin.Context, value string, seconds int) {
	http.SetCookie(c.Writer, &http.Cookie{
		Name: sessionCookie, Value: value, Path: s.site.Path("/"), MaxAge: seconds,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.site.Secure(c.Request),
	})
}
