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

// MinToken is the minimum length of a token in bytes.
const MinToken = 16

// sessions decide who may act. Whoever knows the token logs in with it and gets a cookie: the end of
// the session, and a hash of it keyed by the token. The server stores no session, and the cookie
// does not reveal the token. Browsers send the cookie only with requests that begin on the server's
// own pages (SameSite). A form must also send back the value that its page held, a keyed hash of the
// cookie.
type sessions struct {
	token      string // "": nobody may act
	site       *address.Site
	sameOrigin *http.CrossOriginProtection
	now        func() time.Time
	attempts   *access.Attempts
	audit      *audit
}

// sign returns a hash keyed by the token.
func (s *sessions) sign(what, text string) string {
	mac := hmac.New(sha256.New, []byte(s.token))
	fmt.Fprintf(mac, "%s %s", what, text)
	return hex.EncodeToString(mac.Sum(nil))
}

// isToken compares in a time that does not depend on the texts or their lengths.
func (s *sessions) isToken(given string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.token))
	return s.token != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// form reports whether a request has a valid session, and returns the value that its forms must send.
func (s *sessions) form(r *http.Request) (value string, ok bool) {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil || s.token == "" {
		return "", false
	}
	end, mac, _ := strings.Cut(cookie.Value, ".")
	if !hmac.Equal([]byte(mac), []byte(s.sign("session", end))) {
		return "", false
	}
	until, err := strconv.ParseInt(end, 10, 64)
	if err != nil || !s.now().Before(time.Unix(until, 0)) {
		return "", false
	}
	return s.sign("form", cookie.Value), true
}

// try looks at a token that a request sent, and records a wrong one.
func (s *sessions) try(r *http.Request, given string) error {
	err := s.attempts.Try(access.ClientOf(r.Context()), func() bool { return s.isToken(given) })
	if err != nil {
		s.audit.record(r, "login", err)
	}
	return err
}

// isActor reports whether a request comes from someone who may act.
func (s *sessions) isActor(r *http.Request) bool {
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return s.try(r, given) == nil
	}
	_, ok := s.form(r)
	return ok
}

// permit returns nil if a request may act: it has the token, or a session and the value of a form.
func (s *sessions) permit(r *http.Request) error {
	if s.token == "" {
		return respond.Forbidden("No token is set. Start the server with --token FILE, or use the command line: anatomy crawl pause, resume, add, remove.")
	}
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return s.try(r, given)
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

// login begins a session if the form has the token.
func (s *sessions) login(c *gin.Context) error {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, MaxForm)
	switch {
	case s.sameOrigin.Check(c.Request) != nil:
		return respond.Forbidden("Another site sent this request.")
	case s.token == "":
		return s.permit(c.Request)
	}
	if err := s.try(c.Request, strings.TrimSpace(c.PostForm("token"))); err != nil {
		return err
	}
	s.audit.record(c.Request, "login", nil)
	end := strconv.FormatInt(s.now().Add(sessionLength).Unix(), 10)
	s.setCookie(c, end+"."+s.sign("session", end), int(sessionLength.Seconds()))
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
