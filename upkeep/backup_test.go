package upkeep_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"anatomy/disk/datadir"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
)

// sound checks a data folder and wants no problem.
func sound(t *testing.T, dir string) {
	t.Helper()
	checked := 0
	testweb.Must(t, upkeep.Check(t.Context(), dir, upkeep.CheckReport{
		Checked: func(string, string) { checked++ },
		Problem: func(err error) { t.Errorf("%s: %v", dir, err) },
	}))
	if checked == 0 {
		t.Error("nothing was checked")
	}
}

// Backups are made again and again while a crawl runs. Each is a whole data folder, in which the crawl
// goes on to the same end: the same pages can be found.
func TestBackupDuringCrawl(t *testing.T) {
	w := testweb.Generate(t, 3, 120, 2*time.Millisecond)
	dir := filepath.Join(t.TempDir(), "data")
	var requests atomic.Int32
	now := make(chan bool, 1000)
	w.Listen(func(string) {
		if requests.Add(1)%12 == 0 {
			now <- true
		}
	})
	o := w.Options(dir, w.Seed)
	c, err := engine.Open(t.Context(), o)
	testweb.Must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(c.Run(t.Context()), c.Close()) }()

	var backups []*bytes.Buffer
	for running := true; running; {
		select {
		case <-now:
			var b bytes.Buffer
			r, err := upkeep.Backup(t.Context(), &b, dir, nil)
			testweb.Must(t, err)
			if r.Files == 0 || r.Bytes == 0 {
				t.Errorf("an empty backup: %+v", r)
			}
			backups = append(backups, &b)
		case err := <-ended:
			testweb.Must(t, err)
			running = false
		}
	}
	sound(t, dir)
	if _, err := os.Stat(filepath.Join(dir, "snapshot", "data")); !os.IsNotExist(err) {
		t.Errorf("a snapshot is left: %v", err)
	}
	if len(backups) < 3 {
		t.Fatalf("%d backups were made during the crawl", len(backups))
	}
	for _, b := range []*bytes.Buffer{backups[0], backups[len(backups)/2], backups[len(backups)-1]} {
		restored := filepath.Join(t.TempDir(), "data")
		_, err := upkeep.Restore(t.Context(), bytes.NewReader(b.Bytes()), restored, nil)
		testweb.Must(t, err)
		sound(t, restored)
		if stats := testweb.Crawl(t, w.Options(restored, w.Seed)); stats.Pages != int64(w.Pages) {
			t.Errorf("%d pages after the crawl went on, want %d", stats.Pages, w.Pages)
		}
		sound(t, restored)
		if bad := w.Forbidden(); len(bad) > 0 {
			t.Errorf("forbidden requests: %v", bad)
		}
	}
}

// A backup of a folder at rest restores to the same files.
func TestBackupAtRest(t *testing.T) {
	dir, b := backedUp(t)
	restored := filepath.Join(t.TempDir(), "data")
	testweb.Must(t, os.Mkdir(restored, 0o755)) // empty is as good as none
	_, err := upkeep.Restore(t.Context(), bytes.NewReader(b), restored, nil)
	testweb.Must(t, err)
	sound(t, restored)
	m, err := datadir.ReadManifest(dir)
	testweb.Must(t, err)
	for _, name := range []string{"VERSION", "MANIFEST", "rank/" + m.Ranks["default"], "repository/000001.repo"} {
		was, err := os.ReadFile(filepath.Join(dir, name))
		testweb.Must(t, err)
		is, err := os.ReadFile(filepath.Join(restored, name))
		testweb.Must(t, err)
		if !bytes.Equal(was, is) {
			t.Errorf("%s differs", name)
		}
	}
	if _, err := os.Stat(filepath.Join(restored, "certificates")); err == nil {
		t.Error("the backup holds the keys of the server")
	}
}

