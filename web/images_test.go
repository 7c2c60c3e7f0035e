package web

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
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/image/bmp"

	"anatomy/searcher"
	"anatomy/vocab"
)

// fox is an image of document 4711; foxID names it.
var (
	fox   = vocab.Image{URL: "https://pictures.test/fox.png", Alt: "A red fox in the snow", Caption: "Seen in the north", Width: 640, Height: 480}
	foxID = fox.ID()
)

// fakeImages has 65 images for "fox": of many proportions, some that are not there, and a hostile one.
func fakeImages(_ context.Context, r searcher.Request) (*searcher.ImageResponse, error) {
	a := &searcher.ImageResponse{Response: searcher.Response{Query: r.Query, Interpreted: r.Query, Exact: true, Total: 1234, Words: []string{"fox"}, Took: time.Millisecond}, Looked: 100}
	if r.Query != "fox" {
		a.Total, a.Looked, a.Why = 0, 0, "No page holds “"+r.Query+"”."
		return a, nil
	}
	all := []searcher.ImageResult{{Image: fox, Doc: 4711, Page: "https://www.docs.test/fox", Named: "Foxes of the north", Score: 5_000_000},
		{Image: vocab.Image{URL: `javascript:hit()//"><script>hit()</script>`, Alt: hostileQuery}, Doc: 66, Page: hostileQuery, Named: hostileQuery}}
	for i := len(all); i < 65; i++ {
		m := vocab.Image{URL: fmt.Sprintf("https://pictures.test/%d.png", i), Alt: []string{"", "A fox", "狐が雪の中を走っている", "ثعلب أحمر في الثلج", strings.Repeat("A very long text about a fox ", 12)}[i%5]}
		all = append(all, searcher.ImageResult{Image: m, Doc: 4711, Page: fmt.Sprintf("https://%s.test/page/%d", []string{"www", "a-host-with-a-rather-long-name.example"}[i%2], i), Named: "A page that shows pictures of foxes, hares and other animals", Score: searcher.Score(4_000_000 - i)})
	}
	from := min(r.Offset, len(all))
	a.Images, a.Found = all[from:min(from+r.Limit, len(all))], len(all)
	a.Next = from+len(a.Images) < len(all)
	return a, nil
}

// fakeImage knows the images of document 4711.
func fakeImage(ctx context.Context, doc vocab.DocID, id string) (*vocab.Image, error) {
	all, _ := fakeImages(ctx, searcher.Request{Query: "fox", Limit: 100})
	for _, m := range all.Images {
		if doc == m.Doc && id == m.ID() {
			return &m.Image, nil
		}
	}
	return nil, fmt.Errorf("image %q: %w", id, ErrNotFound)
}

// fetchFake draws the images of pictures.test, in sizes of their own; every seventh is not there.
func fetchFake(_ context.Context, address string) (*vocab.Page, error) {
	var n int
	fmt.Sscanf(strings.TrimPrefix(address, "https://pictures.test/"), "%d", &n)
	if n%7 == 6 || !strings.HasPrefix(address, "https://pictures.test/") {
		return nil, fmt.Errorf("image %s: gone: %w", address, ErrNotFound)
	}
	return &vocab.Page{URL: address, ContentType: "image/png", Body: pngOf(200+n*53%700, 150+n*97%600)}, nil
}

func drawing(width, height int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, color.NRGBA{uint8(x * 255 / width), 90, uint8(y * 255 / height), 255})
		}
	}
	return m
}

func pngOf(width, height int) []byte {
	var b bytes.Buffer
	(&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, drawing(width, height))
	return b.Bytes()
}

