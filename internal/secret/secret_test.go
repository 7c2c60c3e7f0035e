package secret

import (
	"errors"
	"io"
	"os"
	"path/filepath"
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
