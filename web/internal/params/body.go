package params

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"anatomy/internal/jsonerror"
	"anatomy/web/internal/respond"

	"github.com/gin-gonic/gin"
)

// maxBody limits a JSON request, in bytes.
const maxBody = 64 << 10

// ReadJSON decodes the body, which must be one JSON value of that type. Functions in set configure the
// decoder.
func ReadJSON(c *gin.Context, into any, set ...func(*json.Decoder)) error {
	if kind := c.ContentType(); kind != "application/json" {
		return respond.NewProblem(http.StatusUnsupportedMediaType, "bad_body",
			"That request is not understood", "The body must be application/json.")
	}
	return DecodeJSON(c, into, set...)
}

// DecodeJSON decodes a body of any type as ReadJSON does.
func DecodeJSON(c *gin.Context, into any, set ...func(*json.Decoder)) error {
	d := json.NewDecoder(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	for _, f := range set {
		f(d)
	}
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("there is text after the value")
		}
	}
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return respond.NewProblem(http.StatusRequestEntityTooLarge, "too_long", "That request is too long", fmt.Sprintf("The limit of the body is %d bytes.", maxBody))
	case err != nil:
		return respond.BadParameter("The body is not valid: " + jsonerror.Text(err) + ".")
	}
	return nil
}

// CheckQuery checks the query of a field of a body; query is the cleaned value.
func CheckQuery(field, raw, query string) error {
	switch {
	case len(raw) > MaxQuery:
		return respond.BadParameter(fmt.Sprintf("Field %s has %d bytes; the limit is %d.", field, len(raw), MaxQuery))
	case query == "":
		return respond.BadParameter("Field " + field + " is missing.")
	}
	return nil
}

func CheckNumber(field string, n, least, most int) error {
	if n < least || n > most {
		return respond.BadParameter(fmt.Sprintf("Field %s must be a whole number from %d to %d.", field, least, most))
	}
	return nil
}
