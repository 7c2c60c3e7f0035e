package weburl

// Parse parses an absolute http or https URL. If raw is canonical, the URL shares its memory. The error
// is or wraps ErrScheme, ErrTooLong, ErrHost or ErrSyntax.
func Parse(raw string) (URL, error) {
	var none URL
	return none.Join(raw)
}

// Join resolves a reference on the page at base. The reference may be absolute.
func (base *URL) Join(ref string) (URL, error) {
	var buf [512]byte
	b, parts, result := parseFast(base, buf[:0], ref)
	switch result {
	case foreign:
		return URL{}, ErrScheme
	case unusual:
		return parseSlow(base, ref)
	}
	if string(b) == base.s { // links within a page are frequent
		return *base, nil
	}
	return parts.finish(b, ref)
}
