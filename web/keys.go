package web

import (
	"crypto/sha256"
	"net/http"

	"anatomy/web/api"
	"anatomy/web/internal/respond"
)

// keys are the hashes of the accepted API keys. The time of a look-up by hash reveals nothing about
// a key. Without keys the API is open.
type keys map[[sha256.Size]byte]bool

func newKeys(plain []string) keys {
	k := make(keys, len(plain))
	for _, key := range plain {
		k[sha256.Sum256([]byte(key))] = true
	}
	return k
}

func (k keys) has(key string) bool { return k[sha256.Sum256([]byte(key))] }

// keyOf returns the key of a request: Authorization: Bearer, X-API-Key, or the parameter key, which
// Google's clients send.
func keyOf(r *http.Request) string {
	if token, ok := respond.BearerToken(r); ok {
		return token
	}
	if key := r.Header.Get("X-API-Key"); key != "" {
		return key
	}
	return r.URL.Query().Get("key")
}

// isProgram reports whether a request needs an API key. The description of the API needs none.
func isProgram(r *http.Request) bool {
	path := r.URL.Path
	return hasPrefix(path, programPaths) || path == "/mcp" ||
		path == "/search" && api.ProgramFormats[r.URL.Query().Get("format")]
}
