package raster

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"

	"golang.org/x/image/draw"
)

// IconSide is the width and height of an icon, in pixels: twice those at which it is shown.
const IconSide = 32

const maxIconSide = 1024 // pixels of an icon as a site sends it

// Icon returns the icon of a site as a PNG of IconSide. It takes PNG, GIF, JPEG, WebP, BMP and ICO, and
// draws the result itself. The error wraps errIcon if content is none of these, or too large.
func Icon(content []byte) (_ []byte, err error) {
	defer func() {
		if recover() != nil { // of a decoder
			err = errIcon
		}
	}()
	full, err := decodeIcon(content)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errIcon, err)
	}
	from := full.Bounds()
	long := max(from.Dx(), from.Dy())
	if from.Empty() || long > maxIconSide {
		return nil, fmt.Errorf("%w: it is %d × %d pixels", errIcon, from.Dx(), from.Dy())
	}
	width, height := max(1, from.Dx()*IconSide/long), max(1, from.Dy()*IconSide/long)
	at := image.Pt((IconSide-width)/2, (IconSide-height)/2)
	small := image.NewNRGBA(image.Rect(0, 0, IconSide, IconSide))
	draw.BiLinear.Scale(small, image.Rectangle{at, at.Add(image.Pt(width, height))}, full, from, draw.Over, nil)
	var b bytes.Buffer
	if err := png.Encode(&b, small); err != nil {
		return nil, fmt.Errorf("%w: %w", errIcon, err)
	}
	return b.Bytes(), nil
}

func decodeIcon(content []byte) (image.Image, error) {
	kind := http.DetectContentType(content)
	if kind == "image/x-icon" {
		return decodeICO(content)
	}
	d, ok := Decoders[kind]
	if !ok {
		return nil, fmt.Errorf("it is %s", kind)
	}
	c, err := d.Config(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	if c.Width > maxIconSide || c.Height > maxIconSide {
		return nil, fmt.Errorf("it is %d × %d pixels", c.Width, c.Height)
	}
	return d.Decode(bytes.NewReader(content))
}

// The parts of an ICO file: a header, entries, and an image for each, which is a PNG or a BMP without its
// file header whose rows are followed by those of a mask.
const (
	icoHeader  = 6
	icoEntry   = 16
	dibHeader  = 40
	maxICOs    = 64  // entries that are read
	maxICOSide = 256 // pixels; the format has no more
)

// decodeICO decodes the image of a file that is best for IconSide: the smallest that has as many pixels,
// else the largest.
func decodeICO(b []byte) (image.Image, error) {
	if len(b) < icoHeader {
		return nil, errIcon
	}
	best, bestSide := []byte(nil), 0
	for i := range min(int(binary.LittleEndian.Uint16(b[4:])), maxICOs) {
		if len(b) < icoHeader+icoEntry*(i+1) {
			break
		}
		e := b[icoHeader+icoEntry*i:]
		side := int(e[0])
		if side == 0 {
			side = maxICOSide
		}
		size, offset := uint64(binary.LittleEndian.Uint32(e[8:])), uint64(binary.LittleEndian.Uint32(e[12:]))
		if size == 0 || offset+size > uint64(len(b)) {
			continue
		}
		isBetter := side > bestSide
		if bestSide >= IconSide {
			isBetter = side >= IconSide && side < bestSide
		}
		if best == nil || isBetter {
			best, bestSide = b[offset:offset+size], side
		}
	}
	switch {
	case best == nil:
		return nil, errIcon
	case http.DetectContentType(best) == "image/png":
		return decodeIcon(best)
	}
	return decodeDIB(best)
}

// decodeDIB decodes a BMP without its file header, with a mask: one bit for each pixel, set where it is
// transparent.
func decodeDIB(b []byte) (image.Image, error) {
	if len(b) < dibHeader {
		return nil, errIcon
	}
	header, width, height := uint64(binary.LittleEndian.Uint32(b)), int(int32(binary.LittleEndian.Uint32(b[4:]))), int(int32(binary.LittleEndian.Uint32(b[8:])))/2
	bits, compression, colours := int(binary.LittleEndian.Uint16(b[14:])), binary.LittleEndian.Uint32(b[16:]), int(binary.LittleEndian.Uint32(b[32:]))
	if header < dibHeader || header > uint64(len(b)) || width < 1 || height < 1 || width > maxICOSide || height > maxICOSide || compression != 0 {
		return nil, errIcon
	}
	palette := b[header:]
	if bits <= 8 {
		if colours == 0 {
			colours = 1 << bits
		}
		if colours < 0 || colours > 256 || 4*colours > len(palette) {
			return nil, errIcon
		}
	} else {
		colours = 0
	}
	pixels := palette[4*colours:]
	row, maskRow := (width*bits+31)/32*4, (width+31)/32*4
	if len(pixels) < row*height {
		return nil, errIcon
	}
	mask := pixels[row*height:]
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	opaque := false
	for y := range height {
		line := pixels[row*(height-1-y):]
		for x := range width {
			var c color.NRGBA
			switch bits {
			case 32:
				c = color.NRGBA{line[4*x+2], line[4*x+1], line[4*x], line[4*x+3]}
			case 24:
				c = color.NRGBA{line[3*x+2], line[3*x+1], line[3*x], 255}
			case 8, 4, 1:
				i := int(line[x*bits/8]>>(8-bits-x*bits%8)) & (1<<bits - 1)
				if i >= colours {
					return nil, errIcon
				}
				c = color.NRGBA{palette[4*i+2], palette[4*i+1], palette[4*i], 255}
			default:
				return nil, fmt.Errorf("%w: %d bits a pixel", errIcon, bits)
			}
			opaque = opaque || c.A > 0
			m.SetNRGBA(x, y, c)
		}
	}
	// The mask counts where pixels have no alpha, or where all have none.
	if bits == 32 && opaque || len(mask) < maskRow*height {
		return m, nil
	}
	for y := range height {
		line := mask[maskRow*(height-1-y):]
		for x := range width {
			c := m.NRGBAAt(x, y)
			c.A = 255 * (1 - line[x/8]>>(7-x%8)&1)
			m.SetNRGBA(x, y, c)
		}
	}
	return m, nil
}
