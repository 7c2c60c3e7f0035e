package icons

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"
)

// TestWriter puts icons, that there is none, and too much, and asks when each is wanted again.
func TestWriter(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	w, err := NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	put := func(host, content string) {
		t.Helper()
		if err := w.Put(host, []byte(content), now); err != nil {
			t.Fatal(err)
		}
	}
	if !w.IsWanted("a.test", now) || Has(dir, "a.test") {
		t.Error("an icon is known before it was put")
	}
	put("a.test", "icon")
	put("none.test", "")
	put("large.test", strings.Repeat("x", MaxBytes+1))
	put("../../up", "up")
	for host, want := range map[string]string{"a.test": "icon", "none.test": "", "large.test": "", "../../up": "up", "other.test": ""} {
		got, err := Read(dir, host)
		if string(got) != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, fs.ErrNotExist) || Has(dir, host) != (want != "") {
			t.Errorf("%s: %q, %v", host, got, err)
		}
		if wanted := w.IsWanted(host, now.Add(MaxAge-time.Second)); wanted != (host == "other.test") {
			t.Errorf("%s: wanted %v", host, wanted)
		}
	}
	now = now.Add(MaxAge)
	if !w.IsWanted("a.test", now) || !w.IsWanted("none.test", now) {
		t.Error("what is old is not wanted")
	}
	put("a.test", "")
	if got, err := Read(dir, "a.test"); string(got) != "icon" || w.IsWanted("a.test", now) {
		t.Errorf("a host without its icon: %q, %v", got, err)
	}
	entries, err := os.ReadDir(Path(dir))
	if err != nil || len(entries) != 4 {
		t.Errorf("%d files, %v", len(entries), err)
	}
	if again, err := NewWriter(dir); err != nil || again.hosts != 4 {
		t.Errorf("%+v, %v", again, err)
	}
	w.hosts = MaxHosts
	if w.IsWanted("new.test", now) || w.IsWanted("a.test", now) || !w.IsWanted("a.test", now.Add(MaxAge)) {
		t.Error("a full folder")
	}
}
