// Package look gives the pages of a collection a colour of its own.
package look

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"
)

// A Look is what the pages of a collection have of their own.
type Look struct {
	Accent   string // colour of links and of the sign, as #rrggbb; "" for the usual one
	Logo     []byte // image beside the name; nil for the usual sign
	LogoType string // extension of a file with it: png, jpg, webp or svg
}

// minContrast is the least contrast of links with what is behind them (WCAG 2.2, success criterion
// 1.4.3).
const minContrast = 4.5

// The backgrounds of links in app.css on which they are hardest to read: --fill, light and dark.
var (
	lightest = rgb{0xf0, 0xf2, 0xf3}
	darkest  = rgb{0x22, 0x27, 0x2b}
	white    = rgb{0xff, 0xff, 0xff}
	black    = rgb{}
)

// Style returns a style sheet with the colours of an accent: darker than it on light pages and lighter
// on dark ones, as far as it must be to be read. It returns nil if accent is not #rrggbb.
func Style(accent string) []byte {
	digits, ok := strings.CutPrefix(accent, "#")
	parts, err := hex.DecodeString(digits)
	if !ok || err != nil || len(parts) != len(rgb{}) {
		return nil
	}
	c := rgb(parts)
	light, dark := c.readable(black, lightest), c.readable(white, darkest)
	css := ":root {"
	for _, name := range []string{"--link", "--b1"} {
		css += fmt.Sprintf(" %s: light-dark(%s, %s);", name, light, dark)
	}
	for _, part := range []struct {
		name  string
		share float64
	}{{"--b2", .3}, {"--b3", .6}} { // of the sign
		css += fmt.Sprintf(" %s: light-dark(%s, %s);", part.name, light.mix(white, part.share), dark.mix(black, part.share))
	}
	return []byte(css + " }\n")
}

// An rgb is a colour of sRGB.
type rgb [3]uint8

func (c rgb) String() string { return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2]) }

// readable returns a colour, mixed with another one as far as its contrast with what is behind it needs.
func (c rgb) readable(toward, behind rgb) rgb {
	const steps = 32
	for i := range steps {
		if mixed := c.mix(toward, float64(i)/steps); contrast(mixed, behind) >= minContrast {
			return mixed
		}
	}
	return toward
}

// mix returns a colour of which a share is another one.
func (c rgb) mix(other rgb, share float64) (mixed rgb) {
	for i := range c {
		mixed[i] = uint8(math.Round((1-share)*float64(c[i]) + share*float64(other[i])))
	}
	return mixed
}

// contrast returns the contrast ratio of two colours, from 1 to 21 (WCAG 2.2).
func contrast(a, b rgb) float64 {
	light, dark := a.luminance(), b.luminance()
	if light < dark {
		light, dark = dark, light
	}
	return (light + .05) / (dark + .05)
}

// luminance returns the relative luminance of a colour, from 0 to 1 (WCAG 2.2).
func (c rgb) luminance() float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= .04045 {
			return s / 12.92
		}
		return math.Pow((s+.055)/1.055, 2.4)
	}
	return .2126*linear(c[0]) + .7152*linear(c[1]) + .0722*linear(c[2])
}
