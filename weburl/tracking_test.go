package weburl

import "testing"

func TestTrackingAndSessionsAreDropped(t *testing.T) {
	for raw, want := range map[string]string{
		"http://a.test/?utm_source=x":                            "http://a.test/",
		"http://a.test/p?utm_source=x&utm_medium=y#top":          "http://a.test/p",
		"http://a.test/p?UTM_Source=x&id=1":                      "http://a.test/p?id=1",
		"http://a.test/p?id=1&fbclid=x":                          "http://a.test/p?id=1",
		"http://a.test/p?b=2&gclid=x&a=1":                        "http://a.test/p?b=2&a=1",
		"http://a.test/p?b=2&gclid=x&a=1&msclkid=3&c":            "http://a.test/p?b=2&a=1&c",
		"http://a.test/p?utm_id=1&a=?":                           "http://a.test/p?a=?",
		"http://a.test/p?utm_id=1&a=1&":                          "http://a.test/p?a=1&",
		"http://a.test/p?q=utm_source":                           "http://a.test/p?q=utm_source",
		"http://a.test/p?utm=1":                                  "http://a.test/p?utm=1",
		"http://a.test/p?":                                       "http://a.test/p?",
		"http://a.test/p?&":                                      "http://a.test/p?&",
		"http://a.test/p?a=1&&b=2":                               "http://a.test/p?a=1&&b=2",
		"http://a.test/p?PHPSESSID=0123456789abcdef":             "http://a.test/p",
		"http://a.test/p?sid=0123456789abcdef0123456789abcdef":   "http://a.test/p",
		"http://a.test/p?sid=stockholm":                          "http://a.test/p?sid=stockholm",
		"http://a.test/p?sid=17":                                 "http://a.test/p?sid=17",
		"http://a.test/p?session_id=a/b/c/d/e/f/g/h/i/j/k/0":     "http://a.test/p?session_id=a/b/c/d/e/f/g/h/i/j/k/0",
		"http://a.test/p;jsessionid=0A1B.node1?x=1":              "http://a.test/p?x=1",
		"http://a.test/d;JSESSIONID=0A1B/p;v=2":                  "http://a.test/d/p;v=2",
		"http://a.test/d;v=2/p":                                  "http://a.test/d;v=2/p",
		"http://a.test/p;jsessionid=1":                           "http://a.test/p",
		"http://münchen.test/straße;jsessionid=1?utm_id=1&ä=1":   "http://xn--mnchen-3ya.test/stra%C3%9Fe?%C3%A4=1",
		"http://a.test/p?utm_source=a+very+long+value&id=%7e%2f": "http://a.test/p?id=~%2F",
	} {
		u, err := Parse(raw)
		if err != nil || u.String() != want {
			t.Errorf("%s: %s, want %s (%v)", raw, u.String(), want, err)
			continue
		}
		if again, err := Parse(u.String()); err != nil || again != u {
			t.Errorf("%s is not canonical: %s, %v", u.String(), again.String(), err)
		}
	}
}

// TestReferenceToItselfWithTracking: what a page links to is joined before it is cleaned.
func TestReferenceToItselfWithTracking(t *testing.T) {
	base, err := Parse("http://a.test/d/p?id=1")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"?id=1&utm_campaign=x": "http://a.test/d/p?id=1",
		"?utm_campaign=x":      "http://a.test/d/p",
		"q;jsessionid=7?a":     "http://a.test/d/q?a",
	} {
		if u, err := base.Join(ref); err != nil || u.String() != want {
			t.Errorf("%s: %s, want %s (%v)", ref, u.String(), want, err)
		}
	}
}
