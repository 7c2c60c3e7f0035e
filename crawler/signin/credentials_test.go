package signin

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const secrets = `
# a remark
http://a.test            basic   ada:pass word
https://example.com:443  Bearer  s3cret-token
http://c.test:80         header  X-Key: s3cret-key
http://c.test            header	 cookie: s3cret-cookie
`

func TestCredentialLines(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"http://a.test", "ORIGIN KIND SECRET"},
		{"http://a.test basic", "ORIGIN KIND SECRET"},
		{"a.test basic u:hidden", "begin with an origin"},
		{"ftp://a.test basic u:hidden", "begin with an origin"},
		{"http://u:hidden@a.test bearer hidden", "begin with an origin"},
		{"http://a.test/dir basic u:hidden", "has a path"},
		{"http://a.test/?hidden basic u:hidden", "has a path"},
		{"http://a.test basic hidden", "USER:PASSWORD"},
		{"http://a.test basic :hidden", "USER:PASSWORD"},
		{"http://a.test bearer hidden hidden", "without spaces"},
		{"http://a.test header hidden", "NAME: VALUE"},
		{"http://a.test header hid den: x", "NAME: VALUE"},
		{"http://a.test header X-Key:", "no value"},
		{"http://a.test header X-Key: hid\x00den", "no value"},
		{"http://a.test header user-agent: hidden", "User-Agent is the crawler's own"},
		{"http://a.test header Host: hidden", "Host is the crawler's own"},
		{"http://a.test form hidden", "form takes"},
		{"http://a.test form http://b.test/ user=hidden", "form takes"},
		{"http://a.test form /login %zz=hidden", "form takes"},
		{"http://a.test oauth2 hidden", "oauth2 takes"},
		{"http://a.test oauth2 ftp://x client hidden", "oauth2 takes"},
		{"http://a.test oauth2 http://u:hidden@x client hidden", "oauth2 takes"},
		{"https://a.test oauth2 http://b.test/token client hidden", "not https"},
		{"http://a.test form /login user=hidden\nhttp://a.test oauth2 http://b.test/ client hidden", "line 2: a second sign-in method"},
		{"http://a.test oauth2 http://b.test/ client hidden\nhttp://a.test bearer hidden", "line 2: a second sign-in method"},
		{"http://a.test bearer hidden\nhttp://a.test form /login user=hidden", "line 2: a second sign-in method"},
		{"http://a.test digest hidden", "not one of basic, bearer, header"},
		{"http://a.test bearer hidden\nHTTP://A.test:80/ basic u:hidden", "line 2: a second Authorization"},
	} {
		_, err := Parse(strings.NewReader(c.line))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: %v", c.line, err)
		}
	}
}

func TestCredentialFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "secrets")
	for _, c := range []struct {
		text string
		mode os.FileMode
		want string
	}{
		{secrets, 0o600, ""},
		{secrets, 0o640, "mode 0640"},
		{"junk", 0o600, "line 1"},
		{strings.Repeat("#", maxFile+1), 0o600, "more than"},
	} {
		_ = os.Remove(name)
		if err := errors.Join(os.WriteFile(name, []byte(c.text), 0o600), os.Chmod(name, c.mode)); err != nil {
			t.Fatal(err)
		}
		got, err := Read(name)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) || (got != nil) != (err == nil) {
			t.Errorf("mode %o: %v", c.mode, err)
		}
	}
	if _, err := Read(name + ".missing"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Read(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}

func FuzzCredentials(f *testing.F) {
	f.Add(secrets)
	f.Add("http://a.test header a: b\nhttp://[::1]:8080 bearer x")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		for origin, h := range c.fields {
			if !strings.HasPrefix(origin, "http") || len(h) == 0 {
				t.Fatalf("%q", origin)
			}
		}
	})
}
