package weburl

// finish returns the URL with the canonical bytes b, without tracking parameters and sessions. It shares
// the memory of raw if that is equal.
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
