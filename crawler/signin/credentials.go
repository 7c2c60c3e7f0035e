// Package signin lets the crawler into origins that require a password: with header fields, by
// filling in a form, or with an OAuth 2 token.
//
// Credentials belong to an origin, which is scheme, host and port, and a request uses only those of
// its own origin. So nothing is ever sent to another origin: not to http if the file says https,
// not to a subdomain, and not along a redirect. Errors and formatting with fmt never show a secret.
package signin

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"anatomy/internal/secret"
	"anatomy/weburl"
)

// Credentials are what requests to some origins carry: a password, a token, header fields of the
// operator's own. They come from a file that only its owner may read or write:
//
//	# an origin, the kind, and the secret to the end of the line
//	https://wiki.example.org       basic   ada:correct horse
//	https://api.example.org:8443   bearer  eyJhbGciOi
//	https://old.example.org        header  X-Key: 123
//	https://old.example.org        header  Cookie: session=4f2a
//
//	https://forum.example.org      form    /login user=ada&password=correct+horse  Sign out
//	https://data.example.org       oauth2  https://auth.example.org/token client-id secret scope
//
// An origin has at most one line of basic, bearer, form or oauth2, and any number of header. For
// form, the page at that path is fetched, and its form filled in and sent; the text at the end of
// the line is shown only to those who are signed in; cookies are kept. For oauth2, a token is
// requested at that URL (RFC 6749 §4.4).
//
// Credentials do not change once read. The nil value has none.
type Credentials struct {
	fields  map[string]http.Header // by origin
	methods map[string]method      // by origin: form or oauth2
}

const maxFile = 1 << 20 // bytes

// Read reads a file of credentials, by [secret.Open].
func Read(name string) (*Credentials, error) {
	f, err := secret.Open(name)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, fmt.Errorf("credentials: %w", err)
	case !info.Mode().IsRegular(): // its size would not be known
		return nil, fmt.Errorf("credentials: %s is not a file", name)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("credentials: %s has more than %d bytes", name, maxFile)
	}
	c, err := Parse(f)
	if err != nil {
		return nil, fmt.Errorf("credentials: %s, %w", name, err)
	}
	return c, nil
}

// Parse reads credentials in the form of the file.
func Parse(r io.Reader) (*Credentials, error) {
	c := &Credentials{fields: map[string]http.Header{}, methods: map[string]method{}}
	lines := bufio.NewScanner(io.LimitReader(r, maxFile))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := c.add(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return c, lines.Err()
}

var errSecondMethod = errors.New("a second sign-in method for this origin")

// add parses one line. Its errors describe the form of the line and never quote it.
func (c *Credentials) add(line string) error {
	where, rest := word(line)
	kind, secret := word(rest)
	if secret == "" {
		return errors.New("a line has the form ORIGIN KIND SECRET")
	}
	u, err := weburl.Parse(where)
	switch {
	case err != nil || strings.Contains(where, "@"):
		return errors.New("does not begin with an origin such as https://example.org")
	case u.PathAndQuery() != "/" || strings.ContainsAny(where, "?#"):
		return errors.New("the origin has a path: credentials are for all of an origin")
	}
	origin := u.Origin()
	switch kind = strings.ToLower(kind); kind {
	case "form", "oauth2":
		return c.addMethod(origin, kind, secret)
	}
	return c.addField(origin, kind, secret)
}

func (c *Credentials) addField(origin, kind, secret string) error {
	name, value, err := field(kind, secret)
	if err != nil {
		return err
	}
	if _, double := c.methods[origin]; double && name == "Authorization" {
		return errSecondMethod
	}
	if c.fields[origin] == nil {
		c.fields[origin] = http.Header{}
	}
	if c.fields[origin][name] != nil {
		return fmt.Errorf("a second %s for this origin", name)
	}
	c.fields[origin][name] = []string{value}
	return nil
}

func (c *Credentials) addMethod(origin, kind, secret string) error {
	m, err := parseMethod(origin, kind, secret)
	if err != nil {
		return err
	}
	if _, double := c.methods[origin]; double || c.fields[origin]["Authorization"] != nil {
		return errSecondMethod
	}
	c.methods[origin] = m
	return nil
}

// field returns the header field of one line.
func field(kind, secret string) (name, value string, err error) {
	switch kind {
	case "basic":
		if user, _, ok := strings.Cut(secret, ":"); !ok || user == "" {
			return "", "", errors.New("basic takes USER:PASSWORD")
		}
		name, value = "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(secret))
	case "bearer":
		if strings.ContainsAny(secret, " \t") {
			return "", "", errors.New("bearer takes a token without spaces")
		}
		name, value = "Authorization", "Bearer "+secret
	case "header":
		key, rest, ok := strings.Cut(secret, ":")
		if !ok || !httpguts.ValidHeaderFieldName(key) {
			return "", "", errors.New("header takes NAME: VALUE")
		}
		name, value = http.CanonicalHeaderKey(key), strings.TrimSpace(rest)
		if slices.Contains(crawlerFields, name) {
			return "", "", fmt.Errorf("the field %s is the crawler's own", name)
		}
	default:
		return "", "", errors.New("the kind is not one of basic, bearer, header, form, oauth2")
	}
	if value == "" || !httpguts.ValidHeaderFieldValue(value) {
		return "", "", errors.New("no value, or one with characters that a header cannot hold")
	}
	return name, value, nil
}

// crawlerFields control the connection, the coding of bodies, or name the crawler.
var crawlerFields = []string{
	"Accept-Encoding", "Connection", "Content-Length", "Expect", "Host", "Keep-Alive",
	"Proxy-Authorization", "Proxy-Connection", "Range", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "User-Agent",
}

// Header returns base with the header fields of an origin.
func (c *Credentials) Header(origin string, base http.Header) http.Header {
	if c == nil || c.fields[origin] == nil {
		return base
	}
	h := base.Clone()
	for name, values := range c.fields[origin] {
		h[name] = values
	}
	return h
}

// Covers reports whether requests to an origin carry credentials.
func (c *Credentials) Covers(origin string) bool {
	if c == nil {
		return false
	}
	_, signsIn := c.methods[origin]
	return signsIn || c.fields[origin] != nil
}

// String returns the number of origins.
func (c *Credentials) String() string {
	if c == nil {
		return "no credentials"
	}
	n := len(c.fields)
	for origin := range c.methods {
		if c.fields[origin] == nil {
			n++
		}
	}
	return fmt.Sprintf("credentials of %d origins", n)
}

// GoString is String, so that no verb of fmt shows a secret.
func (c *Credentials) GoString() string { return c.String() }
