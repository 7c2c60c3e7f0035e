package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/draw"
	"golang.org/x/image/webp"
	"golang.org/x/sync/semaphore"

	"anatomy/vocab"
)

const (
	thumbnailSide = 400      // pixels of width and of height at most
	maxPixels     = 20 << 20 // of an image that is made smaller; of all that are at once
	quality       = 80       // of JPEG
)

// A picture is an image as we pass it on.
type picture struct {
	kind string // media type
	body []byte
}

// A decoder reads images of one type. config reads no more than the header.
type decoder struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

var decoders = map[string]decoder{
	"image/jpeg": {jpeg.DecodeConfig, jpeg.Decode},
	"image/png":  {png.DecodeConfig, png.Decode},
	"image/gif":  {gif.DecodeConfig, gif.Decode}, // the first picture of several
	"image/webp": {webp.DecodeConfig, webp.Decode},
	"image/bmp":  {bmp.DecodeConfig, bmp.Decode},
}

// errPicture is why an image is not passed on.
var errPicture = errors.New("no image that can be shown")

// A thumbnailer makes images small. What comes out was drawn by us: no comment, profile or second
// meaning of the bytes gets through. An image of many pixels in few bytes is refused by its header.
type thumbnailer struct {
	pixels *semaphore.Weighted // that are worked on: one of the largest, or many small ones
}

func newThumbnailer() *thumbnailer { return &thumbnailer{semaphore.NewWeighted(maxPixels)} }

// thumbnail makes a picture of an image as it was fetched.
func (t *thumbnailer) thumbnail(ctx context.Context, page *vocab.Page) (*picture, error) {
	if page.ContentType == svgType {
		return svgPicture(page.Body)
	}
	d, ok := decoders[page.ContentType]
	if !ok {
		return nil, fmt.Errorf("%w: %s", errPicture, page.ContentType)
	}
	config, err := d.config(bytes.NewReader(page.Body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPicture, err)
	}
	if config.Width < 1 || config.Height < 1 || config.Width > maxPixels/config.Height {
		return nil, fmt.Errorf("%w: it is %d × %d pixels", errPicture, config.Width, config.Height)
	}
	pixels := int64(config.Width * config.Height)
	if err := t.pixels.Acquire(ctx, pixels); err != nil {
		return nil, err
	}
	defer t.pixels.Release(pixels)
	full, err := d.decode(bytes.NewReader(page.Body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPicture, err)
	}
	return scaled(full)
}

// scaled draws an image, no larger than it is and within thumbnailSide, on white.
func scaled(full image.Image) (*picture, error) {
	from := full.Bounds()
	if from.Empty() {
		return nil, errPicture
	}
	long := max(from.Dx(), from.Dy(), thumbnailSide)
	small := image.NewRGBA(image.Rect(0, 0, max(from.Dx()*thumbnailSide/long, 1), max(from.Dy()*thumbnailSide/long, 1)))
	draw.Draw(small, small.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	if small.Rect.Size() == from.Size() {
		draw.Draw(small, small.Rect, full, from.Min, draw.Over)
	} else {
		draw.BiLinear.Scale(small, small.Rect, full, from, draw.Over, nil)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, small, &jpeg.Options{Quality: quality}); err != nil {
		return nil, fmt.Errorf("%w: %w", errPicture, err)
	}
	return &picture{"image/jpeg", b.Bytes()}, nil
}
