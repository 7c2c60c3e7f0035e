package raster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"testing"
)

// An icoImage is an image of an ICO file.
type icoImage struct {
	side byte
	data []byte
}

func icoOf(images ...icoImage) []byte {
	b := []byte{0, 0, 1, 0, byte(len(images)), 0}
	at := icoHeader + icoEntry*len(images)
	for _, m := range images {
		b = append(b, m.side, m.side, 0, 0, 1, 0, 32, 0)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(m.data)))
		b = binary.LittleEndian.AppendUint32(b, uint32(at))
		at += len(m.data)
	}
	for _, m := range images {
		b = append(b, m.data...)
	}
	return b
}

// dib returns a square of one colour in BGRA, with so many bits a pixel, whose left half the mask hides.
func dib(side, bits int, c [4]byte) []byte {
	b := make([]byte, dibHeader)
	binary.LittleEndian.PutUint32(b, dibHeader)
	binary.LittleEndian.PutUint32(b[4:], uint32(side))
	binary.LittleEndian.PutUint32(b[8:], uint32(2*side))
	binary.LittleEndian.PutUint16(b[14:], uint16(bits))
	if bits <= 8 { // the last colour of the palette
		b = append(b, make([]byte, 4*(1<<bits-1))...)
		b = append(b, c[:]...)
	}
	row, mask := (side*bits+31)/32*4, (side+31)/32*4
	for range side {
		line := bytes.Repeat([]byte{0xff}, row)
		if bits > 8 {
			line = bytes.Repeat(c[:bits/8], side)
			line = append(line, make([]byte, row-len(line))...)
		}
		b = append(b, line...)
	}
	for range side {
		line := make([]byte, mask)
		for x := range side / 2 {
			line[x/8] |= 1 << (7 - x%8)
		}
		b = append(b, line...)
	}
	return b
}

func pngOf(width, height int, c color.Color) []byte {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	png.Encode(&b, m)
	return b.Bytes()
}

// bomb returns a PNG whose header has other measures than its pixels.
func bomb(width, height uint32) []byte {
	body := pngOf(3, 3, color.Black)
	binary.BigEndian.PutUint32(body[16:], width)
	binary.BigEndian.PutUint32(body[20:], height)
	binary.BigEndian.PutUint32(body[29:], crc32.ChecksumIEEE(body[12:29]))
	return body
}

// TestIcon: icons of every form come out as a PNG of 32 pixels with the colours and the transparency
// that they have.
func TestIcon(t *testing.T) {
	blue := [4]byte{200, 10, 20, 255} // BGRA
	want := color.NRGBA{20, 10, 200, 255}
	clear := color.NRGBA{}
	for name, c := range map[string]struct {
		content     []byte
		left, right color.NRGBA
	}{
		"png":         {pngOf(64, 64, want), want, want},
		"a tiny png":  {pngOf(1, 1, want), want, want},
		"png in ico":  {icoOf(icoImage{0, pngOf(256, 256, want)}), want, want},
		"32 bits":     {icoOf(icoImage{16, dib(16, 32, blue)}), want, want}, // has alpha, so the mask does not count
		"no alpha":    {icoOf(icoImage{16, dib(16, 32, [4]byte{200, 10, 20, 0})}), clear, want},
		"24 bits":     {icoOf(icoImage{16, dib(16, 24, blue)}), clear, want},
		"8 bits":      {icoOf(icoImage{32, dib(32, 8, blue)}), clear, want},
		"4 bits":      {icoOf(icoImage{32, dib(32, 4, blue)}), clear, want},
		"1 bit":       {icoOf(icoImage{32, dib(32, 1, blue)}), clear, want},
		"the best":    {icoOf(icoImage{16, dib(16, 24, [4]byte{1, 1, 1, 1})}, icoImage{48, dib(48, 24, blue)}, icoImage{0, pngOf(256, 256, color.White)}), clear, want},
		"one is lost": {icoOf(icoImage{48, dib(48, 24, blue)}, icoImage{32, nil})[:icoHeader+2*icoEntry+len(dib(48, 24, blue))], clear, want},
	} {
		b, err := Icon(c.content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m, err := png.Decode(bytes.NewReader(b))
		if err != nil || m.Bounds() != image.Rect(0, 0, IconSide, IconSide) {
			t.Fatalf("%s: %v", name, err)
		}
		at := func(x int) color.NRGBA { return color.NRGBAModel.Convert(m.At(x, IconSide/2)).(color.NRGBA) }
		left, right := at(4), at(27)
		if left.A == 0 {
			left = clear
		}
		if left != c.left || right != c.right {
			t.Errorf("%s: left %v, right %v, want %v, %v", name, left, right, c.left, c.right)
		}
	}
	wide, err := Icon(pngOf(64, 8, want))
	if err != nil {
		t.Fatal(err)
	}
	if m, err := png.Decode(bytes.NewReader(wide)); err != nil || m.Bounds() != image.Rect(0, 0, IconSide, IconSide) {
		t.Errorf("a wide one: %v", err)
	}
	huge := dib(16, 24, blue)
	binary.LittleEndian.PutUint32(huge[4:], 1<<30)
	for name, content := range map[string][]byte{
		"nothing": nil, "text": []byte("<html>"), "drawing": []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), "bomb": bomb(5000, 5000),
		"no entries": icoOf(), "a header": {0, 0, 1, 0}, "an empty image": icoOf(icoImage{16, nil}), "huge": icoOf(icoImage{16, huge}),
		"cut": icoOf(icoImage{16, dib(16, 32, blue)[:200]}), "bits": icoOf(icoImage{16, dib(16, 16, blue)}), "wide bomb": icoOf(icoImage{0, bomb(1<<31-1, 1)}),
	} {
		if _, err := Icon(content); !errors.Is(err, errIcon) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzIcon: whatever a site sends as its icon, there is an error or a PNG of 32 pixels.
func FuzzIcon(f *testing.F) {
	blue := [4]byte{200, 10, 20, 255}
	for _, bits := range []int{1, 4, 8, 24, 32} {
		f.Add(icoOf(icoImage{16, dib(16, bits, blue)}))
	}
	f.Add(icoOf(icoImage{16, dib(16, 24, blue)}, icoImage{0, pngOf(20, 20, color.White)}))
	f.Add(pngOf(3, 5, color.Black))
	f.Fuzz(func(t *testing.T, content []byte) {
		b, err := Icon(content)
		if err != nil {
			return
		}
		if c, err := png.DecodeConfig(bytes.NewReader(b)); err != nil || c.Width != IconSide || c.Height != IconSide {
			t.Fatalf("%+v, %v", c, err)
		}
	})
}
