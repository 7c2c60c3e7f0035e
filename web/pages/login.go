package pages

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/web/internal/frame"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/session"
	"anatomy/web/internal/visitor"
)

// loginPages ask for a token, on a server with private pages.
type loginPages struct {
	*frame.Frame
	sessions *session.Sessions
}

type loginView struct {
	Token  bool   // the server has one
	Next   string // path of the page that was asked for
	Failed string // why the last token was refused
}

// show shows the form.
func (s *loginPages) show(c *gin.Context) error { return s.ask(c, http.StatusOK, "") }

// ask shows the form with a status. The page depends on the address of the request alone.
func (s *loginPages) ask(c *gin.Context, status int, failed string) error {
	next := c.Request.URL.RequestURI()
	if path := c.Request.URL.Path; path == "/login" || c.Request.Method != http.MethodGet {
		next = "/"
	}
	v := s.View(c, "Log in", "")
	v.Visitor = &visitor.Visitor{}
	v.Body = &loginView{s.sessions.HasAnyToken(), next, failed}
	return s.Render(c, status, "login", v)
}

// logIn begins a session, and leads back to the page that was asked for.
func (s *loginPages) logIn(c *gin.Context) error {
	if err := s.sessions.LogIn(c, false); err != nil {
		p := (&respond.Responder{Log: s.Log}).Judge(c, err)
		if !respond.AsksAgain(c.Request, p) {
			return err
		}
		return s.ask(c, p.Status, p.Message)
	}
	next := c.PostForm("next")
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n") {
		next = "/"
	}
	s.Site.Redirect(c, http.StatusSeeOther, next)
	return nil
}
