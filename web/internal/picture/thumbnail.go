package picture

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"

	"anatomy/internal/raster"
	"anatomy/vocab"

	"golang.org/x/image/draw"
	"golang.org/x/sync/semaphore"
)

const (
	thumbnailSide = 400      // maximum width and height, in pixels
	maxPixels     = 20 << 20 // of one image, and of all that are decoded at once
	quality       = 80       // JPEG quality
)

// A thumbnailer makes images small. It draws the output itself, so no comment, profile or second
// meaning of the input survives. The header of an image decides whether its pixels are too many.
type thumbnailer struct {
	pixels *semaphore.Weighted // pixels in decoding
}

func newThumbnailer() *thumbnailer { return &thumbnailer{semaphore.NewWeighted(maxPixels)} }

// thumbnail returns the small image of a fetched one.
func (t *thumbnailer) thumbnail(ctx context.Context, page *vocab.Page) (*picture, error) {
	if page.ContentType == SVGType {
		return svgPicture(page.Body)
	}
	d, ok := raster.Decoders[page.ContentType]
	if !ok {
		return nil, fmt.Errorf("%w: %s", errPicture, page.ContentType)
	}
	config, err := d.Config(bytes.NewReader(page.Body))
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
	full, err := d.Decode(bytes.NewReader(page.Body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPicture, err)
	}
	return scaled(full)
}

// scaled draws an image on white, at most thumbnailSide wide and high, and never enlarges it.
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
