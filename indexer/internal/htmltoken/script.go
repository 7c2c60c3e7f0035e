package htmltoken

import "bytes"

// A scriptState is the state of the tokenizer in a script. A script that contains "<!--" may
// contain "</script>" as well (HTML 13.2.5.15 to 32).
type scriptState uint8

const (
	scriptData          scriptState = iota
	scriptEscaped                   // after "<!--"
	scriptDoubleEscaped             // after "<!--" and "<script"
)

// scriptEnd returns the index of the "</script>" that ends the script at s[i], or len(s). It differs
// from the standard where html.Tokenizer does: "<" followed by neither a letter nor a slash ends the
// escaped state.
func scriptEnd(s []byte, i int) int {
	state, dashes := scriptData, 0 // dashes before s[i] in an escaped state
	for i < len(s) {
		if state == scriptData {
			n := bytes.IndexByte(s[i:], '<')
			if n < 0 {
				return len(s)
			}
			i += n
		}
		c := s[i]
		i++
		switch {
		case c == '<' && i == len(s):
			return i
		case c == '<' && s[i] == '/':
			next, found := rawEndTag(s, i+1, "script")
			switch {
			case found && state == scriptDoubleEscaped:
				next += len("</script>")
				state = scriptEscaped
			case found:
				return next
			}
			i, dashes = next, 0
		case c == '<' && state == scriptData:
			if bytes.HasPrefix(s[i:], []byte("!--")) {
				i += len("!--")
				state, dashes = scriptEscaped, 2
			}
		case c == '<' && state == scriptEscaped && isLetter(s[i]):
			if next, found := rawEndTag(s, i, "script"); found {
				i, state = i+len("script")+1, scriptDoubleEscaped
			} else {
				i = next
			}
			dashes = 0
		case c == '<' && state == scriptEscaped:
			state = scriptData
		case c == '-':
			dashes++
		case c == '>' && dashes >= 2:
			state = scriptData
		default:
			dashes = 0
		}
	}
	return len(s)
}
