package htmltoken

import "bytes"

// An attribute has the offsets of a key and its value in the page.
type attribute struct {
	key, val [2]int
}

// scanAttribute reads the attribute at s[i] and returns the index after it. The key may be empty
// (HTML 13.2.5.32 to 39).
func scanAttribute(s []byte, i int) (a attribute, next int) {
	a.key[0] = i
	if i < len(s) && s[i] == '=' {
		i++
	}
	for i < len(s) && !endsName(s[i]) && s[i] != '=' {
		i++
	}
	a.key[1], a.val = i, [2]int{i, i}
	i = skipSpace(s, i)
	if i < len(s) && s[i] == '/' {
		return a, i + 1
	}
	if i == len(s) || s[i] != '=' {
		return a, i
	}
	i = skipSpace(s, i+1)
	if i == len(s) || s[i] == '>' {
		return a, i
	}
	if quote := s[i]; quote == '"' || quote == '\'' {
		n := bytes.IndexByte(s[i+1:], quote)
		if n < 0 {
			a.val = [2]int{i + 1, len(s)}
			return a, len(s)
		}
		a.val = [2]int{i + 1, i + 1 + n}
		return a, i + n + 2
	}
	a.val[0] = i
	for i < len(s) && s[i] != '>' && !isSpace(s[i]) {
		i++
	}
	a.val[1] = i
	return a, i
}

// commentEnd returns the index after the comment whose content begins at i. A comment ends at "-->"
// or "--!>", or at a ">" that is its first character or follows a single dash (HTML 13.2.5.43 to 52).
func commentEnd(s []byte, i int) int {
	for p := i; ; p++ {
		n := bytes.IndexByte(s[p:], '>')
		if n < 0 {
			return len(s)
		}
		p += n
		switch content := s[i:p]; {
		case len(content) == 0, string(content) == "-", bytes.HasSuffix(content, []byte("--")),
			bytes.HasSuffix(content, []byte("--!")):
			return p + 1
		}
	}
}

// rawEnd returns the index of the end tag of the raw element name whose content begins at s[i], or
// len(s).
func rawEnd(s []byte, i int, name string) int {
	for {
		n := bytes.Index(s[i:], []byte("</"))
		if n < 0 {
			return len(s)
		}
		var found bool
		if i, found = rawEndTag(s, i+n+2, name); found || i == len(s) {
			return i
		}
	}
}

// rawEndTag reports whether the end tag of name is at s[i], after "</". If it is, next is the index
// of its "<"; otherwise next is the index of the first byte that differs.
func rawEndTag(s []byte, i int, name string) (next int, found bool) {
	start := i - 2
	for k := range len(name) {
		if i == len(s) || s[i]|0x20 != name[k] {
			return i, false
		}
		i++
	}
	if i == len(s) || !endsName(s[i]) {
		return i, false
	}
	return start, true
}

// EqualLower reports whether s equals lower when the ASCII letters of s are in lower case.
func EqualLower(s []byte, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i, c := range s {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// spaces is the white space of HTML.
var spaces = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, '\f': true}

func isSpace(c byte) bool { return spaces[c] }

// nameEnds are the bytes that end the name of a tag or attribute.
var nameEnds = [256]bool{
	' ': true, '\t': true, '\n': true, '\r': true, '\f': true, '>': true, '/': true,
}

func endsName(c byte) bool { return nameEnds[c] }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isAlphanumeric(c byte) bool { return isDigit(c) || isLetter(c) }

func skipSpace(s []byte, i int) int {
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	return i
}
