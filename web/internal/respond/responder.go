package respond

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// A Responder writes JSON and logs what failed on the server's side.
type Responder struct{ Log *slog.Logger }

// Judge converts an error to a problem, logs it if the server is to blame, and sets Retry-After
// where a retry helps.
func (r *Responder) Judge(c *gin.Context, err error) *Problem {
	p := Of(err)
	RetryAfter(c, err)
	if p.Status >= http.StatusInternalServerError {
		r.Log.Error("request failed", "path", c.Request.URL.Path, "err", err)
	}
	again := p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests
	if again && c.Writer.Header().Get("Retry-After") == "" {
		c.Header("Retry-After", "1")
	}
	return p
}

// RetryAfter sets Retry-After if an error says when a retry helps.
func RetryAfter(c *gin.Context, err error) {
	var early interface{ Seconds() string }
	if errors.As(err, &early) {
		c.Header("Retry-After", early.Seconds())
	}
}

// Handler returns a handler that writes h's answer as JSON, or {"error":{"code","message"}}.
func (r *Responder) Handler(h func(*gin.Context) (any, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		answer, err := h(c)
		if err != nil {
			r.Problem(c, r.Judge(c, err))
			return
		}
		r.JSON(c, http.StatusOK, answer)
	}
}

// Problem writes a problem as JSON.
func (r *Responder) Problem(c *gin.Context, p *Problem) { r.JSON(c, p.Status, ErrorOf(p)) }

// JSON writes a value as one line of JSON.
func (r *Responder) JSON(c *gin.Context, status int, value any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // nosniff: no browser reads it as HTML, and addresses stay readable
	if err := e.Encode(value); err != nil {
		r.Log.Error("encoding the answer failed", "path", c.Request.URL.Path, "err", err)
		status = http.StatusInternalServerError
		b.Reset()
		b.WriteString(`{"error":{"code":"internal","message":"The answer could not be encoded."}}` + "\n")
	}
	c.Data(status, "application/json; charset=utf-8", b.Bytes())
}

// WantsJSON reports whether a request for a page is of a program: it has a token, or accepts JSON and no HTML.
func WantsJSON(r *http.Request) bool {
	if _, ok := BearerToken(r); ok {
		return true
	}
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// BearerToken returns the token of Authorization: Bearer, if a request has that.
func BearerToken(r *http.Request) (token string, ok bool) {
	return strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// AsksAgain reports whether a login that failed with a problem is answered with its form again: a person
// gave a wrong token, or too many.
func AsksAgain(r *http.Request, p *Problem) bool {
	return !WantsJSON(r) && (p.Status == http.StatusUnauthorized || p.Status == http.StatusTooManyRequests)
}

// An ErrorAnswer is a problem as the API writes it.
type ErrorAnswer struct {
	Error APIError `json:"error"`
}

type APIError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func ErrorOf(p *Problem) *ErrorAnswer { return &ErrorAnswer{APIError{p.Code, p.Message}} }

// HandleGet registers a handler for GET and HEAD.
func HandleGet(r gin.IRoutes, path string, h gin.HandlerFunc) {
	r.Match([]string{http.MethodGet, http.MethodHead}, path, h)
}
