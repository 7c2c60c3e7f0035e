package collection

import "errors"

// Errors of a collection. Methods may wrap them. The web server answers with the status in the
// comment.
var (
	ErrNotFound = errors.New("not found")       // 404
	ErrNotReady = errors.New("index not ready") // 503
	ErrBadURL   = errors.New("not a valid URL") // 400
)
