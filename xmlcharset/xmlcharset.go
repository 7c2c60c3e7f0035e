// Package xmlcharset reads untrusted XML in the encoding that it declares.
package xmlcharset

import (
	"errors"
	"io"

	"golang.org/x/net/html/charset"
)

// Once returns the CharsetReader of a decoder. It fails at its second call: the decoder calls it for
// every XML declaration, at any position, and each reader would read from the previous one.
func Once() func(label string, in io.Reader) (io.Reader, error) {
	declared := false
	return func(label string, in io.Reader) (io.Reader, error) {
		if declared {
			return nil, errors.New("second XML declaration with an encoding")
		}
		declared = true
		return charset.NewReaderLabel(label, in)
	}
}
