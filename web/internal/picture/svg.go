package picture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"anatomy/web/internal/text"
)

const (
	SVGType     = "image/svg+xml"
	svgSpace    = "http://www.w3.org/2000/svg"
	maxSVG      = 512 << 10 // bytes
	maxElements = 20_000
)

// drawn are the allowed elements: those that draw once. Elements that repeat others (use, pattern,
// marker, mask, filter) can take hours to render, and elements that load or act do not belong in an
// image.
var drawn = text.Set(`svg g a path rect circle ellipse line polyline polygon text tspan textPath title desc defs style switch
linearGradient radialGradient stop clipPath metadata`)

// svgPicture returns a drawing unchanged if it contains allowed elements only. In img it cannot run
// scripts or load anything; opened by itself it is in a sandbox.
func svgPicture(body []byte) (*picture, error) {
	if len(body) > maxSVG {
		return nil, fmt.Errorf("%w: a drawing of %d bytes", errPicture, len(body))
	}
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict = false
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errPicture } // UTF-8 only
	for elements := 0; ; {
		token, err := d.RawToken()
		if err == io.EOF && elements > 0 {
			return &picture{SVGType, body}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errPicture, err)
		}
		switch token := token.(type) {
		case xml.Directive:
			if bytes.Contains(bytes.ToUpper(token), []byte("ENTITY")) {
				return nil, fmt.Errorf("%w: a drawing with entities", errPicture)
			}
		case xml.ProcInst:
			if token.Target != "xml" {
				return nil, fmt.Errorf("%w: a drawing with a style sheet", errPicture)
			}
		case xml.StartElement:
			if elements++; elements > maxElements || elements == 1 && token.Name.Local != "svg" || !harmless(token) {
				return nil, fmt.Errorf("%w: a drawing with element %d, %.40q", errPicture, elements, token.Name.Local)
			}
		}
	}
}

// harmless reports whether an element is allowed. Elements with a prefix are notes of drawing
// programs, unless the prefix is bound to SVG or HTML.
func harmless(e xml.StartElement) bool {
	for _, a := range e.Attr {
		if a.Name.Space == "xmlns" && (a.Value == svgSpace || strings.Contains(a.Value, "xhtml")) && a.Name.Local != "svg" {
			return false
		}
		if a.Name.Space == "" && a.Name.Local == "xmlns" && a.Value != svgSpace {
			return false
		}
	}
	return drawn[e.Name.Local] && (e.Name.Space == "" || e.Name.Space == "svg") || e.Name.Space != "" && e.Name.Space != "svg"
}