// TestRestoredIsPrivate: whatever is restored is for its owner alone, also where the saved files and
// the folder restored to were for everybody.
func TestRestoredIsPrivate(t *testing.T) {
	dir, _ := backedUp(t)
	rules := filepath.Join(dir, "anatomy.toml")
	testweb.Must(t, os.WriteFile(rules, []byte("schema = 1 # ours\n"), 0o644))
	testweb.Must(t, os.Chmod(rules, 0o644))
	var b bytes.Buffer
	_, err := upkeep.Backup(t.Context(), &b, dir, nil)
	testweb.Must(t, err)
	for _, mode := range []fs.FileMode{0, 0o755} { // of the folder, if there is one
		restored := filepath.Join(t.TempDir(), "data")
		if mode != 0 {
			testweb.Must(t, os.Mkdir(restored, mode))
			testweb.Must(t, os.Chmod(restored, mode))
		}
		_, err = upkeep.Restore(t.Context(), bytes.NewReader(b.Bytes()), restored, nil)
		testweb.Must(t, err)
		files := 0
		testweb.Must(t, filepath.WalkDir(restored, func(name string, d fs.DirEntry, err error) error {
			testweb.Must(t, err)
			info, err := d.Info()
			testweb.Must(t, err)
			want := fs.FileMode(0o600)
			if d.IsDir() {
				want = 0o700
			}
			if info.Mode().Perm() != want {
				t.Errorf("%s has mode %v, want %v", name, info.Mode().Perm(), want)
			}
			files++
			return nil
		}))
		if _, err := os.Stat(filepath.Join(restored, "anatomy.toml")); err != nil || files < 10 {
			t.Errorf("%d files, %v", files, err)
		}
	}
}

// sameContent says whether two frames of zstd hold the same.
func sameContent(a, b []byte) bool {
	z, err := zstd.NewReader(nil)
	if err != nil {
		return false
	}
	defer z.Close()
	x, err := z.DecodeAll(a, nil)
	if err != nil {
		return false
	}
	y, err := z.DecodeAll(b, nil)
	return err == nil && bytes.Equal(x, y)
}

// backedUp is a data folder at rest and its backup.
func backedUp(t *testing.T) (dir string, b []byte) {
	w := testweb.New(t)
	w.Page("one.test/", `<title>One</title><a href="/two">another page</a>`)
	w.Page("one.test/two", `<title>Two</title><p>some text`)
	dir = filepath.Join(t.TempDir(), "data")
	testweb.Crawl(t, w.Options(dir, "http://one.test/"))
	testweb.Must(t, os.Mkdir(datadir.Certificates(dir), 0o700))
	testweb.Must(t, os.WriteFile(filepath.Join(datadir.Certificates(dir), "key"), []byte("secret"), 0o600))
	var out bytes.Buffer
	_, err := upkeep.Backup(t.Context(), &out, dir, nil)
	testweb.Must(t, err)
	return dir, out.Bytes()
}

