package sorter

import "anatomy/weburl"

// urlText is a URL as text to be cut into words, as the indexer does for pages: host, path and query
// with their escapes undone, and low lines parting words.
func urlText(u *weburl.URL) []byte {
	text := append([]byte(u.Hostname()), u.Path()...)
	if q := u.Query(); q != "" {
		text = append(append(text, '?'), q...)
	}
	out := text[:0]
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '%' && i+2 < len(text) {
			if hi, lo := unhex(text[i+1]), unhex(text[i+2]); hi >= 0 && lo >= 0 {
				c = byte(hi<<4 | lo)
				i += 2
			}
		}
		if c == '_' {
			c = ' '
		}
		out = append(out, c)
	}
	return out
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
