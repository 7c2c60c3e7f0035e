package weburl

// AppendText appends the text of the URL field: host, path and query, without escapes and with a space
// for every low line. Pages and documents known only from links are found by the same terms.
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
