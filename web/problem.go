package web

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
)

// statusGone is for the log: who went away reads no answer.
const statusGone = 499

// A problem is an error as the asker sees it.
type problem struct {
	Status  int    // of HTTP
	Code    string // for programs: "bad_parameter"
	Title   string // for people: "Not found"
	Message string // what is wrong and, where it helps, what is right
}

func (p *problem) Error() string { return p.Message }

func badParameter(message string) *problem {
	return &problem{http.StatusBadRequest, "bad_parameter", "That request is not understood", message}
}

func notFound(message string) *problem {
	return &problem{http.StatusNotFound, "not_found", "Not found", message}
}

// problemOf turns any error into what the asker may know of it. Errors of the rooms behind us can
// name files, so their text goes to the log alone.
func problemOf(err error) *problem {
	var p *problem
	var unknown *searcher.UnknownRankError
	switch {
	case errors.As(err, &unknown):
		return badParameter("Parameter rank: " + unknown.Error() + ".")
	case errors.As(err, &p):
		return p
	case errors.Is(err, ErrNotFound):
		return notFound("There is no such page in the index.")
	case errors.Is(err, ErrBadURL):
		return badParameter("Parameter url is no web address: one begins with http:// or https://.")
	case errors.Is(err, ErrNotReady):
		return &problem{http.StatusServiceUnavailable, "not_ready", "Not ready yet", "The index is not open yet. Try again in a moment."}
	case errors.Is(err, errBusy):
		return &problem{http.StatusTooManyRequests, "busy", "Too many searches at once", "Too many searches run at once. Try again in a second."}
	case errors.Is(err, context.Canceled):
		return &problem{statusGone, "cancelled", "Cancelled", "The asker went away."}
	case errors.Is(err, context.DeadlineExceeded):
		return &problem{http.StatusGatewayTimeout, "timeout", "That took too long", "The search did not end in time. Fewer or rarer words may help."}
	}
	return &problem{http.StatusInternalServerError, "internal", "Something broke", "The answer could not be made. The log of the server says why."}
}

// html makes a handler of pages; what goes wrong becomes a page too.
func (s *Server) html(h func(*gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			s.showProblem(c, s.judge(c, err))
		}
	}
}

// json makes a handler of the API; what goes wrong becomes {"error":{"code","message"}}.
func (s *Server) json(h func(*gin.Context) (any, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		answer, err := h(c)
		if err != nil {
			s.jsonProblem(c, s.judge(c, err))
			return
		}
		s.writeJSON(c, http.StatusOK, answer)
	}
}

// judge turns an error into a problem and logs it where it is ours.
func (s *Server) judge(c *gin.Context, err error) *problem {
	p := problemOf(err)
	if p.Status >= http.StatusInternalServerError {
		s.log.Error("request failed", "path", c.Request.URL.Path, "err", err)
	}
	if p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests {
		c.Header("Retry-After", "1")
	}
	return p
}

func (s *Server) showProblem(c *gin.Context, p *problem) {
	if p.Status == http.StatusTooManyRequests {
		c.Data(p.Status, htmlType, s.busy)
		return
	}
	v := s.view(p.Title, "")
	v.Problem = p
	s.render(c, p.Status, s.pages.problem, v)
}

// busyPage makes the page of a refusal, once, and so short that it is not compressed: where more is asked than can be
// answered, a refusal that costs a tenth of an answer leaves the less for these.
func (s *Server) busyPage() []byte {
	v := s.view("", "")
	v.Problem = problemOf(errBusy)
	var b bytes.Buffer
	if err := s.pages.busy.Execute(&b, v); err != nil {
		s.log.Error("page not made", "page", "busy.html", "err", err)
	}
	return s.placed(b.Bytes())
}

func (s *Server) jsonProblem(c *gin.Context, p *problem) {
	s.writeJSON(c, p.Status, errorOf(p))
}

// An errorAnswer is a problem as the API shows it.
type errorAnswer struct {
	Error apiError `json:"error"`
}

type apiError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func errorOf(p *problem) *errorAnswer {
	answer := &errorAnswer{}
	answer.Error.Code, answer.Error.Message = p.Code, p.Message
	return answer
}

// refuse answers in the language of the path: JSON to programs, a page elsewhere.
func (s *Server) refuse(c *gin.Context, p *problem) {
	switch path := c.Request.URL.Path; {
	case strings.HasPrefix(path, "/customsearch/"):
		s.customProblem(c, p)
	case forPrograms(path):
		s.jsonProblem(c, p)
	case path == "/search":
		s.formatProblem(c, p, c.Query("format"))
	default:
		s.showProblem(c, p)
	}
}

func (s *Server) noRoute(c *gin.Context) {
	s.refuse(c, notFound("There is nothing at this address."))
}

func (s *Server) noMethod(c *gin.Context) {
	if path := c.Request.URL.Path; c.Request.Method == http.MethodOptions && (forPrograms(path) || path == "/search") {
		openToPrograms(c)
		c.Header("Access-Control-Allow-Methods", "GET, HEAD")
		c.Header("Access-Control-Allow-Headers", "*")
		c.Header("Access-Control-Max-Age", "86400")
		c.Status(http.StatusNoContent)
		c.Writer.WriteHeaderNow()
		return
	}
	c.Header("Allow", "GET, HEAD")
	s.refuse(c, &problem{http.StatusMethodNotAllowed, "method_not_allowed", "Not allowed", "Only GET and HEAD are answered here."})
}

// recoverPanic keeps one request that goes wrong from ending the process.
func (s *Server) recoverPanic(c *gin.Context) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if v == http.ErrAbortHandler {
			panic(v)
		}
		s.log.Error("request panicked", "path", c.Request.URL.Path, "panic", v, "stack", string(debug.Stack()))
		c.Abort()
		if !c.Writer.Written() {
			s.refuse(c, problemOf(errors.New("panic")))
		}
	}()
	c.Next()
}
