package robots

const upperHex = "0123456789ABCDEF"

// normalize returns the form in which paths and patterns are compared (RFC 9309 §2.2.2): unreserved
// characters unescaped, octets outside ASCII escaped, the hex digits of escapes in upper case. It
// returns s itself if that is already so.
func normalize(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] == '%' || s[i] >= 0x80 {
			return rewrite(s, i, unreserved)
		}
	}
	return s
}

// escape is normalize that unescapes only marks: "/%7Ejoe/" is often written.
func escape(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] == '%' || s[i] >= 0x80 {
			return rewrite(s, i, isMark)
		}
	}
	return s
}

func rewrite(s string, from int, bare func(byte) bool) string {
	out := append(make([]byte, 0, len(s)+16), s[:from]...)
	for i := from; i < len(s); i++ {
		b := s[i]
		switch {
		case b == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			octet := unhex(s[i+1])<<4 | unhex(s[i+2])
			if bare(octet) {
				out = append(out, octet)
			} else {
				out = append(out, '%', upperHex[octet>>4], upperHex[octet&15])
			}
			i += 2
		case b >= 0x80:
			out = append(out, '%', upperHex[b>>4], upperHex[b&15])
		default:
			out = append(out, b)
		}
	}
	return string(out)
}

// unreserved reports whether b is in that class of RFC 3986 §2.3.
func unreserved(b byte) bool {
	return isLetter(b) || '0' <= b && b <= '9' || isMark(b)
}

func isMark(b byte) bool { return b == '-' || b == '.' || b == '_' || b == '~' }

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

func isHex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'f'
}

func unhex(b byte) byte {
	if b <= '9' {
		return b - '0'
	}
	return b | 0x20 - 'a' + 10
}
