package weburl

import (
	"fmt"
	"strings"

	"github.com/nlnwa/whatwg-url/url"
)

// standard is the parser of the WHATWG URL Standard, which escapes '^' in paths since 2024. It is safe
// for concurrent use.
var standard = url.NewParser(url.WithAcceptInvalidCodepoints(),
	url.WithPathPercentEncodeSet(url.PathPercentEncodeSet.Set('^')))

// parseSlow parses the URLs that the fast path rejects, about thirty times slower.
func parseSlow(base *URL, ref string) (u URL, err error) {
	ref = trimControls(ref)
	if len(ref) > maxRaw {
		return URL{}, ErrTooLong
	}
	// The input is untrusted: a panic of the library costs one link.
	defer func() {
		if r := recover(); r != nil {
			u, err = URL{}, fmt.Errorf("%w: %v", ErrSyntax, r)
		}
	}()
	parsed, err := parseStandard(base, ref)
	if err != nil {
		return URL{}, fmt.Errorf("%w: %v", ErrSyntax, err)
	}
	if s := parsed.Scheme(); s != "http" && s != "https" {
		return URL{}, ErrScheme
	}
	return canonical(parsed)
}

func parseStandard(base *URL, ref string) (*url.Url, error) {
	if base.s == "" {
		return standard.Parse(ref)
	}
	return standard.ParseRef(base.s, ref)
}

// canonical returns the canonical form of a URL of the standard.
func canonical(parsed *url.Url) (URL, error) {
	name := strings.TrimSuffix(parsed.Hostname(), ".")
	if name == "" || name[0] == '.' || strings.Contains(name, "..") || name[len(name)-1] == '.' {
		return URL{}, ErrHost
	}
	var l layout
	b := append([]byte(parsed.Scheme()), "://"...)
	b = append(b, name...)
	l.name = len(b)
	if port := parsed.Port(); port != "" {
		b = append(append(b, ':'), port...)
	}
	l.host = len(b)
	b = normalizeEscapes(append(b, parsed.Pathname()...), l.host)
	l.query = len(b)
	if href := parsed.Href(true); strings.Contains(href, "?") {
		b = append(b, href[strings.IndexByte(href, '?'):]...)
		b = normalizeEscapes(b, l.query)
	}
	return l.finish(b, "")
}
