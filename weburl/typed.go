package weburl

import (
	"errors"
	"fmt"
	"strings"
)

// ParseTyped parses a URL as users type it: without a scheme it is an https URL, so that
// "example.org" is https://example.org/. Its errors quote s.
func ParseTyped(s string) (URL, error) {
	raw := s
	if !hasScheme(s) {
		s = "https://" + s
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

// hasScheme reports whether s begins with a scheme and "://".
func hasScheme(s string) bool {
	i := strings.IndexAny(s, ":/?#")
	return i >= 0 && strings.HasPrefix(s[i:], "://")
}
