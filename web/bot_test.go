package web

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"anatomy/web/pages"
)

// TestBot: whoever is visited learns by what name, from where and how to end it; a server without a crawler has no
// such page and leads to none.
func TestBot(t *testing.T) {
	body := get(t, fullServer(), "/bot", http.StatusOK)
	for _, part := range []string{"anatomy/0.1 (contact: you@example.org)", "User-agent: anatomy\nDisallow: ", "<code>192.0.2.7</code>, <code>2001:db8::7</code>", "noindex"} {
		if !strings.Contains(body, part) {
			t.Errorf("%q is missing", part)
		}
	}
	if !strings.Contains(get(t, fullServer(), "/", http.StatusOK), `href="/bot"`) {
		t.Error("nothing leads to it")
	}
	alone := newServerOf(Options{Collection: newFake()})
	get(t, alone, "/bot", http.StatusNotFound)
	if strings.Contains(get(t, alone, "/", http.StatusOK), "/bot") {
		t.Error("a link leads nowhere")
	}
	unknown := newServerOf(Options{Collection: newFake(), Bot: &pages.Bot{Agent: "<b>", Product: "anatomy", Addresses: func() []netip.Addr { return nil }}})
	if body := get(t, unknown, "/bot", http.StatusOK); strings.Contains(body, "They come from") || strings.Contains(body, "<b>") {
		t.Errorf("without addresses:\n%s", body)
	}
}
