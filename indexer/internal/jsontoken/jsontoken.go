// Package jsontoken skips values of JSON that is read token by token.
package jsontoken

import "encoding/json"

// Skip reads to the end of the object or array whose opening bracket was read last. It returns false
// if the input ends before or is not valid.
func Skip(d *json.Decoder) bool {
	for open := 1; open > 0; {
		token, err := d.Token()
		if err != nil {
			return false
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
	}
	return true
}