func TestImagesPage(t *testing.T) {
	s := fullServer()
	for _, target := range []string{"/search?q=fox&type=image", "/search?q=type:image+fox", "/search?q=fox&type=images"} {
		page := get(t, s, target, http.StatusOK)
		for _, want := range []string{`aria-current="page">Images<`, "65 images on the 100 best pages", `src="/image?doc=4711&amp;id=` + foxID, "A red fox in the snow", `>640 × 480<`, `href="https://www.docs.test/fox"`,
			`name="type" value="image"`, `rel="next" href="/search?num=30&amp;q=fox&amp;start=30&amp;type=image"`} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: %q is missing", target, want)
			}
		}
		if strings.Count(page, `class="picture"`) != imagesLimit || strings.Contains(page, "<script>hit") || strings.Contains(page, "href=\"javascript") || strings.Contains(page, `src="https://`) {
			t.Errorf("%s:\n%s", target, page)
		}
	}
	last := get(t, s, "/search?q=fox&type=image&start=60&theme=dark", http.StatusOK)
	if strings.Count(last, `class="picture"`) != 5 || !strings.Contains(last, `rel="prev" href="/search?num=30&amp;q=fox&amp;start=30&amp;type=image&amp;theme=dark"`) {
		t.Errorf("the last page:\n%s", last)
	}
	if page := get(t, s, "/search?q=none&type=image", http.StatusOK); !strings.Contains(page, "No page holds “none”.") {
		t.Errorf("nothing found:\n%s", page)
	}
	if page := get(t, s, "/search?q=inverted+index", http.StatusOK); !strings.Contains(page, `<a href="/search?q=inverted&#43;index&amp;type=image">Images</a>`) && !strings.Contains(page, `<a href="/search?q=inverted+index&amp;type=image">Images</a>`) {
		t.Errorf("no way from pages to images:\n%.2000s", page)
	}
	for target, status := range map[string]int{"/search?q=fox&type=video": 400, "/search?q=fox&type=image&type=image": 400, "/search?q=fox&type=image&num=0": 400, "/search?q=fox&type=image&format=csv": 400} {
		get(t, s, target, status)
	}
	words := New(Options{Search: newFake(), Images: fakeImages, Image: fakeImage})
	if page := get(t, words, "/search?q=fox&type=image", http.StatusOK); strings.Contains(page, "<img") || !strings.Contains(page, "fetches no images") || !strings.Contains(page, "A red fox in the snow") {
		t.Errorf("without fetching:\n%s", page)
	}
	get(t, words, "/image?doc=4711&id="+foxID, http.StatusNotFound)
	none := newServer(newFake())
	get(t, none, "/search?q=fox&type=image", http.StatusNotFound)
	get(t, none, "/api/v1/search?q=fox&type=image", http.StatusNotFound)
	if strings.Contains(get(t, none, "/search?q=inverted+index", http.StatusOK), "type=image") {
		t.Error("a way to images where there are none")
	}
}

// A page of images, as it goes over the wire, holds to the budget of a page of results.
func TestImagesPageIsSmall(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/search?q=fox&type=image", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := httptest.NewRecorder()
	fullServer().Handler().ServeHTTP(w, r)
	if w.Header().Get("Content-Encoding") != "gzip" || w.Body.Len() > 8<<10 {
		t.Errorf("%d bytes", w.Body.Len())
	}
}

func TestImagesForPrograms(t *testing.T) {
	s := fullServer()
	text := get(t, s, "/api/v1/search?q=fox&type=image&num=2", http.StatusOK)
	for _, want := range []string{`"src":"https://pictures.test/fox.png"`, `"page":"https://www.docs.test/fox"`, `"caption":"Seen in the north"`, `"width":640`, `"proxy":"/image?doc=4711&id=` + foxID + `"`,
		`"results":[]`, `"total":{"value":65,"relation":"gte"}`, `"next":"/api/v1/search?num=2&q=fox&start=2&type=image"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	if text := get(t, s, "/api/v1/search?q=none&type=image", http.StatusOK); !strings.Contains(text, `"images":[]`) {
		t.Error(text)
	}
	text = get(t, s, "/search?q=fox&categories=images&format=json&num=1&pageno=2", http.StatusOK)
	if !strings.Contains(text, `"template":"images.html"`) || !strings.Contains(text, `"positions":[2]`) {
		t.Error(text)
	}
	text = get(t, s, "/search?q=fox&categories=images&format=json&num=1", http.StatusOK)
	if !strings.Contains(text, `"img_src":"https://pictures.test/fox.png"`) || !strings.Contains(text, `"thumbnail":"http://example.com/image?doc=4711&id=`) || !strings.Contains(text, `"resolution":"640 x 480"`) {
		t.Error(text)
	}
	text = get(t, s, "/customsearch/v1?q=fox&searchType=image&num=3", http.StatusOK)
	if strings.Count(text, `"contextLink"`) != 2 || !strings.Contains(text, `"thumbnailLink":"http://example.com/image?doc=4711`) || !strings.Contains(text, `"mime":"image/png"`) || strings.Contains(text, "javascript:") {
		t.Error(text)
	}
	get(t, s, "/customsearch/v1?q=fox&searchType=video", http.StatusBadRequest)
	get(t, s, "/search?q=fox&categories=images&format=rss", http.StatusBadRequest)
}

// What is asked for at /image is an image of an indexed page, or nothing.
func TestImageServed(t *testing.T) {
	s := fullServer()
	w := do(t, s, http.MethodGet, "/image?doc=4711&id="+foxID)
	h := w.Header()
	if w.Code != http.StatusOK || h.Get("Content-Type") != "image/jpeg" || h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") || !strings.Contains(h.Get("Cache-Control"), "max-age") {
		t.Errorf("status %d, %v", w.Code, h)
	}
	if small, err := jpeg.Decode(w.Body); err != nil || small.Bounds().Dx() != 200 || small.Bounds().Dy() != 150 {
		t.Errorf("%v", err)
	}
	forged := vocab.Image{URL: "http://127.0.0.1/admin"}
	for target, status := range map[string]int{
		"/image": 400, "/image?doc=4711": 400, "/image?doc=x&id=" + foxID: 400, "/image?doc=4712&id=" + foxID: 404, "/image?doc=4711&id=" + forged.ID(): 404,
		"/image?doc=4711&id=../../etc": 404, "/image?doc=4711&id=" + strings.Repeat("A", 17): 400, "/image?doc=4711&id=A&id=B": 400,
		"/image?doc=4711&id=" + (&vocab.Image{URL: "https://pictures.test/6.png"}).ID(): 404, "/image?url=" + url.QueryEscape("http://127.0.0.1/"): 400,
	} {
		get(t, s, target, status)
	}
	r := httptest.NewRequest(http.MethodGet, "/image?doc=4711&id="+(&vocab.Image{URL: "https://pictures.test/6.png"}).ID(), nil)
	r.Header.Set("Sec-Fetch-Dest", "image")
	w = httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	if h := w.Header(); w.Code != http.StatusNotFound || h.Get("Content-Type") != "image/svg+xml" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("an image that cannot be had, in a page: status %d, %v", w.Code, h)
	}
	if _, err := svgPicture(w.Body.Bytes()); err != nil {
		t.Errorf("what stands for it: %v", err)
	}
}

