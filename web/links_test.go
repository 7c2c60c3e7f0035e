package web

import (
	"net/http"
	"strings"
	"testing"
)

// TestLinksPage: the page shows titles, sums up in-links by site, and leads to the pages of each list
// and to the in-links of a site, and a filter holds for all.
func TestLinksPage(t *testing.T) {
	fake := newFake()
	fake.pages[lonely] = fake.pages[4711]
	s := newServer(fake)
	for page, wants := range map[string][]string{
		"/links?doc=4711": {
			`<a href="/links?url=http%3A%2F%2Ffrom.test%2F0" dir="auto">Page 0 &lt;b&gt;</a> <span class="tag">other site</span>`,
			"Links of <bdi>The inverted index</bdi>", `<a href="#out">It links to 4 pages</a>`,
			"1 to 25 of 40", `href="/links?in=25&amp;url=https%3A%2F%2Fwww.docs.test%2Fanatomy%2Fstorage%2Finverted-index.html" class="step" rel="next"`,
			`<a href="/links?site=from.test&amp;url=https%3A%2F%2Fwww.docs.test%2Fanatomy%2Fstorage%2Finverted-index.html" dir="ltr">from.test</a><span class="detail" dir="auto">`,
			`</th><td class="num">32</td>`, `dir="auto">Sorter</a>`, "1 to 4 of 4", "40 pages link here, 1 of them on other sites.",
		},
		"/links?doc=20":         {"40 pages link here, all on this site."},
		"/links?doc=4711&in=25": {"26 to 40 of 40", "Page 39 &lt;b&gt;", `rel="prev"`},
		"/links?doc=4711&site=from.test&num=10": {
			"1 to 10 of 32", `href="/links?in=10&amp;num=10&amp;site=from.test&amp;url=`, "From <bdi>from.test</bdi>",
		},
		"/links?doc=4711&match=PAGE+39":   {"1 to 1 of 1", "Page 39", `value="PAGE 39"`, "None of these."},
		"/links?doc=4711&match=the+index": {"1 to 25 of 40"},
		"/links?doc=4711&match=sorter":    {"1 to 1 of 1", "Sorter"},
		"/links?doc=4711&in=1000&out=1000": {
			"None of these.", `href="/links?in=15&amp;out=1000&amp;url=https`, `href="/links?in=1000&amp;url=https`,
		},
		"/links?doc=4711&num=10": {`<input type="hidden" name="num" value="10">`},
		"/links?doc=30":          {"No other page links here."},
		"/links?doc=4711&site=" + strings.Repeat("a", 253) + ":65535": {"None of these."},
	} {
		body := get(t, s, page, http.StatusOK)
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %s in %s", page, want, body)
			}
		}
		if strings.Contains(body, `href="#in"`) && !strings.Contains(body, `id="in"`) || strings.Contains(body, `"/cached?`) {
			t.Errorf("%s: leads to what it or the index may not have: %s", page, body)
		}
	}
	for page, want := range map[string]int64{"": 29, "&num=10": 14, "&site=from.test&in=25": 11} {
		if get(t, s, "/links?doc=4711"+page, http.StatusOK); fake.titlesRead.Load() != want {
			t.Errorf("%s: %d titles were read instead of %d", page, fake.titlesRead.Load(), want)
		}
	}
	get(t, s, "/links?doc=4711&in=1001", http.StatusBadRequest)
	if body := get(t, s, "/api/v1/links?doc=4711&num=2", http.StatusOK); !strings.Contains(body, `"title":"Sorter"`) {
		t.Error(body)
	}
}

// TestNoSuchPage: a page that says that the index does not have another leads to the reason.
func TestNoSuchPage(t *testing.T) {
	s := newServer(newFake())
	for target, want := range map[string]string{
		"/links?url=http%3A%2F%2Fx.test%2F": `<a href="/page?url=http%3A%2F%2Fx.test%2F">Why is it not in the index?</a>`,
		"/site/unknown.test":                `<a href="/page?url=http%3A%2F%2Funknown.test">Why is it not in the index?</a>`,
		"/nothing":                          "",
		"/cached?doc=99999":                 "",
	} {
		body := get(t, s, target, http.StatusNotFound)
		if has := strings.Contains(body, "Why is it not"); has != (want != "") || !strings.Contains(body, want) {
			t.Errorf("%s: no %s in %s", target, want, body)
		}
	}
}
