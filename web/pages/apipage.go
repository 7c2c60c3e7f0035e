package pages

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"anatomy/web/api"
)

// API shows the description of the API, with an example for each operation.
func (s *searchPages) api(c *gin.Context) error {
	base, err := s.Site.URL(c.Request)
	if err != nil {
		return err
	}
	v := s.View(c, "API", "")
	v.Body = api.Describe(v.Messages, base)
	return s.Render(c, http.StatusOK, "api", v)
}
