package web

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"anatomy/collection"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/internal/params"
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
	return nil, fmt.Errorf("image %q: %w", id, collection.ErrNotFound)
}

// fetchFake draws the images of pictures.test, in sizes of their own; every seventh is not there.
func fetchFake(_ context.Context, address string) (*vocab.Page, error) {
	var n int
	fmt.Sscanf(strings.TrimPrefix(address, "https://pictures.test/"), "%d", &n)
	if n%7 == 6 || !strings.HasPrefix(address, "https://pictures.test/") {
		return nil, fmt.Errorf("image %s: gone: %w", address, collection.ErrNotFound)
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
		if strings.Count(page, `class="picture"`) != params.ImagesLimit || strings.Contains(page, "<script>hit") || strings.Contains(page, "href=\"javascript") || strings.Contains(page, `src="https://`) {
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
	words := newServerOf(Options{Collection: newFake()})
	if page := get(t, words, "/search?q=fox&type=image", http.StatusOK); strings.Contains(page, "<img") || !strings.Contains(page, "does not fetch images") || !strings.Contains(page, "A red fox in the snow") {
		t.Errorf("without fetching:\n%s", page)
	}
	get(t, words, "/image?doc=4711&id="+foxID, http.StatusNotFound)
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
}

// TestIcon: results have the icons of the collection, redrawn, and no others.
func TestIcon(t *testing.T) {
	s := newServer(newFake())
	body := get(t, s, "/search?q=inverted+index", http.StatusOK)
	icons := regexp.MustCompile(`<img class="icon" alt="" width="16" height="16" loading="lazy" decoding="async" src="([^"]*)">`).FindAllStringSubmatch(body, -1)
	if len(icons) == 0 {
		t.Fatal("no icon beside results")
	}
	found := false
	for _, icon := range icons {
		switch icon[1] {
		case "/icon?host=sorter.docs.test":
			found = true
		case "/icon?host=papers.docs.test":
		default:
			t.Errorf("an icon that the collection does not have: %s", icon[1])
		}
	}
	if !found {
		t.Errorf("icons %q", icons)
	}
	for range 2 { // the second comes from the cache
		w := do(t, s, "GET", "/icon?host=sorter.docs.test")
		m, err := png.Decode(w.Body)
		if err != nil || m.Bounds() != image.Rect(0, 0, 32, 32) || w.Header().Get("Content-Type") != "image/png" {
			t.Fatalf("%d %v: %v", w.Code, w.Header(), err)
		}
		if r, g, _, a := m.At(16, 16).RGBA(); r != 0xffff || g != 0 || a != 0xffff {
			t.Errorf("the middle is %v", m.At(16, 16))
		}
		if !strings.Contains(w.Header().Get("Cache-Control"), "max-age=86400") || !strings.Contains(w.Header().Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("headers %v", w.Header())
		}
	}
	for path, status := range map[string]int{"/icon": 400, "/icon?host=papers.docs.test": 404, "/icon?host=other.test": 404, "/icon?host=..%2F..%2Fetc%2Fpasswd": 404} {
		if w := do(t, s, "GET", path); w.Code != status {
			t.Errorf("%s: %d, want %d", path, w.Code, status)
		}
	}
}
