package weburl

import "strings"

// Classes of bytes in a path or query. The standard escapes, strips or changes bytes of class 0 in
// some position: they take the slow path.
const (
	classPlain  = 1 << iota
	classEscape // %
	classDot
	classHost // in a host name as it is, once in lower case
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

// trimControls removes C0 controls and spaces at both ends.
func trimControls(s string) string {
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	for s != "" && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// cutScheme cuts "http://" or "https://" off, in any case.
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

// schemeColon returns the index of the colon after a scheme, or 0. A scheme is an ASCII letter, then
// letters, digits, '+', '-', '.'.
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

// removeDots resolves the segments "." and ".." of the path b[from:] in place. A path never climbs above
// its root, and one that ends in either segment ends in a slash.
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

// normalizeEscapes decodes the escapes of unreserved characters in b[from:], in place, and writes the
// digits of others in upper case. If one is malformed, nothing is changed: decoding "%4%31" would make
// an escape that was not there.
func normalizeEscapes(b []byte, from int) []byte {
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

// unhex returns the value of a hexadecimal digit, or -1 for other bytes.
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
