package indexer

import (
	"testing"
	"time"

	"anatomy/vocab"
)

func TestDate(t *testing.T) {
	fetched := time.Date(2024, 5, 6, 12, 0, 0, 0, time.UTC)
	var buf Buffer
	for body, want := range map[string]string{
		``: "2024-01-02", // of the header
		`<meta property="article:published_time" content="2023-04-05T06:07:08+02:00">`:                                                            "2023-04-05",
		`<meta property="article:published_time" content="2023-04-05"><meta property="article:modified_time" content="2023-11-12T01:02:03.456Z">`: "2023-11-12",
		`<meta name=citation_publication_date content="2019/07/30">`:                                                                              "2019-07-30",
		`<meta name=DC.Date content="Tue, 03 Jan 2006 15:04:05 GMT">`:                                                                             "2006-01-03",
		`<meta itemprop=dateModified content=2020-02-29>`:                                                                                         "2020-02-29",
		`<time itemprop=datePublished datetime="2018-03-04T05:06Z">March</time>`:                                                                  "2018-03-04",
		`<time pubdate datetime=2017-03-04>March</time>`:                                                                                          "2017-03-04",
		`<time datetime=2017-03-04>an event</time>`:                                                                                               "2024-01-02",
		`<meta name=date content=2031-01-01>`:                                                                                                     "2024-01-02", // ahead
		`<meta name=date content=2023-02-30>`:                                                                                                     "2024-01-02",
		`<meta name=date content="yesterday"><meta name=date content=2016-01-01>`:                                                                 "2016-01-01",
	} {
		d, err := Parse(&vocab.Page{Doc: 1, URL: "http://a.test/", ContentType: "text/html", Fetched: fetched, LastModified: "Tue, 02 Jan 2024 03:04:05 GMT", Body: []byte(body)}, &buf)
		if err != nil || d.Info.Date.String() != want || d.Info.Medium != vocab.HTML {
			t.Errorf("%s: %s, want %s (%v)", body, d.Info.Date, want, err)
		}
	}
}

// TestLastModifiedNow: a server that says that the page was changed now says that it was made now.
func TestLastModifiedNow(t *testing.T) {
	fetched := time.Date(2024, 5, 6, 12, 0, 0, 0, time.UTC)
	var buf Buffer
	for header, want := range map[string]string{
		"Mon, 06 May 2024 11:59:00 GMT": "", "Mon, 06 May 2024 10:59:00 GMT": "2024-05-06", "Tue, 07 May 2024 11:59:00 GMT": "", "": "", "x": "",
	} {
		d, err := Parse(&vocab.Page{Doc: 1, URL: "http://a.test/", ContentType: "text/plain", Fetched: fetched, LastModified: header, Body: []byte("x")}, &buf)
		if err != nil || d.Info.Date.String() != want || d.Info.Medium != vocab.PlainText {
			t.Errorf("%s: %s, want %s (%v)", header, d.Info.Date, want, err)
		}
	}
}
