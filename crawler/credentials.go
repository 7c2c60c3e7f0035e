package crawler

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"anatomy/weburl"
)

// Credentials are what our requests to some origins carry: a password, a token, header fields of the
// operator's own. They are kept by origin, scheme, host and port together, and a request looks up its
// own: so nothing is ever sent to another origin, not to http where the file says https, not to a
// subdomain, and not along a redirect.
//
// They come from a file that nobody but its owner may read or write:
//
//	# what follows the origin is the kind, and what follows that the secret, to the end of the line
//	https://wiki.example.org       basic   ada:correct horse
//	https://api.example.org:8443   bearer  eyJhbGciOi
//	https://old.example.org        header  X-Key: 123
//	https://old.example.org        header  Cookie: session=4f2a
//
//	https://forum.example.org      form    /login user=ada&password=correct+horse  Sign out
//	https://data.example.org       oauth2  https://auth.example.org/token client-id client-secret scope
//
// An origin has one line of basic, bearer, form or oauth2 at most, and any number of header. With form the
// page at that path is fetched, its form filled in and sent, and the text at the end of the line is
// what only those see who are in; cookies are kept. With oauth2 a token is fetched where the line says
// (RFC 6749 §4.4). No error and no form of printing shows a secret.
type Credentials struct {
	fields  map[string]http.Header // by origin, as originOf writes it
	signIns map[string]signIn      // by origin
}

// ErrExposed is what ReadCredentials says of a file that others can read or write.
var ErrExposed = errors.New("others can read or write it")

const maxCredentials = 1 << 20 // bytes of the file

// ReadCredentials reads the file of that name.
func ReadCredentials(name string) (*Credentials, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	defer f.Close()
	info, err := f.Stat() // of what was opened: the name may lead elsewhere by now
	switch {
	case err != nil:
		return nil, fmt.Errorf("credentials: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("credentials: %s is no file", name)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("credentials: %s has the mode %04o: %w", name, info.Mode().Perm(), ErrExposed)
	case info.Size() > maxCredentials:
		return nil, fmt.Errorf("credentials: %s has more than %d bytes", name, maxCredentials)
	}
	c, err := parseCredentials(f)
	if err != nil {
		return nil, fmt.Errorf("credentials: %s, %w", name, err)
	}
	return c, nil
}

func parseCredentials(r io.Reader) (*Credentials, error) {
	c := &Credentials{fields: map[string]http.Header{}, signIns: map[string]signIn{}}
	lines := bufio.NewScanner(io.LimitReader(r, maxCredentials))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := c.add(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

// add takes one line. Its errors name the line's form and never what stands in it.
func (c *Credentials) add(line string) error {
	where, rest := word(line)
	kind, secret := word(rest)
	if secret == "" {
		return errors.New("not of the form ORIGIN KIND SECRET")
	}
	u, err := weburl.Parse(where)
	switch {
	case err != nil || strings.Contains(where, "@"):
		return errors.New("does not begin with an origin such as https://example.org")
	case pathAndQuery(&u) != "/" || strings.ContainsAny(where, "?#"):
		return errors.New("the origin has a path: credentials are for all of an origin")
	}
	origin, kind := originOf(&u), strings.ToLower(kind)
	if kind == "form" || kind == "oauth2" {
		return c.addSignIn(origin, kind, secret)
	}
	name, value, err := field(kind, secret)
	if err != nil {
		return err
	}
	if _, double := c.signIns[origin]; double && name == "Authorization" {
		return errSecondSignIn
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

var errSecondSignIn = errors.New("a second way into this origin")

func (c *Credentials) addSignIn(origin, kind, secret string) error {
	s, err := readSignIn(origin, kind, secret)
	if err != nil {
		return err
	}
	if _, double := c.signIns[origin]; double || c.fields[origin]["Authorization"] != nil {
		return errSecondSignIn
	}
	c.signIns[origin] = s
	return nil
}

// word splits a line after its first word.
func word(line string) (first, rest string) {
	at := strings.IndexAny(line, " \t")
	if at < 0 {
		return line, ""
	}
	return line[:at], strings.TrimSpace(line[at:])
}

// field makes the header field of one line.
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
		if slices.Contains(ourFields, name) {
			return "", "", fmt.Errorf("the field %s is the crawler's own", name)
		}
	default:
		return "", "", errors.New("the kind is none of basic, bearer, header, form, oauth2")
	}
	if value == "" || !httpguts.ValidHeaderFieldValue(value) {
		return "", "", errors.New("no value, or one with characters that a header cannot hold")
	}
	return name, value, nil
}

// ourFields decide about the connection, the coding of bodies, or who we say that we are.
var ourFields = []string{"Accept-Encoding", "Connection", "Content-Length", "Expect", "Host", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection",
	"Range", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent"}

// header is what a request to an origin carries: base, and the origin's own fields.
func (c *Credentials) header(origin string, base http.Header) http.Header {
	if c == nil || c.fields[origin] == nil {
		return base
	}
	h := base.Clone()
	for name, values := range c.fields[origin] {
		h[name] = values
	}
	return h
}

// String counts the origins and shows nothing.
func (c *Credentials) String() string {
	if c == nil {
		return "no credentials"
	}
	n := len(c.fields)
	for origin := range c.signIns {
		if c.fields[origin] == nil {
			n++
		}
	}
	return fmt.Sprintf("credentials of %d origins", n)
}

// GoString is String, so that no verb of fmt shows more.
func (c *Credentials) GoString() string { return c.String() }
