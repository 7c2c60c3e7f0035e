package engine_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/topic"
	"anatomy/urlserver"
)

const (
	subjectPages = 40 // of birds; of each other subject three times as many
	birdExamples = 5
)

// newSubjectWeb makes a web with pages of four subjects on five hosts. Each links to three pages of
// its own subject and to six others, half of them with a text that names the subject. The topic is
// birds, the rarest subject.
func newSubjectWeb(t *testing.T) (web *testweb.Web, about *topic.Topic) {
	web = testweb.New(t)
	about = &topic.Topic{}
	subjects := []string{"bird", "ship", "coin", "moss"}
	pages := map[string]int{"bird": subjectPages, "ship": 3 * subjectPages, "coin": 3 * subjectPages, "moss": 3 * subjectPages}
	for s, subject := range subjects {
		for i := range pages[subject] {
			var b strings.Builder
			fmt.Fprintf(&b, "<title>page %d</title>", i)
			words := func(n int) {
				fmt.Fprintf(&b, " %s%c and so on, word%c %s%c. ", subject, 'a'+(i*7+n*5)%26, 'a'+(i*11+n*3)%26, subject, 'a'+(i+n)%26)
			}
			link := func(to string, n int) {
				words(n)
				text := "more"
				if n%2 == 0 {
					text = fmt.Sprintf("%s%c", to, 'a'+n%26)
				}
				fmt.Fprintf(&b, `<p><a href="http://host%d.test/%s/%d">%s</a>`, n%5, to, n, text)
			}
			for k := range 3 { // its own subject
				link(subject, (i*3+k*13+1)%pages[subject])
			}
			for k := range 6 { // others
				other := subjects[(s+1+(i+k)%3)%4]
				if other != "bird" || i%6 == 0 {
					link(other, (i*5+k*17+2)%pages[other])
				}
			}
			web.Page(fmt.Sprintf("host%d.test/%s/%d", i%5, subject, i), b.String())
		}
	}
	for i := range birdExamples {
		about.Examples = append(about.Examples, fmt.Sprintf("http://host%d.test/bird/%d", i%5, i))
	}
	return web, about
}

// focusOptions returns the options of a crawl with one connection: the order of its fetches does not depend on the machine.
func focusOptions(t *testing.T, web *testweb.Web, seeds ...string) engine.Options {
	o := web.Options(t.TempDir(), seeds...)
	o.Connections = 1
	return o
}

// birds returns how many pages of birds were fetched since the last call, and how many in all.
func birds(web *testweb.Web) (found, all int) {
	for key := range web.Requests() {
		all++
		if strings.Contains(key, "/bird/") {
			found++
		}
	}
	return found, all
}

// TestFocusedCrawl: within a limit, a focused crawl fetches nearly all pages of the topic, and a crawl
// breadth-first from the same pages does not. So does one that is interrupted halfway.
func TestFocusedCrawl(t *testing.T) {
	const limit = 2 * subjectPages
	web, about := newSubjectWeb(t)
	o := focusOptions(t, web, about.Examples...)
	o.URLs.MaxPages, o.URLs.Policy = limit, urlserver.BreadthFirst
	testweb.Crawl(t, o)
	if n, all := birds(web); n > subjectPages*6/10 || all != limit {
		t.Errorf("breadth-first fetches %d pages of the topic in %d", n, all)
	}
	o = focusOptions(t, web)
	o.URLs.MaxPages, o.Topic = limit, about
	stats := testweb.Crawl(t, o)
	n, all := birds(web)
	if n < subjectPages*3/4 || all != limit {
		t.Errorf("focused: %d pages of the topic in %d", n, all)
	}
	if h := stats.Harvest; h.Pages != limit || math.Abs(float64(h.Relevant)-float64(n)) > limit/10 {
		t.Errorf("%d pages of the topic, harvest %+v", n, h)
	}
	o = focusOptions(t, web)
	o.Topic = about
	for _, o.URLs.MaxPages = range []uint64{limit / 2, limit} {
		stats = testweb.Crawl(t, o)
	}
	if n, all := birds(web); n < subjectPages*3/4 || all != limit {
		t.Errorf("resumed: %d pages of the topic in %d", n, all)
	}
	if stats.Harvest.Pages != limit {
		t.Errorf("resumed: harvest %+v", stats.Harvest)
	}
	testweb.Checked(t, o.Dir)
}

// TestFocusedWithoutIndex: a focused crawl needs the terms of pages, also if it builds no index.
func TestFocusedWithoutIndex(t *testing.T) {
	web, about := newSubjectWeb(t)
	o := focusOptions(t, web)
	o.URLs.MaxPages, o.Topic, o.NoIndex = 2*subjectPages, about, true
	testweb.Crawl(t, o)
	if n, _ := birds(web); n < subjectPages*3/4 {
		t.Errorf("%d pages of the topic", n)
	}
}
