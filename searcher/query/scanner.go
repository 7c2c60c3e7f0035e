package query

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"anatomy/analysis"
)

// A scanner reads the words and operators of a text.
type scanner struct {
	text   string
	at     int
	object int // start of the object of an operator
}

// A span is the bytes [from, to) of the text.
type span struct{ from, to int }

// clean returns a text as UTF-8 of at most MaxBytes, with control characters as spaces and
// typographic quotes as plain ones. tooLong reports whether it was truncated.
func clean(text string) (cleaned string, tooLong bool) {
	if len(text) > MaxBytes {
		tooLong = true
		n := MaxBytes
		for n > MaxBytes-utf8.UTFMax && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '“' || r == '”' || r == '„' || r == '‟':
			return '"'
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.IsSpace(r):
			return ' '
		}
		return r
	}, text), tooLong
}

// skipSpaces skips spaces and reports whether text follows.
func (s *scanner) skipSpaces() bool {
	for s.at < len(s.text) && s.text[s.at] == ' ' {
		s.at++
	}
	return s.at < len(s.text)
}

// takeSigns consumes a run of signs between spaces that may be a term, such as ->.
func (s *scanner) takeSigns() string {
	if !s.atStart() {
		return ""
	}
	end := s.at
	for end < len(s.text) && s.text[end] != ' ' {
		end++
	}
	signs := s.text[s.at:end]
	if !analysis.IsSigns(signs) || strings.Trim(signs, "|") == "" && signs != strings.TrimSpace(s.text) {
		return ""
	}
	s.at = end
	return signs
}

func (s *scanner) takeOr() bool {
	if s.skipSpaces() && s.text[s.at] == '|' {
		s.at++
		return true
	}
	return s.takeWord("OR")
}

// takeWord consumes an operator that is delimited by spaces or parentheses.
func (s *scanner) takeWord(op string) bool {
	if !s.atWord(op) {
		return false
	}
	s.at += len(op)
	return true
}

func (s *scanner) atWord(op string) bool {
	if !s.skipSpaces() || !strings.HasPrefix(s.text[s.at:], op) || !s.atStart() {
		return false
	}
	end := s.at + len(op)
	return end == len(s.text) || strings.ContainsRune(" ()|", rune(s.text[end]))
}

// atStart reports whether a word may begin here: after a space or parenthesis, or as the object of
// an operator.
func (s *scanner) atStart() bool {
	return s.at == s.object || strings.IndexByte(" ()|", s.text[s.at-1]) >= 0
}

// takeSign consumes a minus or plus directly before its operand.
func (s *scanner) takeSign(sign byte, not string) bool {
	if s.text[s.at] != sign || !s.atStart() || s.at+1 == len(s.text) ||
		strings.IndexByte(not, s.text[s.at+1]) >= 0 {
		return false
	}
	s.at++
	return true
}

// takeMinus consumes a single minus. Two or more minuses, as in --help, are not an operator, and
// neither is the minus of an option.
func (s *scanner) takeMinus() bool {
	return s.text[s.at] == '-' && !isOption(s.text[s.at+1:]) && s.takeSign('-', " )|-")
}

// takePlus consumes a single plus directly before a word or phrase.
func (s *scanner) takePlus() bool { return s.takeSign('+', " ()|+-") }

// takeAround consumes AROUND(n).
func (s *scanner) takeAround() (within int, ok bool) {
	if !s.skipSpaces() || !strings.HasPrefix(s.text[s.at:], "AROUND(") || !s.atStart() {
		return 0, false
	}
	from := s.at + len("AROUND(")
	within, end := number(s.text, from)
	if end == from || end == len(s.text) || s.text[end] != ')' {
		return 0, false
	}
	s.at = end + 1
	return within, true
}

// takeTilde consumes ~n directly after a quote.
func (s *scanner) takeTilde() (within int, ok bool) {
	if s.at == len(s.text) || s.text[s.at] != '~' {
		return 0, false
	}
	within, end := number(s.text, s.at+1)
	if end == s.at+1 || end < len(s.text) && strings.IndexByte(" ()|", s.text[end]) < 0 {
		return 0, false
	}
	s.at = end
	return within, true
}

// number parses digits; it returns at most MaxWithin.
func number(text string, from int) (n, end int) {
	for end = from; end < len(text) && '0' <= text[end] && text[end] <= '9'; end++ {
		n = min(10*n+int(text[end]-'0'), MaxWithin)
	}
	return n, end
}

// fieldOperators are the operators of fields, with alternative names.
var fieldOperators = [...]struct {
	name string
	in   Field
}{
	{"intitle:", InTitle}, {"inurl:", InURL}, {"inanchor:", InAnchor},
	{"intext:", InText}, {"inbody:", InText}, {"inalt:", InAlt},
}

// takeField consumes intitle: and the like if an object follows.
func (s *scanner) takeField() (in Field, ok bool) {
	for _, f := range fieldOperators {
		rest, ok := cutFold(s.text[s.at:], f.name)
		if ok && rest != "" && strings.IndexByte(" )|", rest[0]) < 0 {
			s.at += len(f.name)
			s.object = s.at
			return f.in, true
		}
	}
	return Anywhere, false
}

// takeAllInField consumes allintitle: and the like, which apply to the rest of the group.
func (s *scanner) takeAllInField() (in Field, ok bool) {
	after, ok := cutFold(s.text[s.at:], "all")
	if !ok {
		return Anywhere, false
	}
	for _, f := range fieldOperators {
		rest, ok := cutFold(after, f.name)
		object := strings.TrimLeft(rest, " ")
		if ok && object != "" && strings.IndexByte(")|", object[0]) < 0 {
			s.at = len(s.text) - len(object)
			s.object = s.at
			return f.in, true
		}
	}
	return Anywhere, false
}

// word reads up to a space, quote, bar or parenthesis. Balanced parentheses are part of the object
// of an operator that takes a URL.
func (s *scanner) word() string {
	start := s.at
	takesURL := s.takesURL()
	var open []int // positions of unclosed parentheses
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '(' && takesURL:
			open = append(open, s.at)
			continue
		case c == ')' && len(open) > 0:
			open = open[:len(open)-1]
			continue
		case strings.IndexByte(" |()", c) < 0 && (c != '"' || s.hebrewQuote()):
			continue
		}
		break
	}
	if len(open) > 0 {
		s.at = open[0]
	}
	return s.text[start:s.at]
}

// takesURL reports whether the word is an operator whose object is a URL or a part of one.
func (s *scanner) takesURL() bool {
	for _, name := range [...]string{"site:", "link:", "related:", "info:", "cache:"} {
		if _, ok := cutFold(s.text[s.at:], name); ok {
			return true
		}
	}
	return false
}

// quoted reads the phrase that begins at a quote.
func (s *scanner) quoted() string {
	s.at++
	start := s.at
	for s.at < len(s.text) && (s.text[s.at] != '"' || s.hebrewQuote()) {
		s.at++
	}
	text := s.text[start:s.at]
	if s.at < len(s.text) {
		s.at++
	}
	return text
}

// hebrewQuote reports whether the current quote is part of a Hebrew abbreviation (UAX #29 WB7b).
func (s *scanner) hebrewQuote() bool {
	before, _ := utf8.DecodeLastRuneInString(s.text[:s.at])
	after, _ := utf8.DecodeRuneInString(s.text[s.at+1:])
	return unicode.Is(unicode.Hebrew, before) && unicode.Is(unicode.Hebrew, after)
}
