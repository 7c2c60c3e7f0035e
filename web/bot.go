package web

import (
	"net/http"
	"net/netip"

	"github.com/gin-gonic/gin"
)

// A Bot is what the crawler of the collection tells of itself to those whose sites it visits.
type Bot struct {
	Agent     string              // User-Agent of its requests
	Product   string              // the name that robots.txt addresses it by (RFC 9309 §2.2.1)
	Addresses func() []netip.Addr // that its requests come from, as far as it knows
}

// A botView is the page /bot.
type botView struct {
	Agent, Product string
	Addresses      []netip.Addr
}

// botPage tells owners of sites who visits them, how to keep it away, and where it comes from.
func (s *Server) botPage(c *gin.Context) error {
	v := s.view("About the crawler", "")
	v.Bot = &botView{s.o.Bot.Agent, s.o.Bot.Product, s.o.Bot.Addresses()}
	return s.render(c, http.StatusOK, s.pages.bot, v)
}
