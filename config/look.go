package config

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
)

var accent = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// CheckAccent fails if the accent is not a colour.
func (s *Search) CheckAccent() error {
	if s.Accent != "" && !accent.MatchString(s.Accent) {
		return fmt.Errorf("%q is not a colour such as #0a7d5c", s.Accent)
	}
	return nil
}

// MaxLogo bounds the file of a logo, in bytes.
const MaxLogo = 256 << 10

// ReadLogo returns the image that the file names, and its type: png, jpg, webp or svg; nil for none.
func (c *Config) ReadLogo() (content []byte, kind string, err error) {
	if c.Search.Logo == "" {
		return nil, "", nil
	}
	f, err := os.Open(c.beside(c.Search.Logo))
	if err != nil {
		return nil, "", fmt.Errorf("the logo cannot be read: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, "", errors.New("the logo is not a file")
	}
	content, err = io.ReadAll(io.LimitReader(f, MaxLogo+1))
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("the logo cannot be read: %w", err)
	case len(content) > MaxLogo:
		return nil, "", fmt.Errorf("a logo has at most %d KB", MaxLogo>>10)
	}
	switch http.DetectContentType(content) {
	case "image/png":
		return content, "png", nil
	case "image/jpeg":
		return content, "jpg", nil
	case "image/webp":
		return content, "webp", nil
	}
	if svg.Match(content) {
		return content, "svg", nil
	}
	return nil, "", errors.New("the logo is no PNG, JPEG, WebP or SVG image")
}

// svg matches the beginning of an SVG image.
var svg = regexp.MustCompile(`(?s)^\x{feff}?\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*)*<svg[\s>]`)
