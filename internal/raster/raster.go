// Package raster decodes images that sites send. Their bytes are untrusted.
package raster

import (
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"
)

// A Decoder decodes one image type. Config reads only the header.
type Decoder struct {
	Config func(io.Reader) (image.Config, error)
	Decode func(io.Reader) (image.Image, error)
}

// Decoders are the decoders by media type.
var Decoders = map[string]Decoder{
	"image/jpeg": {jpeg.DecodeConfig, jpeg.Decode},
	"image/png":  {png.DecodeConfig, png.Decode},
	"image/gif":  {gif.DecodeConfig, gif.Decode}, // the first frame
	"image/webp": {webp.DecodeConfig, webp.Decode},
	"image/bmp":  {bmp.DecodeConfig, bmp.Decode},
}

// errIcon is the error of Icon for content that cannot be shown.
var errIcon = errors.New("no icon that can be shown")
