package notfound

import (
	"strings"
	"testing"
)

// TestSays: titles and headings that say that nothing is there, and those that do not.
func TestSays(t *testing.T) {
	for body, want := range map[string]bool{
		"<title>404</title>": true,
		"<html><TITLE lang=en>\n Page  Not\nFound | Shop</TITLE>":                       true,
		"<title>Shop</title><h1 class=x>Sorry, <b>this page</b> doesn&#39;t exist</h1>": true,
		"<h2>Seite nicht gefunden</h2>":                                                 true,
		"<title>Страница не найдена</title>":                                            true,
		"<title>Документ не найден</title>":                                             true,
		"<title>ページが見つかりません</title>":                                                    true,
		"<h1>Error 404: nothing</h1>":                                                   true,
		"<title>1,404 birds</title>":                                                    false,
		"<title>Room 4045</title>":                                                      false,
		"<title>Shop</title><p>404 not found</p>":                                       false,
		"<header>404</header><h1x>404</h1x>":                                            false,
		"<title>Shop</title><!-- <h1>404</h1> -->":                                      true, // the host is asked, and says what it is
		"<title":     false,
		"<title>404": true,
		"":           false,
		"<title>" + strings.Repeat("a ", 300) + "not found": false,
		strings.Repeat(" ", MaxRead) + "<title>404</title>": false,
	} {
		if got := HasMessage([]byte(body)); got != want {
			t.Errorf("%.60q: %v", body, got)
		}
	}
}

const frame = "<title>Not found</title><style>b{}</style><p>Sorry, nothing is here. Home, products, contact, imprint, privacy. %s"

// TestIsLike: pages that repeat their URL, or a time, are like each other; one that says more, or one
// without words, is not.
func TestIsLike(t *testing.T) {
	text := func(more string) Text { return TextOf([]byte(strings.Replace(frame, "%s", more, 1))) }
	const madeUp = "http://a.test/no-such-page-0a1b"
	made := text("There is no /no-such-page-0a1b, 12:30 &mdash;")
	if !text("There is no /kestrels/red, 13:47").IsLike(made, "http://a.test/kestrels/red", madeUp) {
		t.Error("a page that is not found is taken for another")
	}
	if text("There is no kestrel on this island, as far as we know.").IsLike(made, "http://a.test/kestrels", madeUp) {
		t.Error("a page about birds is taken for one that is not found")
	}
	long := ""
	for c := 'a'; c <= 'z'; c++ {
		for d := 'a'; d <= 'z'; d += 2 {
			long += string(c) + string(d) + " "
		}
	}
	made = text(long)
	if text(long+"The kestrel was found nowhere on it").IsLike(made) || !text(long+"At noon").IsLike(made) {
		t.Error("a long frame hides the text of a page")
	}
	if empty := TextOf([]byte("<title>App</title><div id=root></div><script>404 not found</script>")); empty.IsLike(empty) {
		t.Error("pages that scripts fill are compared")
	}
}

// TestMadeUp: a made-up URL is at the root, and differs between hosts.
func TestMadeUp(t *testing.T) {
	name := MadeUp("a.test", "/")
	if !strings.HasPrefix(name, "/no-such-page-") || len(name) != 26 || MadeUp("b.test", "/") == name {
		t.Error(name)
	}
	for from, want := range map[string]string{
		"/x": name, "/a/b/x.html": name + ".html", "/a/": name, "/a.b/x": name, "/x.php": name + ".php", "/x.extension": name,
	} {
		if got := MadeUp("a.test", from); got != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
}

func FuzzNotFound(f *testing.F) {
	f.Add([]byte("<title>404</title><h1>x</h1><script>a</script>&amp;"), "http://a.test/x")
	f.Fuzz(func(t *testing.T, body []byte, url string) {
		HasMessage(body)
		text := TextOf(body)
		if len(text) > maxWords || len(text) >= minWords && !text.IsLike(text) {
			t.Errorf("%d words, not like itself", len(text))
		}
		text.IsLike(text, url)
	})
}