// What is not a whole backup is refused, and leaves nothing: damaged at any place, cut off anywhere,
// with names that lead out of the folder, with a file more or less.
func TestRestoreRefuses(t *testing.T) {
	_, b := backedUp(t)
	into := t.TempDir()
	refuse := func(what string, b []byte) {
		t.Helper()
		dir := filepath.Join(into, "data")
		if _, err := upkeep.Restore(t.Context(), bytes.NewReader(b), dir, nil); !errors.Is(err, upkeep.ErrNotWhole) {
			t.Errorf("%s: %v", what, err)
		}
		if left, _ := os.ReadDir(into); len(left) > 0 {
			t.Fatalf("%s: left behind: %v", what, left)
		}
	}
	for n := 0; n < len(b); n += 1 + len(b)/40 {
		refuse("cut off", b[:n])
		damaged := bytes.Clone(b)
		damaged[n] ^= 0x10
		if !sameContent(damaged, b) { // zstd leaves some bits without a meaning
			refuse(fmt.Sprintf("damaged at %d of %d", n, len(b)), damaged)
		}
	}
	for what, change := range map[string]func(h *tar.Header, body []byte) (string, []byte){
		"a name that leads out": func(h *tar.Header, body []byte) (string, []byte) {
			return strings.Replace(h.Name, "data/VERSION", "data/../../VERSION", 1), body
		},
		"an absolute name": func(h *tar.Header, body []byte) (string, []byte) {
			return strings.Replace(h.Name, "data/VERSION", "/VERSION", 1), body
		},
		"a file that differs": func(h *tar.Header, body []byte) (string, []byte) {
			return h.Name, bytes.Replace(body, fmt.Append(nil, "anatomy ", datadir.Version), []byte("anatomy 9"), 1)
		},
		"a file that is gone": func(h *tar.Header, body []byte) (string, []byte) {
			return strings.Replace(h.Name, "data/MANIFEST", "", 1), body
		},
		"a list that is short": func(h *tar.Header, body []byte) (string, []byte) {
			return h.Name, bytes.TrimPrefix(body, []byte(firstLine(h, body)))
		},
	} {
		refuse(what, repacked(t, b, change))
	}
	if _, err := upkeep.Restore(t.Context(), bytes.NewReader(repacked(t, b, func(h *tar.Header, body []byte) (string, []byte) { return h.Name, body })), filepath.Join(into, "data"), nil); err != nil {
		t.Errorf("packed again, and nothing changed: %v", err)
	}
	if _, err := upkeep.Restore(t.Context(), bytes.NewReader(b), filepath.Join(into, "data"), nil); !errors.Is(err, upkeep.ErrNotEmpty) {
		t.Errorf("into a folder in use: %v", err)
	}
	sound(t, filepath.Join(into, "data"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := upkeep.Restore(ended, bytes.NewReader(b), filepath.Join(into, "other"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func firstLine(h *tar.Header, body []byte) string {
	if h.Name != "SHA256SUMS" {
		return ""
	}
	line, _, _ := strings.Cut(string(body), "\n")
	return line + "\n"
}

// repacked changes the files of a backup; one whose name becomes "" is left out.
func repacked(t *testing.T, b []byte, change func(*tar.Header, []byte) (string, []byte)) []byte {
	t.Helper()
	unpacked, err := zstd.NewReader(bytes.NewReader(b))
	testweb.Must(t, err)
	defer unpacked.Close()
	var out bytes.Buffer
	packed, err := zstd.NewWriter(&out)
	testweb.Must(t, err)
	in, to := tar.NewReader(unpacked), tar.NewWriter(packed)
	for {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		testweb.Must(t, err)
		body, err := io.ReadAll(in)
		testweb.Must(t, err)
		if h.Name, body = change(h, body); h.Name == "" {
			continue
		}
		h.Size = int64(len(body))
		testweb.Must(t, to.WriteHeader(h))
		_, err = to.Write(body)
		testweb.Must(t, err)
	}
	testweb.Must(t, errors.Join(to.Close(), packed.Close()))
	return out.Bytes()
}

// TestKilledRestore restores again into folders as a killed restore leaves them.
func TestKilledRestore(t *testing.T) {
	_, b := backedUp(t)
	const moments = 4
	for i := range moments {
		dir, left := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "left")
		from := &hookedReader{Reader: bytes.NewReader(b), after: len(b) * i / moments, hook: func() {
			testweb.Must(t, os.CopyFS(left, os.DirFS(dir)))
		}}
		if _, err := upkeep.Restore(t.Context(), from, dir, nil); err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(left); err != nil || len(entries) == 0 {
			t.Fatalf("nothing in the folder after %d bytes: %v", from.after, err)
		}
		if _, err := upkeep.Restore(t.Context(), bytes.NewReader(b), left, nil); err != nil {
			t.Fatalf("killed after %d of %d bytes: %v", from.after, len(b), err)
		}
		sound(t, left)
		if _, err := upkeep.Restore(t.Context(), bytes.NewReader(b), left, nil); !errors.Is(err, upkeep.ErrNotEmpty) {
			t.Errorf("over a restored folder: %v", err)
		}
	}
	left := t.TempDir() // killed at once
	testweb.Must(t, os.WriteFile(filepath.Join(left, "RESTORING.tmp"), nil, 0o600))
	if _, err := upkeep.Restore(t.Context(), bytes.NewReader(b), left, nil); err != nil {
		t.Error(err)
	}
}

// A hookedReader calls hook once, before the first Read at or after byte number after.
type hookedReader struct {
	*bytes.Reader
	after int
	hook  func()
}

func (r *hookedReader) Read(p []byte) (int, error) {
	if r.hook != nil && int(r.Size())-r.Len() >= r.after {
		r.hook()
		r.hook = nil
	}
	if r.hook != nil {
		p = p[:min(len(p), max(1, r.after-int(r.Size())+r.Len()))]
	}
	return r.Reader.Read(p)
}
