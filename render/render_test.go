package render_test

import (
	"errors"
	"strings"
	"testing"

	"anatomy/render"
)

// TestOpen: without a browser, and with a program that is none, Open fails and says so.
func TestOpen(t *testing.T) {
	if _, err := render.Open(t.Context(), render.Options{Path: "/bin/false"}); err == nil || !strings.Contains(err.Error(), "/bin/false does not work") {
		t.Errorf("/bin/false: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := render.Open(t.Context(), render.Options{}); !errors.Is(err, render.ErrNone) {
		t.Errorf("an empty PATH: %v", err)
	}
}
