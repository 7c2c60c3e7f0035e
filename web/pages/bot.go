package pages

import (
	"net/http"
	"net/netip"

	"anatomy/web/internal/frame"

	"github.com/gin-gonic/gin"
)

// A Bot describes the crawler of the collection to owners of sites.
type Bot struct {
	Agent     string              // User-Agent of its requests
	Product   string              // its name in robots.txt (RFC 9309 §2.2.1)
	Addresses func() []netip.Addr // of its requests, as far as known
}

// A botView is the page /bot.
type botView struct {
	Agent, Product string
	Addresses      []string
	Limits         []string // directives of a page on what is shown of it
}

// show shows who visits sites, how to keep the crawler away, and its addresses.
func (s *botPage) show(c *gin.Context) error {
	v := s.View(c, "About the crawler", "")
	body := &botView{Agent: s.bot.Agent, Product: s.bot.Product, Limits: []string{
		"nosnippet", "max-snippet", "noarchive", "unavailable_after", "data-nosnippet",
	}}
	for _, address := range s.bot.Addresses() {
		body.Addresses = append(body.Addresses, address.String())
	}
	v.Body = body
	return s.Render(c, http.StatusOK, "bot", v)
}

// A botPage is the page /bot.
type botPage struct {
	*frame.Frame
	bot *Bot
}
