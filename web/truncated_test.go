package web

import (
	"net/http"
	"strings"
	"testing"

	"anatomy/vocab"
)

// TestTruncatedPage: the cached page and the API say that a page was cut, where, and why; of a whole
// page they say nothing.
func TestTruncatedPage(t *testing.T) {
	f := newFake()
	s := newServerOf(Options{Collection: f, Bot: fakeBot})
	body := strings.Repeat("<p>text", 200)
	for cut, want := range map[vocab.Truncation]string{
		vocab.OverLength:   "cut at 1,400 bytes. It is longer than the crawler reads",
		vocab.Disconnected: "cut at 1,400 bytes. The connection was lost",
		vocab.OverTime:     "cut at 1,400 bytes. It came too slowly",
		vocab.UnknownCut:   "cut at 1,400 bytes. The rest was never received",
		vocab.Whole:        "",
	} {
		f.pages[20] = &vocab.Page{Doc: 20, URL: "https://www.docs.test/", ContentType: "text/html", Body: []byte(body), Truncated: cut}
		for _, target := range []string{"/cached?doc=20", "/cached?doc=20&text=1"} {
			page := get(t, s, target, http.StatusOK)
			if cut != vocab.Whole && !strings.Contains(page, want) || strings.Contains(page, "was cut") != (cut != vocab.Whole) {
				t.Errorf("%s of a page cut by %q:\n%s", target, cut, page)
			}
		}
		answer := get(t, s, "/api/v1/page?doc=20", http.StatusOK)
		if field := `"body_truncated":"` + cut.String() + `"`; strings.Contains(answer, field) != (cut != vocab.Whole) {
			t.Errorf("API of a page cut by %q: %s", cut, answer)
		}
	}
}
