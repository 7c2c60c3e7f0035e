// Package picture fetches images and makes them small.
package picture

import "errors"

// A Picture is a small image for clients.
type picture struct {
	Kind string // media type
	Body []byte
}

// errPicture refuses an image.
var errPicture = errors.New("no image that can be shown")
