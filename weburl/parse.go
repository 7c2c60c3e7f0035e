package weburl

import "strings"

// Parse reads an absolute http or https URL. Where raw is canonical already, the URL shares its
// memory.
func Parse(raw string) (URL, error) {
	var none URL
	return none.Join(raw)
}

// Join resolves a reference found on the page at base, which may be absolute itself.
func (base *URL) Join(ref string) (URL, error) {
	var buf [512]byte
	b, parts, found := base.fast(buf[:0], ref)
	switch found {
	case foreign:
		return URL{}, ErrScheme
	case unusual:
		return base.slow(ref)
	}
	if string(b) == base.s { // links within a page are many
		return *base, nil
	}
	return parts.finish(b, ref)
}

// A finding of the fast path.
type finding int

const (
	ordinary finding = iota // parsed
	unusual                 // the slow path has to say
	foreign                 // another scheme
)

// layout is where the parts of a URL under construction end, see [URL].
type layout struct{ name, host, query int }

// finish makes the URL of its canonical bytes.
func (l layout) finish(b []byte, raw string) (URL, error) {
	b, l = dropNoise(b, l)
	if len(b) > MaxLength {
		return URL{}, ErrTooLong
	}
	if string(b) != raw {
		raw = string(b)
	}
	return URL{s: raw, name: uint16(l.name), host: uint16(l.host), query: uint16(l.query)}, nil
}

// The classes of bytes in a path or query. Bytes of class 0 are escaped, stripped or changed by the
// standard in one place or another: they take the slow path.
const (
	classPlain  = 1 << iota
	classEscape // %
	classDot
	classHost // in a host name as it is, once lower case
)

var classes = makeClasses()

func makeClasses() (t [256]uint8) {
	for c := 0; c < 256; c++ {
		b := byte(c)
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b == '-', b == '_':
			t[c] = classPlain | classHost
		case b == '.':
			t[c] = classPlain | classDot
		case b == '%':
			t[c] = classPlain | classEscape
		case strings.IndexByte("~!$&()*+,;=:@/|[]", b) >= 0:
			t[c] = classPlain
		}
	}
	return t
}

// fast parses what nearly all links look like: printable ASCII, nothing to escape, an ordinary
// host. It appends the canonical URL to b. It never differs from the slow path: FuzzFastIsSlow.
func (base *URL) fast(b []byte, ref string) ([]byte, layout, finding) {
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
		return append(b, base.s...), l, ordinary
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

// trimControls drops C0 controls and spaces at both ends.
func trimControls(s string) string {
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	for s != "" && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// cutScheme takes "http://" or "https://" off, in any case.
func cutScheme(s string) (rest, scheme string) {
	if len(s) < len("http://") || s[0]|0x20 != 'h' {
		return s, ""
	}
	for _, scheme := range [...]string{"https://", "http://"} {
		if len(s) >= len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return s[len(scheme):], scheme
		}
	}
	return s, ""
}

// schemeColon is where the colon of a scheme is, or 0: an ASCII letter, then letters, digits, '+',
// '-', '.'.
func schemeColon(s string) int {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case c == ':':
			return i
		default:
			return 0
		}
	}
	return 0
}

// parseHost parses what follows "http://", appending to b, which ends in that.
func parseHost(b []byte, s string) ([]byte, layout, finding) {
	var l layout
	i, label := 0, 0 // label: where the present one begins
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
		if c == '-' && i == label+3 && s[i-1] == '-' { // "xn--" and its kin
			return b, l, unusual
		}
		b = append(b, c)
	}
	// A last label that does not begin with a letter may be a number, and the host an address.
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

// appendPort appends ":port" unless it is the scheme's own; nil for a port that needs more thought.
func appendPort(b []byte, port string) []byte {
	if len(port) == 0 || len(port) > 4 || port[0] == '0' {
		return nil
	}
	if https := b[len("http")] == 's'; https && port == "443" || !https && port == "80" {
		return b
	}
	return append(append(b, ':'), port...)
}

// parsePath appends a path and what follows it to b, which ends in the host, or in the folder that
// the path is relative to.
func parsePath(b []byte, l layout, s string) ([]byte, layout, finding) {
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
		b = normaliseEscapes(b, l.host)
	}
	if seen&classDot != 0 {
		b = removeDots(b, l.host)
	}
	l.query = len(b)
	return parseQuery(b, l, s[end:])
}

// parseQuery appends a query with its '?', or nothing.
func parseQuery(b []byte, l layout, s string) ([]byte, layout, finding) {
	if s == "" {
		return b, l, ordinary
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
		b = normaliseEscapes(b, l.query)
	}
	return b, l, ordinary
}

// removeDots resolves the segments "." and ".." of the path b[from:] in place. A path never climbs
// above its root, and one that ends in either ends in a slash.
func removeDots(b []byte, from int) []byte {
	out := from // b[from:out] is done, and ends before a slash
	for in := from; in < len(b); {
		end := in + 1
		for end < len(b) && b[end] != '/' {
			end++
		}
		last := end == len(b)
		switch segment := string(b[in+1 : end]); segment {
		case ".":
		case "..":
			for out > from {
				out--
				if b[out] == '/' {
					break
				}
			}
		default:
			out += copy(b[out:], b[in:end])
			last = false
		}
		if last {
			b[out] = '/'
			out++
		}
		in = end
	}
	return b[:out]
}

// normaliseEscapes decodes the escapes of unreserved characters in b[from:], in place, and gives the
// others upper-case digits. Where one is malformed, nothing is changed: decoding "%4%31" would make
// an escape that was not there.
func normaliseEscapes(b []byte, from int) []byte {
	for i := from; i < len(b); i++ {
		if b[i] == '%' && (i+2 >= len(b) || unhex(b[i+1]) < 0 || unhex(b[i+2]) < 0) {
			return b
		}
	}
	out := from
	for in := from; in < len(b); in++ {
		c := b[in]
		if c == '%' {
			decoded := byte(unhex(b[in+1])<<4 | unhex(b[in+2]))
			in += 2
			if classes[decoded]&(classHost|classDot) == 0 && decoded != '~' {
				b[out], b[out+1] = '%', upperHex[decoded>>4]
				out += 2
				decoded = upperHex[decoded&15]
			}
			c = decoded
		}
		b[out] = c
		out++
	}
	return b[:out]
}

const upperHex = "0123456789ABCDEF"

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
