package render_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anatomy/render"
)

// TestOpen: without a browser, with one that has no sandbox, and with a program that is none, Open fails
// and says so.
func TestOpen(t *testing.T) {
	if _, err := render.Open(t.Context(), render.Options{Path: "/bin/false"}); err == nil || !strings.Contains(err.Error(), "/bin/false does not work") {
		t.Errorf("/bin/false: %v", err)
	}
	t.Setenv("TMPDIR", "/tmp") // folders of tests are closed to others
	dir, err := os.MkdirTemp("", "browser")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	bare := filepath.Join(dir, "chromium")
	if err := os.WriteFile(bare, []byte("#!/bin/sh\necho 'ERROR:zygote.cc] No usable sandbox! Try --no-sandbox.' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := render.Open(t.Context(), render.Options{Path: bare}); !errors.Is(err, render.ErrSandbox) {
		t.Errorf("no sandbox: %v", err)
	}
	if os.Getuid() == 0 {
		t.Setenv("TMPDIR", t.TempDir())
		if _, err := render.Open(t.Context(), render.Options{Path: bare}); err == nil || !strings.Contains(err.Error(), "set TMPDIR") {
			t.Errorf("a closed folder: %v", err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := render.Open(t.Context(), render.Options{}); !errors.Is(err, render.ErrNone) {
		t.Errorf("an empty PATH: %v", err)
	}
}
