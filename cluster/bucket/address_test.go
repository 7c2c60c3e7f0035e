package bucket

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "KEY")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	dir := t.TempDir()
	for address, want := range map[string]string{
		"s3://s3.eu-central-1.amazonaws.com/crawl": "",
		"s3://minio.example:9000/crawl/one/two/":   "s3://minio.example:9000/crawl/one/two",
		"s3://[2001:db8::1]:9000/crawl":            "",
		"s3+http://localhost:9000/crawl":           "",
		"s3+http://10.0.0.1/crawl/p":               "",
		"s3+http://[::1]:7070/crawl":               "",
		"s3+http://minio:9000/crawl":               "", // its address is checked when it is known
		dir:                                        "",
		"file://" + dir + "/":                      dir,
		dir + "/x/../":                             dir,
	} {
		if want == "" {
			want = address
		}
		b, err := Open(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
		} else if b.String() != want {
			t.Errorf("%s: %s, want %s", address, b, want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "KEY")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	for address, want := range map[string]string{
		"":                                   "s3://HOST/BUCKET",
		"folder":                             "from the root",
		"./folder":                           "from the root",
		"/":                                  "from the root",
		"file://":                            "from the root",
		"file://folder":                      "from the root",
		"file:///":                           "from the root",
		"http://host/crawl":                  "s3://HOST/BUCKET",
		"s3://":                              "not a host",
		"s3:///crawl":                        "not a host",
		"s3://host":                          "names no bucket",
		"s3://host/":                         "names no bucket",
		"s3://ho st/crawl":                   "not a host",
		"s3://host:/crawl":                   "not a host",
		"s3://host:70000/crawl":              "not a port",
		"s3://host:0/crawl":                  "not a port",
		"s3://host:x/crawl":                  "not a host",
		"s3://::1/crawl":                     "not a host",
		"s3://[fe80::1%25eth0]/crawl":        "not a host",
		"s3://host/Crawl":                    "is not a valid bucket name",
		"s3://host/x":                        "is not a valid bucket name",
		"s3://host/crawl/a b":                "is not a valid prefix",
		"s3://host/crawl/../b":               "is not a valid prefix",
		"s3://host/crawl/a//":                "is not a valid prefix",
		"s3+http://203.0.113.1/crawl":        "write s3://",
		"s3+http://[2001:db8::1]/crawl":      "write s3://",
		"s3://KEY:very-secret@host/crawl":    "AWS_ACCESS_KEY_ID",
		"https://KEY:very-secret@host/crawl": "AWS_ACCESS_KEY_ID",
		"s3://host/crawl?secret=very-secret": "AWS_ACCESS_KEY_ID",
		"s3://host/crawl#very-secret":        "AWS_ACCESS_KEY_ID",
		"KEY:very-secret@s3://host/crawl":    "AWS_ACCESS_KEY_ID",
		"s3+http://KEY:very-secret@host/cra": "AWS_ACCESS_KEY_ID",
		"s3://KEY:very-secret%40host/crawl":  "not a host",
	} {
		b, err := Open(address)
		if err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "very-secret@") {
			t.Errorf("%s: %v, %v, want an error with %q", address, b, err, want)
		}
	}
}

// The key comes from the environment, or else from the credentials file.
func TestOpenFindsKey(t *testing.T) {
	const address = "s3://host/crawl"
	file := filepath.Join(t.TempDir(), "credentials")
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_PROFILE",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", file+"-none")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	if _, err := Open(address); err == nil || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
		t.Errorf("without a key: %v", err)
	}
	content := "[default]\naws_access_key_id = KEY\naws_secret_access_key = secret\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(address); err != nil {
		t.Error(err)
	}
}

// An address that is accepted is printed so that it is accepted again, without a secret.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{
		"s3://host/bucket", "s3+http://127.0.0.1:9000/bucket/a/b", "file:///folder", "/folder/./x//",
		"s3://[::1]:1/bucket", "s3://KEY:secret@host/bucket", "s3://host/bucket?x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := parse(s)
		if err != nil {
			return
		}
		again, err := parse(a.String())
		if err != nil || again != a {
			t.Errorf("%q: %v, again %v, %v", s, a, again, err)
		}
		if a.folder == "" &&
			(strings.ContainsAny(a.String(), "@?#% \\") || checkName("a/"+a.prefix+"x") != nil) {
			t.Errorf("%q was accepted as %v", s, a)
		}
	})
}
