// Package jsontoken has what readers of JSON by tokens share.
package jsontoken

import "encoding/json"

// Skip reads to the end of the object or array whose opening bracket was read last. It reports
// whether it came there.
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
