package text

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"anatomy/weburl"
)

// Linkable returns http and https URLs, and "" for others, such as javascript:, which must not
// become links.
func Linkable(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return ""
	}
	return raw
}

// Breadcrumb returns a URL in readable parts: the host, then the decoded steps of the path. It
// removes characters that are invisible or change the direction of writing, which could make one
// host look like another.
func Breadcrumb(raw string) []string {
	const maxSteps = 5
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return []string{Shorten(Visible(raw), 80)}
	}
	crumbs := []string{Shorten(Visible(u.Host), 64)}
	for step := range strings.SplitSeq(u.EscapedPath(), "/") {
		if plain, err := url.PathUnescape(step); err == nil && utf8.ValidString(plain) {
			step = plain
		}
		if step = Visible(step); step != "" {
			crumbs = append(crumbs, Shorten(step, 48))
		}
	}
	if len(crumbs) > maxSteps {
		crumbs = slices.Concat(crumbs[:2], []string{"…"}, crumbs[len(crumbs)-2:])
	}
	if u.RawQuery != "" {
		crumbs[len(crumbs)-1] += Shorten("?"+Visible(u.RawQuery), 32)
	}
	return crumbs
}

// Visible removes characters that do not print.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// Shorten cuts a text to at most limit characters.
func Shorten(s string, limit int) string {
	n := 0
	for i := range s {
		if n++; n > limit {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// LangTag returns a well-formed language tag (RFC 5646), and "" for others.
func LangTag(s string) string {
	if len(s) < 2 || len(s) > 35 {
		return ""
	}
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (i < 2 || s[i] != '-' && (s[i] < '0' || s[i] > '9')) {
			return ""
		}
	}
	return s
}

// HostOf returns the host of a URL with its port, or "".
func HostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}

// SiteName is a site as people write it, or as lists of blocked sites do: "https://example.org/",
// "*://*.example.org/*".
func SiteName(raw string) (string, bool) {
	name := strings.TrimPrefix(raw, "@") // uBlacklist marks lines for search engines with @
	if _, rest, ok := strings.Cut(name, "://"); ok {
		name = rest
	}
	name = strings.TrimRight(strings.TrimSuffix(strings.TrimPrefix(name, "*."), "*"), "/")
	u, err := weburl.Parse("http://" + name)
	if err != nil || strings.ContainsAny(name, notInSites) || strings.Contains(name, "..") || strings.Contains(name, "//") {
		return "", false
	}
	name = strings.TrimRight(strings.TrimPrefix(u.String(), "http://"), "/")
	_, _, ok := weburl.SiteKeys(name)
	return name, ok && len(name) <= 300 && !strings.ContainsAny(name, notInSites) // %7B in a host is {
}

const notInSites = " *!<>\"'(){}|,;"

// MaxTitle limits a title in results, in characters: about four lines on a phone.
const MaxTitle = 110
