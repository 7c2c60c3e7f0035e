package web

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
)

// Who may act. Whoever knows the token of Options logs in with it, once, and gets a cookie: when it
// ends, and a keyed hash of that. The server keeps nothing, and the cookie says nothing of the token.
// Browsers send it along with requests that begin on our own pages alone (SameSite), and a form must
// besides send back what its page held, a keyed hash of the cookie.

const (
	sessionCookie = "anatomy_session"
	sessionLength = 12 * time.Hour
)

// MinToken is the least length of a token, in bytes: as nothing counts wrong guesses, none may be
// likely.
const MinToken = 16

// sign is a hash keyed by the token.
func (s *Server) sign(what, text string) string {
	mac := hmac.New(sha256.New, []byte(s.o.Token))
	fmt.Fprintf(mac, "%s %s", what, text)
	return hex.EncodeToString(mac.Sum(nil))
}

// isToken compares in a time that does not depend on where the texts differ, or on their lengths.
func (s *Server) isToken(given string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.o.Token))
	return s.o.Token != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// session says whether a request comes from someone who logged in, and what a form must send back.
func (s *Server) session(r *http.Request) (form string, ok bool) {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil || s.o.Token == "" {
		return "", false
	}
	end, mac, _ := strings.Cut(cookie.Value, ".")
	if !hmac.Equal([]byte(mac), []byte(s.sign("session", end))) {
		return "", false
	}
	until, err := strconv.ParseInt(end, 10, 64)
	if err != nil || !s.o.Now().Before(time.Unix(until, 0)) {
		return "", false
	}
	return s.sign("form", cookie.Value), true
}

// permit says whether a request may act.
func (s *Server) permit(r *http.Request) error {
	if s.o.Token == "" {
		return forbidden("No token is set. Begin the server with --token FILE, or use the command line: anatomy crawl pause, resume, add, remove.")
	}
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		if !s.isToken(given) {
			return &problem{http.StatusUnauthorized, "wrong_token", "Wrong token", "The token is not the one of this server."}
		}
		return nil
	}
	if err := s.sameOrigin.Check(r); err != nil {
		return forbidden("Another site sent this request.")
	}
	form, ok := s.session(r)
	if !ok {
		return &problem{http.StatusUnauthorized, "not_logged_in", "Not logged in", "Log in first, on the page /crawl or /dashboard."}
	}
	if !hmac.Equal([]byte(form), []byte(r.PostFormValue("form"))) {
		return forbidden("The form is out of date. Open the page again.")
	}
	return nil
}

func forbidden(message string) *problem {
	return &problem{http.StatusForbidden, "forbidden", "Not allowed", message}
}

func (s *Server) login(c *gin.Context, at board) error {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	switch {
	case s.sameOrigin.Check(c.Request) != nil:
		return forbidden("Another site sent this request.")
	case s.o.Token == "":
		return s.permit(c.Request)
	case !s.isToken(strings.TrimSpace(c.PostForm("token"))):
		return at.show(c, http.StatusUnauthorized, []string{"That is not the token of this server."}, true)
	}
	end := strconv.FormatInt(s.o.Now().Add(sessionLength).Unix(), 10)
	s.setSession(c, end+"."+s.sign("session", end), int(sessionLength.Seconds()))
	s.redirect(c, http.StatusSeeOther, at.path)
	return nil
}

func (s *Server) logout(c *gin.Context, at board) error {
	if s.sameOrigin.Check(c.Request) != nil {
		return forbidden("Another site sent this request.")
	}
	s.setSession(c, "", -1)
	s.redirect(c, http.StatusSeeOther, at.path)
	return nil
}

func (s *Server) setSession(c *gin.Context, value string, seconds int) {
	http.SetCookie(c.Writer, &http.Cookie{
		Name: sessionCookie, Value: value, Path: s.path("/"), MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: isHTTPS(c.Request) || strings.HasPrefix(s.o.PublicURL, "https://"),
	})
}
