package respond

import (
	"context"
	"errors"
	"net/http"

	"anatomy/collection"
	"anatomy/searcher"
)

// statusClientGone is logged for a request whose client closed the connection. No client reads it.
const statusClientGone = 499

// Busy is the code of a search that is refused while too many others run.
const Busy = "busy"

// ErrBusy refuses a search while too many others run.
var ErrBusy = errors.New("too many searches at once")

// A Problem is an error as the client sees it.
type Problem struct {
	Status  int    // HTTP status
	Code    string // for programs: "bad_parameter"
	Title   string // for people: "Not found"
	Message string // what is wrong and, where that helps, what would be right
	Page    string // URL of a page elsewhere that helps, or ""
}

// NewProblem returns a problem.
func NewProblem(status int, code, title, message string) *Problem {
	return &Problem{Status: status, Code: code, Title: title, Message: message}
}

func (p *Problem) Error() string { return p.Message }

// BadParameter returns a problem with status 400.
func BadParameter(message string) *Problem {
	return NewProblem(http.StatusBadRequest, "bad_parameter", "Bad request", message)
}

// NotFound returns a problem with status 404.
func NotFound(message string) *Problem {
	return NewProblem(http.StatusNotFound, "not_found", "Not found", message)
}

// Forbidden returns a problem with status 403.
func Forbidden(message string) *Problem {
	return NewProblem(http.StatusForbidden, "forbidden", "Not allowed", message)
}

// NoCopy returns the problem of a page whose publisher wants no copy of it shown.
func NoCopy(url string) *Problem {
	return publishersWish("noarchive", "No copy is shown",
		"The publisher of this page asks that no copy of it is shown (noarchive).", url)
}

// NoText returns the problem of a page whose publisher wants none of its text shown.
func NoText(url string) *Problem {
	return publishersWish("nosnippet", "No text is shown",
		"The publisher of this page asks that none of its text is shown (nosnippet).", url)
}

func publishersWish(code, title, message, url string) *Problem {
	p := NewProblem(http.StatusForbidden, code, title, message)
	if url != "" {
		p.Message += " Read it where it is: " + url
		p.Page = url
	}
	return p
}

// Of converts any error to a problem. Other packages' errors can name files, so their text
// goes to the log only.
func Of(err error) *Problem {
	var p *Problem
	var unknown *searcher.UnknownRankError
	switch {
	case errors.As(err, &unknown):
		return BadParameter("Parameter rank: " + unknown.Error() + ".")
	case errors.As(err, &p):
		return p
	case errors.Is(err, collection.ErrNotFound):
		return NotFound("The index has no such page.")
	case errors.Is(err, collection.ErrBadURL):
		return BadParameter("Parameter url is not a valid URL. A URL begins with http:// or https://.")
	case errors.Is(err, collection.ErrNotReady):
		return NewProblem(http.StatusServiceUnavailable, "not_ready", "Not ready yet",
			"The index is not open yet. Try again in a moment.")
	case errors.Is(err, ErrBusy):
		return NewProblem(http.StatusTooManyRequests, Busy, "Too many searches",
			"Too many searches are running. Try again in a second.")
	case errors.Is(err, context.Canceled):
		return NewProblem(statusClientGone, "cancelled", "Cancelled", "The client closed the connection.")
	case errors.Is(err, context.DeadlineExceeded):
		return NewProblem(http.StatusGatewayTimeout, "timeout", "Timeout",
			"The search did not finish in time. Try fewer or rarer words.")
	}
	return NewProblem(http.StatusInternalServerError, "internal", "Internal error",
		"The request failed. The server's log has the reason.")
}
