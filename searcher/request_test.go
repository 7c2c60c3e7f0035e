package searcher

import (
	"testing"
	"time"

	"anatomy/vocab"
)

// TestPassageURL: a result leads to the marked words of its snippet, and without such words to its
// section or page.
func TestPassageURL(t *testing.T) {
	marked := []Fragment{{Text: "an "}, {Text: "apple", Mark: true}}
	for _, c := range []struct {
		result Result
		want   string
	}{
		{Result{URL: "http://a.test/", Snippet: marked, Medium: vocab.HTML}, "http://a.test/#:~:text=an-,apple"},
		{Result{URL: "http://a.test/", Snippet: marked[:1], Medium: vocab.HTML}, "http://a.test/"},
		{Result{URL: "http://a.test/b.pdf", Snippet: marked, Medium: vocab.PDF}, "http://a.test/b.pdf"},
		{Result{URL: "http://a.test/", Snippet: marked, Medium: vocab.PlainText, Section: Section{Heading: "Fruit", ID: "fruit"}}, "http://a.test/#fruit:~:text=an-,apple"},
		{Result{URL: "http://a.test/", Snippet: marked, Medium: vocab.HTML, Section: Section{Heading: "Fruit"}}, "http://a.test/#:~:text=an-,apple"},
	} {
		if got := c.result.PassageURL(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestPoll: the admin page of the rules says that searches follow a change within a second.
func TestPoll(t *testing.T) {
	if poll := (Options{}).withDefaults().Poll; poll > time.Second/2 {
		t.Errorf("files are checked every %v", poll)
	}
}
