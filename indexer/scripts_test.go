package indexer

import (
	"strings"
	"testing"

	"anatomy/vocab"
)

// TestScripted checks which pages are said to have no text without JavaScript.
func TestScripted(t *testing.T) {
	const need = "<noscript>You need to enable JavaScript to run this app.</noscript>"
	const app = "<title>Shop</title><script src=app.js></script>"
	for body, want := range map[string]bool{
		app + need + "<div id=root></div>":                                                              true,
		app + "<div id=app>Loading …</div>":                                                             true,
		app + "<a href=#main>Skip to content</a><div id=app><img src=logo></div>":                       true,
		app + need + "<noscript><a href=/plain>Plain</a><iframe src=//tags.test/x></iframe></noscript>": true,
		"<script>document.write('text')</script>":                                                       true,
		"<script type=module src=m.js></script>":                                                        true,
		"<script type=' Text/JavaScript '>run()</script>":                                               true,
		"<template>text</template><script>run()</script>":                                               true,
		"<p hidden>text</p><script>run()</script>":                                                      true,

		need:                  false,
		"":                    false,
		"<div id=root></div>": false,
		app + "<p>" + strings.Repeat("x", maxPlaceholder+1):    false,
		app + need + "<p>This page explains what the shop has": false,
		app + "<a href=/en>English</a>":                        false,
		app + "<frameset><frame src=a></frameset>":             false,
		app + "<meta http-equiv=refresh content='0; url=/x'>":  false,
		app + need + "<iframe src=/inner></iframe>":            false,
		"<script type='application/ld+json'>{}</script>":       false,
		"<script type=text/template>text</script>":             false,
	} {
		d := parseHTML(t, body)
		if got := d.Info.Genre == vocab.Scripted; got != want {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
	for _, medium := range []string{"text/plain", "text/markdown", "application/atom+xml"} {
		page := vocab.Page{URL: pageURL, ContentType: medium, Body: []byte("<feed><p>x")}
		if d := parsePage(t, &page); d.Info.Genre == vocab.Scripted {
			t.Errorf("%s has no text without JavaScript", medium)
		}
	}
}