func TestThumbnail(t *testing.T) {
	small := newThumbnailer()
	encode := func(f func(*bytes.Buffer)) []byte { var b bytes.Buffer; f(&b); return b.Bytes() }
	wide := drawing(1200, 300)
	for kind, body := range map[string][]byte{
		"image/png":  pngOf(1200, 300),
		"image/jpeg": encode(func(b *bytes.Buffer) { jpeg.Encode(b, wide, nil) }),
		"image/gif":  encode(func(b *bytes.Buffer) { gif.Encode(b, wide, nil) }),
		"image/bmp":  encode(func(b *bytes.Buffer) { bmp.Encode(b, wide) }),
	} {
		p, err := small.thumbnail(t.Context(), &vocab.Page{ContentType: kind, Body: body})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if m, err := jpeg.Decode(bytes.NewReader(p.body)); err != nil || m.Bounds() != image.Rect(0, 0, 400, 100) || p.kind != "image/jpeg" {
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
	m, err := jpeg.Decode(bytes.NewReader(p.body))
	if err != nil {
		t.Fatal(err)
	}
	if r, g, b, _ := m.At(15, 15).RGBA(); min(r, g, b) < 0xf000 {
		t.Errorf("a transparent image is shown on %x %x %x", r, g, b)
	}
	for name, page := range map[string]*vocab.Page{
		"a bomb":            {ContentType: "image/png", Body: bomb(100_000, 100_000)},
		"a wide bomb":       {ContentType: "image/png", Body: bomb(1<<31-1, 1)},
		"another type":      {ContentType: "image/x-icon", Body: pngOf(3, 3)},
		"what is no image":  {ContentType: "image/png", Body: []byte("<script>")},
		"one of no pixels":  {ContentType: "image/png", Body: bomb(0, 5)},
		"a lie of its type": {ContentType: "image/gif", Body: pngOf(3, 3)},
	} {
		if _, err := small.thumbnail(t.Context(), page); !errors.Is(err, errPicture) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// bomb is a PNG that says to have so many pixels.
func bomb(width, height uint32) []byte {
	body := pngOf(3, 3)
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
		if p, err := svgPicture([]byte(body)); err != nil || p.kind != svgType || string(p.body) != body {
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
	p := newPictures(func(ctx context.Context, address string) (*vocab.Page, error) {
		asked.Add(1)
		switch address {
		case "wait":
			<-release
		case "fail":
			return nil, ErrNotFound
		case "panic":
			panic("decoder")
		}
		return &vocab.Page{ContentType: "image/png", Body: pngOf(20, 20)}, nil
	}, func() time.Time { return now })
	gone, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { _, err := p.get(gone, "wait"); left <- err }()
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who went away: %v", err)
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if m, err := p.get(t.Context(), "wait"); err != nil || len(m.body) == 0 {
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
			if _, err := p.get(t.Context(), address); err == nil {
				t.Errorf("%s came", address)
			}
		}
		if n := asked.Swap(0); n != 1 {
			t.Errorf("%s: asked %d times", address, n)
		}
		now = now.Add(failureKept)
		p.get(t.Context(), address)
		if n := asked.Swap(0); n != 1 {
			t.Errorf("%s, later: asked %d times", address, n)
		}
	}
	p.limit = 5000
	for i := range 40 {
		p.get(t.Context(), fmt.Sprint(i))
		p.get(t.Context(), "0")
	}
	if p.size > p.limit || len(p.at) != p.recent.Len() || p.at["0"] == nil || asked.Load() != 40 {
		t.Errorf("%d bytes, %d and %d images, asked %d times", p.size, len(p.at), p.recent.Len(), asked.Load())
	}
	now = now.Add(pictureKept)
	if p.get(t.Context(), "0"); asked.Load() != 41 {
		t.Error("an old image is not asked for again")
	}
}

func FuzzSVG(f *testing.F) {
	f.Add([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><g><path/></g></svg>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := svgPicture(body)
		if err == nil && (len(p.body) > maxSVG || bytes.Contains(bytes.ToLower(body), []byte("<script"))) && !bytes.Contains(body, []byte("<!")) {
			t.Fatalf("%q", body)
		}
	})
}
