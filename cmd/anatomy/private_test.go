package main

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"anatomy/config"
)

// onlyOwner checks that nobody but the owner may read what lies below a path, and counts it.
func onlyOwner(t *testing.T, path string) (files int) {
	t.Helper()
	err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		files++
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", name, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// signInSite has a public page and a private one, which asks for a password.
func signInSite(t *testing.T) *httptest.Server {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch user, password, _ := r.BasicAuth(); {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case r.Host[:9] == "localhost":
			w.Write([]byte("<title>Lobby</title>everybody reads this welcome"))
		case user != "ada" || password != "correct horse":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			w.Write([]byte("<title>Vault</title>the confidential welcome"))
		}
	}))
	t.Cleanup(site.Close)
	return site
}

// TestFilesOfOthers: data folders, backups and exports are for their owner alone, whatever the umask.
func TestFilesOfOthers(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := t.TempDir()
	data, backups, archive := filepath.Join(dir, "data"), filepath.Join(dir, "backups"), filepath.Join(dir, "pages.warc.gz")
	command(t, "demo", "--exit", "--keep", "--data", data)
	command(t, "backup", "--data", data, backups+"/")
	command(t, "export", "warc", "--data", data, "-o", archive)
	all, err := os.ReadDir(backups)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	restored, public := filepath.Join(dir, "restored"), filepath.Join(dir, "public")
	command(t, "restore", filepath.Join(backups, all[0].Name()), "--data", restored)
	command(t, "index", "--public-only", public, "--data", data)
	for path, least := range map[string]int{data: 15, backups: 2, archive: 1, restored: 15, public: 15} {
		if n := onlyOwner(t, path); n < least {
			t.Errorf("%s has only %d files", path, n)
		}
	}
}

// TestLoginKey: a collection with login = true is shown to whoever has the token, although all its pages
// are public. The server follows changes of the file, and requires a login while the file has an error.
func TestLoginKey(t *testing.T) {
	data, token := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "token")
	command(t, "demo", "--exit", "--keep", "--data", data)
	for name, text := range map[string]string{
		config.Path(data): "schema = 1\n[search]\nlogin = true\nallow_origins = ['https://docs.test']\n", token: "0123456789abcdef\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := command(t, "config", "check", "--data", data); !strings.Contains(out, "note: the collection requires a login") {
		t.Errorf("config check prints %q", out)
	}
	s := start(t, "serve", "--data", data, "--token", token)
	get := func(path, auth string, status int) {
		t.Helper()
		request, err := http.NewRequest("GET", s.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", auth)
		r, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if r.Body.Close(); r.StatusCode != status {
			t.Errorf("/%s with %q: %s, want %d", path, auth, r.Status, status)
		}
	}
	for _, path := range []string{"", "search?q=anchor", "api/v1/search?q=anchor", "box.js"} {
		get(path, "", 401)
		get(path, "Bearer 0123456789abcdef", 200)
	}
	for _, later := range []struct {
		text   string
		status int
	}{{"schema = 1\n", 200}, {"schema = 1\n[search]\nlogin = true\n", 401}, {"login = what", 401}} {
		if err := os.WriteFile(config.Path(data), []byte(later.text), 0o600); err != nil {
			t.Fatal(err)
		}
		get("search?q=anchor", "", later.status)
	}
	if err := os.WriteFile(config.Path(data), []byte("schema = 1\n[search]\nlogin = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.interrupt(t)
	if _, err := openFolder(data, "", nil, serveOptions{publicOnly: true}); err == nil || !strings.Contains(err.Error(), "asks readers to log in") {
		t.Errorf("--public-only: %v", err)
	}
}

// TestSignedInPages: what a crawl fetched with credentials is shown to whoever has the token, and
// index --public-only leaves it out.
func TestSignedInPages(t *testing.T) {
	site := signInSite(t)
	port := site.URL[strings.LastIndex(site.URL, ":"):]
	dir := t.TempDir()
	data, public := filepath.Join(dir, "data"), filepath.Join(dir, "public")
	secrets, token := filepath.Join(dir, "credentials"), filepath.Join(dir, "token")
	readers := filepath.Join(dir, "readers")
	for name, text := range map[string]string{
		secrets: "http://127.0.0.1" + port + " basic ada:correct horse\n",
		token:   "0123456789abcdef\n", readers: "fedcba9876543210\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	crawl := []string{"crawl", "--quiet", "--data", data, "--allow-private", "--delay", "0", "--contact", "you@example.org"}
	command(t, append(crawl, "http://localhost"+port+"/")...)
	s := start(t, "serve", "--data", data)
	if got := s.order(t, "welcome"); got != "http://localhost"+port+"/" {
		t.Errorf("before: %q", got)
	}
	command(t, append(crawl, "--credentials", secrets, "http://127.0.0.1"+port+"/")...)
	r, err := http.Get(s.url + "api/v1/search?q=welcome")
	if err != nil || r.StatusCode != http.StatusUnauthorized {
		t.Errorf("a running server answers %v, %v", r.Status, err)
	}
	r.Body.Close()
	s.interrupt(t)

	s = start(t, "serve", "--data", data, "--token", token, "--read-token", readers)
	request, err := http.NewRequest("GET", s.url+"search?q="+url.QueryEscape("confidential welcome"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for auth, status := range map[string]int{"": 401, "Bearer 0123456789abcdef": 200, "Bearer fedcba9876543210": 200} {
		request.Header.Set("Authorization", auth)
		if r, err = http.DefaultClient.Do(request); err != nil || r.StatusCode != status {
			t.Errorf("%q: %v, %v", auth, r.Status, err)
		}
		r.Body.Close()
	}
	s.interrupt(t)

	refused, err := exec.Command("anatomy", "serve", "--public-only", "--data", data, "--listen", "127.0.0.1:0").CombinedOutput()
	if err == nil || !strings.Contains(string(refused), "index --public-only FOLDER") {
		t.Errorf("%v: %s", err, refused)
	}
	command(t, "index", "--public-only", public, "--data", data)
	s = start(t, "serve", "--public-only", "--data", public)
	if got := s.order(t, "welcome"); got != "http://localhost"+port+"/" {
		t.Errorf("public: %q", got)
	}
	if got := s.order(t, "confidential"); got != "" {
		t.Errorf("public: %q", got)
	}
	s.interrupt(t)
}
