package render_test

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"anatomy/render"
)

// TestStaleProfiles: Open deletes the profiles of killed processes, and nothing else.
func TestStaleProfiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for _, name := range []string{"anatomy-render-dead/a", "anatomy-render-locked/a", "anatomy-other/a", "anatomy-render-new/a"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "anatomy-render-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("anatomy-other", filepath.Join(dir, "anatomy-render-link")); err != nil {
		t.Fatal(err)
	}
	all, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range all {
		if filepath.Base(name) == "anatomy-render-new" {
			continue
		}
		if err := os.Chtimes(name, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	alive, err := os.Open(filepath.Join(dir, "anatomy-render-locked"))
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	if err := syscall.Flock(int(alive.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := render.Open(t.Context(), render.Options{Path: "/bin/false"}); err == nil {
		t.Fatal("/bin/false is a browser")
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	dead := filepath.Join(dir, "anatomy-render-dead")
	if want := slices.DeleteFunc(all, func(name string) bool { return name == dead }); len(want) != 5 || !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "anatomy-other", "a")); err != nil {
		t.Error(err)
	}
}
