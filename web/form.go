package web

import (
	"io"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// maxHeader bounds the header of a request and a posted search, in bytes. A query of MaxQuery bytes
// takes 6 KiB percent-encoded.
const maxHeader = 32 << 10

// postedSearch turns a form posted to /search into a query string. SearXNG takes both, and a posted
// query stays out of the browser's history and of logs.
func postedSearch(c *gin.Context) {
	r := c.Request
	if r.Method != http.MethodPost || r.URL.Path != "/search" {
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, r.Body, maxHeader))
	if c.ContentType() != "application/x-www-form-urlencoded" || err != nil {
		body = []byte("%") // malformed: the handler refuses it
	}
	moved := *r.URL
	moved.RawQuery = strings.Trim(moved.RawQuery+"&"+string(body), "&")
	r.URL = &moved
}
