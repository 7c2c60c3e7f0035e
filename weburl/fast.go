package weburl

import "strings"

// A verdict is the result of the fast path.
type verdict int

const (
	parsed  verdict = iota
	unusual         // to be parsed by the slow path
	foreign         // another scheme
)

// parseFast parses the form of nearly all links: printable ASCII, nothing to escape, an ordinary host. It
// appends the canonical URL to b. Its results equal those of the slow path (FuzzFastIsSlow).
func parseFast(base *URL, b []byte, ref string) ([]byte, layout, verdict) {
	var l layout
	ref = trimControls(ref)
	if i := strings.IndexByte(ref, '#'); i >= 0 {
		ref = ref[:i]
	}
	if len(ref) > maxRaw {
		return b, l, unusual
	}
	if rest, scheme := cutScheme(ref); scheme != "" {
		return parseHost(append(b, scheme...), rest)
	}
	if base.s == "" {
		return b, l, unusual
	}
	if strings.HasPrefix(ref, "//") {
		return parseHost(append(b, base.s[:base.hostStart()]...), ref[2:])
	}
	l = layout{name: int(base.name), host: int(base.host), query: int(base.query)}
	switch {
	case ref == "":
		return append(b, base.s...), l, parsed
	case ref[0] == '/':
		return parsePath(append(b, base.s[:base.host]...), l, ref)
	case ref[0] == '?':
		return parseQuery(append(b, base.s[:base.query]...), l, ref)
	}
	if c := schemeColon(ref); c > 0 {
		if s := ref[:c]; strings.EqualFold(s, "http") || strings.EqualFold(s, "https") {
			return b, l, unusual
		}
		return b, l, foreign
	}
	dir := strings.LastIndexByte(base.s[:base.query], '/') + 1
	return parsePath(append(b, base.s[:dir]...), l, ref)
}

// parseHost parses s, the URL after "http://", and appends it to b, which ends in that.
func parseHost(b []byte, s string) ([]byte, layout, verdict) {
	var l layout
	i, label := 0, 0 // label is the index of the current one
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' {
			if i == label {
				return b, l, unusual
			}
			label = i + 1
		} else if classes[c]&classHost == 0 {
			break
		} else if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c == '-' && i == label+3 && s[i-1] == '-' { // "xn--" and the like
			return b, l, unusual
		}
		b = append(b, c)
	}
	// If the last label does not begin with a letter, the host may be an IP address.
	if i == label || s[label]|0x20 < 'a' || s[label]|0x20 > 'z' {
		return b, l, unusual
	}
	l.name = len(b)
	if i < len(s) && s[i] == ':' {
		port := i + 1
		for i = port; i < len(s) && s[i]-'0' < 10; i++ {
		}
		if b = appendPort(b, s[port:i]); b == nil {
			return b, l, unusual
		}
	}
	l.host = len(b)
	rest := s[i:]
	if rest == "" || rest[0] == '?' {
		b = append(b, '/')
		l.query = len(b)
		return parseQuery(b, l, rest)
	}
	if rest[0] != '/' {
		return b, l, unusual
	}
	return parsePath(b, l, rest)
}

// appendPort appends ":port", unless that is the scheme's default. It returns nil for an unusual port.
func appendPort(b []byte, port string) []byte {
	if len(port) == 0 || len(port) > 4 || port[0] == '0' {
		return nil
	}
	if https := b[len("http")] == 's'; https && port == "443" || !https && port == "80" {
		return b
	}
	return append(append(b, ':'), port...)
}

// parsePath appends the path s and its query to b, which ends in the host, or in the folder to which the
// path is relative.
func parsePath(b []byte, l layout, s string) ([]byte, layout, verdict) {
	var seen uint8
	end := 0
	for ; end < len(s) && s[end] != '?'; end++ {
		class := classes[s[end]]
		if class == 0 {
			return b, l, unusual
		}
		seen |= class
	}
	b = append(b, s[:end]...)
	if seen&classEscape != 0 {
		if path := string(b[l.host:]); strings.Contains(path, "%2e") || strings.Contains(path, "%2E") {
			return b, l, unusual // an escaped dot is a dot
		}
		b = normalizeEscapes(b, l.host)
	}
	if seen&classDot != 0 {
		b = removeDots(b, l.host)
	}
	l.query = len(b)
	return parseQuery(b, l, s[end:])
}

// parseQuery appends the query s with its '?', or nothing.
func parseQuery(b []byte, l layout, s string) ([]byte, layout, verdict) {
	if s == "" {
		return b, l, parsed
	}
	var seen uint8
	for i := 1; i < len(s); i++ {
		class := classes[s[i]]
		if class == 0 && s[i] != '?' {
			return b, l, unusual
		}
		seen |= class
	}
	b = append(b, s...)
	if seen&classEscape != 0 {
		b = normalizeEscapes(b, l.query)
	}
	return b, l, parsed
}
