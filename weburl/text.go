package weburl

// AppendText appends the URL as text to be cut into words: host, path and query, with their escapes
// undone and low lines parting words. Pages and documents known by links alone are found by the same
// words of their URLs.
func (u *URL) AppendText(dst []byte) []byte {
	dst = append(dst, u.Hostname()...)
	dst = appendUnescaped(dst, u.Path())
	if q := u.Query(); q != "" {
		dst = appendUnescaped(append(dst, '?'), q)
	}
	return dst
}

func appendUnescaped(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			if hi, lo := unhex(s[i+1]), unhex(s[i+2]); hi >= 0 && lo >= 0 {
				c = byte(hi<<4 | lo)
				i += 2
			}
		}
		if c == '_' {
			c = ' '
		}
		dst = append(dst, c)
	}
	return dst
}
