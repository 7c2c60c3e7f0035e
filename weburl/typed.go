package weburl

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUser is the error of ParseTyped for a URL with a user name, which [Parse] would drop. Its text has
// no password.
var ErrUser = errors.New("a user name or password in a URL is not used; crawl --credentials names a file for them")

// ParseTyped parses a URL as users type it: without a scheme it is an https URL, so that
// "example.org" is https://example.org/. Its errors quote s, except ErrUser.
func ParseTyped(s string) (URL, error) {
	raw := s
	if !hasScheme(s) {
		s = "https://" + s
	}
	if hasUser(s) {
		return URL{}, ErrUser
	}
	u, err := Parse(s)
	switch {
	case errors.Is(err, ErrSyntax): // without the details of the parser's states
		return u, fmt.Errorf("%q is %w", raw, ErrSyntax)
	case err != nil:
		return u, fmt.Errorf("%q is not a valid URL: %w", raw, err)
	}
	return u, nil
}

// hasUser reports whether a URL with a scheme has a user name or password.
func hasUser(s string) bool {
	_, rest, _ := strings.Cut(s, ":")
	rest = strings.TrimLeft(rest, "/")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return strings.Contains(rest, "@")
}

// hasScheme reports whether s begins with a scheme and "://".
func hasScheme(s string) bool {
	i := strings.IndexAny(s, ":/?#")
	return i >= 0 && strings.HasPrefix(s[i:], "://")
}
