package respond

import "github.com/gin-gonic/gin"

// Content security policies. Pages load nothing from other hosts, contain no inline code, and
// cannot be framed.
const (
	PagePolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	// FramePolicy is for the page that frames a cached page.
	FramePolicy = PagePolicy + "; frame-src 'self'"
	DataPolicy  = "default-src 'none'; frame-ancestors 'none'; sandbox"
)

// PrivateKey is set in the context of a request for a collection that not everybody may read.
const PrivateKey = "private"

// AsData sets the policy of an answer that is data for programs: opened in a browser, it does
// nothing.
func AsData(c *gin.Context) { c.Writer.Header().Set("Content-Security-Policy", DataPolicy) }

// CacheForDay lets clients keep an answer for a day, and shared caches if everybody may read the
// collection.
func CacheForDay(c *gin.Context) {
	who := "public"
	if c.GetBool(PrivateKey) {
		who = "private"
	}
	c.Header("Cache-Control", who+", max-age=86400")
}
