package secret

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "token")
	for _, c := range []struct {
		mode        os.FileMode
		credentials string // $CREDENTIALS_DIRECTORY
		exposed     bool
	}{
		{0o600, "", false},
		{0o400, "", false},
		{0o640, "", true},
		{0o604, "", true},
		{0o620, "", true},
		{0o440, "", true},
		{0o440, dir, false},
		{0o440, dir + "/", false},
		{0o440, filepath.Dir(dir), true},
		{0o460, dir, true},
		{0o444, dir, true},
	} {
		_ = os.Remove(name)
		if err := errors.Join(os.WriteFile(name, []byte("x"), 0o600), os.Chmod(name, c.mode)); err != nil {
			t.Fatal(err)
		}
		t.Setenv("CREDENTIALS_DIRECTORY", c.credentials)
		file, err := Open(name)
		if errors.Is(err, ErrExposed) != c.exposed || (file == nil) != c.exposed {
			t.Errorf("mode %04o, $CREDENTIALS_DIRECTORY %q: %v", c.mode, c.credentials, err)
		}
		if file == nil {
			continue
		}
		if text, err := io.ReadAll(file); string(text) != "x" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		_ = file.Close()
	}
	if _, err := Open(name + ".missing"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Open(dir); err == nil {
		t.Error("a folder was opened")
	}
}

// TestPipe opens a pipe by the name that a shell gives it.
func TestPipe(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems have other names and modes of pipes")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	file, err := Open(fmt.Sprintf("/dev/fd/%d", r.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if text, err := io.ReadAll(file); string(text) != "x" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
