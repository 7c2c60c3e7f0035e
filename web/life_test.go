package web

import (
	"net/http"
	"strings"
	"testing"
)

// TestServiceLife: the cached page of a definition shows the dates of its visits in the language of
// the reader, and that of another page does not.
func TestServiceLife(t *testing.T) {
	s := newServer(newFake())
	for doc, want := range map[string]bool{"4711": true, "13": false} {
		page := get(t, s, "/cached?doc="+doc, http.StatusOK)
		for _, text := range []string{"first seen 3 Nov 2026", "last seen 3 Dec 2026", "changed 6 Nov 2026", "not found at the last visit"} {
			if strings.Contains(page, text) != want {
				t.Errorf("document %s, %q: shown is %v", doc, text, !want)
			}
		}
	}
}
