package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// maxBody bounds a request in JSON, in bytes.
const maxBody = 64 << 10

// readJSON reads the one value that a body is, as a decoder does that was set so.
func readJSON(c *gin.Context, into any, set ...func(*json.Decoder)) error {
	if kind := c.ContentType(); kind != "application/json" {
		return &problem{http.StatusUnsupportedMediaType, "bad_body", "That request is not understood", "The body must be application/json."}
	}
	d := json.NewDecoder(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	for _, f := range set {
		f(d)
	}
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("there is something after the value")
		}
	}
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return &problem{http.StatusRequestEntityTooLarge, "too_long", "That request is too long", fmt.Sprintf("The body may have %d bytes.", maxBody)}
	case err != nil:
		return badParameter("The body is not what is asked for: " + strings.TrimPrefix(err.Error(), "json: ") + ".")
	}
	return nil
}

// checkQuery holds the query in a field of a body to its bounds; query is what is left of it.
func checkQuery(field, raw, query string) error {
	switch {
	case len(raw) > MaxQuery:
		return badParameter(fmt.Sprintf("Field %s has %d bytes; the limit is %d.", field, len(raw), MaxQuery))
	case query == "":
		return badParameter("Field " + field + " is missing.")
	}
	return nil
}

func checkNumber(field string, n, least, most int) error {
	if n < least || n > most {
		return badParameter(fmt.Sprintf("Field %s must be a whole number from %d to %d.", field, least, most))
	}
	return nil
}
