package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anatomy/collection"
	"anatomy/lru"
	"anatomy/vocab"

	"golang.org/x/image/bmp"
)

func TestThumbnail(t *testing.T) {
	small := newThumbnailer()
	encode := func(f func(*bytes.Buffer)) []byte { var b bytes.Buffer; f(&b); return b.Bytes() }
	wide := testImage(1200, 300)
	for kind, body := range map[string][]byte{
		"image/png":  testPNG(1200, 300),
		"image/jpeg": encode(func(b *bytes.Buffer) { jpeg.Encode(b, wide, nil) }),
		"image/gif":  encode(func(b *bytes.Buffer) { gif.Encode(b, wide, nil) }),
		"image/bmp":  encode(func(b *bytes.Buffer) { bmp.Encode(b, wide) }),
	} {
		p, err := small.thumbnail(t.Context(), &vocab.Page{ContentType: kind, Body: body})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if m, err := jpeg.Decode(bytes.NewReader(p.Body)); err != nil || m.Bounds() != image.Rect(0, 0, 400, 100) || p.Kind != "image/jpeg" {
			t.Errorf("%s: %v", kind, err)
		}
		for _, n := range []int{0, 1, 20, len(body) / 2} {
			if _, err := small.thumbnail(t.Context(), &vocab.Page{ContentType: kind, Body: body[:n]}); !errors.Is(err, errPicture) {
				t.Errorf("%d bytes of %s: %v", n, kind, err)
			}
		}
	}
	clear := encode(func(b *bytes.Buffer) { png.Encode(b, image.NewNRGBA(image.Rect(0, 0, 30, 30))) })
	p, err := small.thumbnail(t.Context(), &vocab.Page{ContentType: "image/png", Body: clear})
	if err != nil {
		t.Fatal(err)
	}
	m, err := jpeg.Decode(bytes.NewReader(p.Body))
	if err != nil {
		t.Fatal(err)
	}
	if r, g, b, _ := m.At(15, 15).RGBA(); min(r, g, b) < 0xf000 {
		t.Errorf("a transparent image is shown on %x %x %x", r, g, b)
	}
	for name, page := range map[string]*vocab.Page{
		"a bomb":            {ContentType: "image/png", Body: bomb(100_000, 100_000)},
		"a wide bomb":       {ContentType: "image/png", Body: bomb(1<<31-1, 1)},
		"another type":      {ContentType: "image/x-icon", Body: testPNG(3, 3)},
		"what is no image":  {ContentType: "image/png", Body: []byte("<script>")},
		"one of no pixels":  {ContentType: "image/png", Body: bomb(0, 5)},
		"a lie of its type": {ContentType: "image/gif", Body: testPNG(3, 3)},
	} {
		if _, err := small.thumbnail(t.Context(), page); !errors.Is(err, errPicture) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// bomb is a PNG that says to have so many pixels.
func bomb(width, height uint32) []byte {
	body := testPNG(3, 3)
	binary.BigEndian.PutUint32(body[16:], width)
	binary.BigEndian.PutUint32(body[20:], height)
	binary.BigEndian.PutUint32(body[29:], crc32.ChecksumIEEE(body[12:29]))
	return body
}

func TestSVG(t *testing.T) {
	const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10">`
	for _, body := range []string{
		open + `<path d="M0 0h9"/></svg>`,
		"\ufeff<?xml version='1.0' encoding='UTF-8'?><!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'x'><!-- drawn -->" + open + `<style>path{fill:red}</style><g><text>A &amp; B</text></g></svg>`,
		`<svg:svg xmlns:svg="http://www.w3.org/2000/svg"><svg:rect/></svg:svg>`,
		`<svg xmlns="http://www.w3.org/2000/svg" xmlns:sodipodi="urn:x"><sodipodi:namedview id="base"/><metadata><rdf:RDF xmlns:rdf="urn:y"/></metadata></svg>`,
	} {
		if p, err := svgPicture([]byte(body)); err != nil || p.Kind != SVGType || string(p.Body) != body {
			t.Errorf("%s: %v", body, err)
		}
	}
	for _, body := range []string{
		"", "text", "<html><svg/></html>", open + "<script>hit()</script></svg>", open + `<use href="#a"/></svg>`, open + `<image href="http://a.test/"/></svg>`,
		open + `<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject></svg>`, open + `<g><p xmlns="http://www.w3.org/1999/xhtml">x</p></g></svg>`,
		`<svg xmlns="http://www.w3.org/2000/svg" xmlns:h="http://www.w3.org/1999/xhtml"><h:iframe src="/"/></svg>`,
		`<svg xmlns="http://www.w3.org/2000/svg" xmlns:s="http://www.w3.org/2000/svg"><s:script>hit()</s:script></svg>`,
		`<!DOCTYPE svg [<!ENTITY a "b">]>` + open + `&a;</svg>`, `<?xml-stylesheet href="/x.css"?>` + open + `</svg>`, open + `<filter/></svg>`, open + `<animate/></svg>`,
		`<?xml version="1.0" encoding="utf-16"?>` + open + `</svg>`, open + strings.Repeat("<g/>", maxElements) + "</svg>", open + strings.Repeat("x", maxSVG) + "</svg>",
	} {
		if _, err := svgPicture([]byte(body)); !errors.Is(err, errPicture) {
			t.Errorf("%.120s: %v", body, err)
		}
	}
}

// An image is fetched once for all who ask at once, kept within a bound, and one that could not be had is asked for again
// after a while.
func TestPictures(t *testing.T) {
	var asked atomic.Int64
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	release := make(chan struct{})
	p := NewPictures(func(ctx context.Context, address string) (*vocab.Page, error) {
		asked.Add(1)
		switch address {
		case "wait":
			<-release
		case "fail":
			return nil, collection.ErrNotFound
		case "panic":
			panic("decoder")
		}
		return &vocab.Page{ContentType: "image/png", Body: testPNG(20, 20)}, nil
	}, func() time.Time { return now })
	gone, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { _, err := p.Get(gone, "wait"); left <- err }()
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who went away: %v", err)
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if m, err := p.Get(t.Context(), "wait"); err != nil || len(m.Body) == 0 {
				t.Errorf("%v", err)
			}
		})
	}
	close(release)
	all.Wait()
	if n := asked.Swap(0); n != 1 {
		t.Errorf("asked %d times", n)
	}
	for _, address := range []string{"fail", "panic"} {
		for range 3 {
			if _, err := p.Get(t.Context(), address); err == nil {
				t.Errorf("%s came", address)
			}
		}
		if n := asked.Swap(0); n != 1 {
			t.Errorf("%s: asked %d times", address, n)
		}
		now = now.Add(failureKept)
		p.Get(t.Context(), address)
		if n := asked.Swap(0); n != 1 {
			t.Errorf("%s, later: asked %d times", address, n)
		}
	}
	p.kept = lru.New(5000, weight)
	for i := range 40 {
		p.Get(t.Context(), fmt.Sprint(i))
		p.Get(t.Context(), "0")
	}
	if n := p.kept.Len(); n < 2 || n > 5000/failureWeight || p.find("0") == nil || asked.Load() != 40 {
		t.Errorf("%d images are kept, asked %d times", n, asked.Load())
	}
	now = now.Add(pictureKept)
	if p.Get(t.Context(), "0"); asked.Load() != 41 {
		t.Error("an old image is not asked for again")
	}
}

func FuzzSVG(f *testing.F) {
	f.Add([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><g><path/></g></svg>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := svgPicture(body)
		if err == nil && (len(p.Body) > maxSVG || bytes.Contains(bytes.ToLower(body), []byte("<script"))) && !bytes.Contains(body, []byte("<!")) {
			t.Fatalf("%q", body)
		}
	})
}

func testImage(width, height int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, color.NRGBA{uint8(x * 255 / width), 90, uint8(y * 255 / height), 255})
		}
	}
	return m
}

func testPNG(width, height int) []byte {
	var b bytes.Buffer
	(&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, testImage(width, height))
	return b.Bytes()
}
