package web

import (
	"crypto/sha256"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// keys are the API keys that open the API, as hashes: a look-up by hash takes no time that tells
// of the key. None given, the API is open.
type keys map[[sha256.Size]byte]bool

func newKeys(plain []string) keys {
	k := make(keys, len(plain))
	for _, key := range plain {
		k[sha256.Sum256([]byte(key))] = true
	}
	return k
}

func (k keys) holds(key string) bool { return k[sha256.Sum256([]byte(key))] }

// key is what a request shows: Authorization: Bearer, X-API-Key, or the parameter key that
// Google's clients send.
func key(r *http.Request) string {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return token
	}
	if key := r.Header.Get("X-API-Key"); key != "" {
		return key
	}
	return r.URL.Query().Get("key")
}

// needKey refuses programs without a key where the operator gave out keys. People's pages stay
// open.
func (s *Server) needKey(c *gin.Context) {
	if len(s.keys) == 0 || !isProgram(c.Request) || s.keys.holds(key(c.Request)) {
		return
	}
	c.Header("WWW-Authenticate", `Bearer realm="anatomy"`)
	s.refuse(c, &problem{http.StatusUnauthorized, "no_key", "A key is needed",
		"This API is open to holders of a key: send it as Authorization: Bearer, as X-API-Key, or as the parameter key."})
	c.Abort()
}

// isProgram says that a request is for what programs read. The description of the API is for all.
func isProgram(r *http.Request) bool {
	path := r.URL.Path
	return strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/customsearch/") || strings.HasPrefix(path, "/external/") || path == "/mcp" ||
		path == "/search" && programFormats[r.URL.Query().Get("format")]
}
