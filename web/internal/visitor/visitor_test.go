package visitor

import (
	"net/http"
	"reflect"
	"slices"
	"testing"

	"anatomy/searcher"
	"anatomy/web/internal/params"
)

// FuzzKept: whatever a browser sends as the cookie of the preferences, the preferences are within the
// bounds, and stored again they are the same.
func FuzzKept(f *testing.F) {
	f.Add("raise=example.org&block=spam.test%2Cother.test&num=20&theme=dark&lang=de&tab=1")
	f.Add("raise=" + "a.test,b.test,c.test/docs" + "&raise=d.test&instant=1")
	f.Add("theme=x&num=-1&lang=%00")
	f.Fuzz(func(t *testing.T, cookie string) {
		read := func(value string) *params.Preferences {
			return Kept(&http.Request{Header: http.Header{"Cookie": {PreferencesCookie + "=" + value}}})
		}
		p := read(cookie)
		if !slices.Contains([]string{"", "light", "dark"}, p.Theme) {
			t.Fatalf("theme %q", p.Theme)
		}
		if p.Num < 0 || p.Num > searcher.MaxLimit {
			t.Fatalf("%d results", p.Num)
		}
		if n := len(p.Raise) + len(p.Lower) + len(p.Pin) + len(p.Block); n > searcher.MaxPreferred {
			t.Fatalf("%d sites", n)
		}
		if text := p.Values().Encode(); len(text) <= MaxPreferences {
			if again := read(text); !reflect.DeepEqual(again, p) {
				t.Fatalf("%q became %+v, then %+v", cookie, p, again)
			}
		}
	})
}
