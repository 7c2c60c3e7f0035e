package indexer

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"anatomy/vocab"
)

// TestMechanisms holds each way to write a link in the table of doc/politeness.md against what Parse
// and ParseOutline follow.
func TestMechanisms(t *testing.T) {
	doc, err := os.ReadFile("../doc/politeness.md")
	if err != nil {
		t.Fatal(err)
	}
	const goal = "http://www.example.org/dir/goal"
	code := regexp.MustCompile("`[^`]*URL[^`]*`")
	ways, followed := 0, 0
	for row := range strings.Lines(string(doc)) {
		cells := strings.Split(row, "|")
		if len(cells) != 5 || !slices.Contains([]string{" yes ", " no "}, cells[2]) {
			continue
		}
		want := cells[2] == " yes "
		for _, way := range code.FindAllString(cells[1], -1) {
			way = strings.ReplaceAll(strings.Trim(way, "`"), "URL", "goal")
			page := &vocab.Page{URL: pageURL, ContentType: "text/html", Body: []byte(way)}
			if field, ok := strings.CutPrefix(way, "Link: "); ok {
				page.Body, page.Links = nil, field
			} else if field, ok := strings.CutPrefix(way, "Refresh: "); ok {
				page.Body, page.Links = nil, fmt.Sprintf(`<>; rel=%s; content="%s"`, vocab.RefreshRelation, field)
			}
			d := parsePage(t, page)
			got := slices.Contains(d.Related, goal)
			for _, l := range d.Links {
				got = got || l.Target == goal
			}
			if got != want {
				t.Errorf("%s: followed is %v, the document says %v", way, got, want)
			}
			compareOutline(t, page)
			ways++
			if got {
				followed++
			}
		}
	}
	if followed < 15 || ways-followed < 15 {
		t.Errorf("the table has %d ways that are followed, and %d that are not", followed, ways-followed)
	}
}

func TestForms(t *testing.T) {
	for body, want := range map[string]string{
		"<form action=x><input type=hidden name=a value='1 &amp; 2'><button name=b value=c>Go</button><input type=submit></form>": "/dir/x?a=1+%26+2&b=c\n/dir/x?a=1+%26+2",
		"<form action='x?y=1#z'><button>a</button></form>":                                                                        "/dir/x?y=1",
		"<form action='x?y=1'><input type=image name=n></form>":                                                                   "/dir/x?n=",
		"<form action=x><button formaction=y>a</button><button>b</button><button formmethod=post>c</button>":                      "/dir/y\n/dir/x",
		"<form action=x rel=nofollow><button>a</button></form>":                                                                   "/dir/x !nofollow",
		"<form action=x><button type=button>a</button><input type=reset></form>":                                                  "",
		"<form action=x><button>a</button><input></form>":                                                                         "",
		"<form action=x><button>a</button><select></select></form>":                                                               "",
		"<form action=x><button>a</button><textarea></textarea></form>":                                                           "",
		"<form action=x><button>a</button><input type=checkbox></form>":                                                           "",
		"<form action=x><button>a</button><input type=password disabled></form>":                                                  "/dir/x",
		"<form action=x method=dialog><button>a</button></form>":                                                                  "",
		"<form><input type=hidden name=a value=b><button>a</button></form>":                                                       "",
		"<form action=''><input type=hidden name=a value=b><button>a</button></form>":                                             "/dir/some_page.html?a=b",
		"<form action=x><button>a</button><form action=y><button>b</button>":                                                      "/dir/x\n/dir/y",
		"<button formaction=x>a</button>":                                                                                         "",
		"<form action=x><input type=hidden name=a value=" + strings.Repeat("b", maxFormFields) + "><button>":                      "",
		"<form action=x>" + strings.Repeat("<button>", 2*maxButtons):                                                              strings.TrimSpace(strings.Repeat("/dir/x\n", maxButtons)),
		"<div hidden><form action=x><button>a</button></form></div>":                                                              "",
	} {
		if got := showLinks(parseHTML(t, body)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", body, got, want)
		}
	}
}

// TestRefreshField: a Refresh field without delay is a redirect, and one with a delay a link.
func TestRefreshField(t *testing.T) {
	for field, want := range map[string][2]string{
		"0; url=/x": {"/x", "http://www.example.org/x"}, "5; url='/x'": {"/x", ""}, "5": {}, "": {},
	} {
		links := fmt.Sprintf(`</next>; rel=next, <>; rel=%s; content="%s"`, vocab.RefreshRelation, field)
		d := parsePage(t, &vocab.Page{URL: pageURL, Links: links})
		if got := [2]string{showLinks(d), d.Redirect}; got != want || len(d.Related) != 1 {
			t.Errorf("%q: got %q, related %q; want %q", field, got, d.Related, want)
		}
	}
}
