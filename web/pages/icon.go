package pages

import (
	"crypto/sha256"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"anatomy/internal/raster"
	"anatomy/lru"
	"anatomy/web/internal/frame"
	"anatomy/web/internal/params"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/respond"
	"anatomy/weburl"
)

// iconPages show the icons of sites that a crawl has kept.
type iconPages struct {
	*frame.Frame
	reader *reader.Reader
	drawn  *lru.Cache[[sha256.Size]byte, []byte] // by hash of what the site sent; nil for what cannot be shown
}

const maxIcons = 8 << 20 // bytes of drawn, in memory

func newIconPages(f *frame.Frame, r *reader.Reader) *iconPages {
	return &iconPages{f, r, lru.New(maxIcons, func(_ [sha256.Size]byte, icon []byte) int { return 100 + sha256.Size + len(icon) })}
}

// icon answers with the icon of a host: parameter host.
func (s *iconPages) icon(c *gin.Context) error {
	p := params.Read(c)
	host := p.Text("host", maxSite)
	p.Required("host", host)
	if p.Err != nil {
		return p.Err
	}
	drawn := s.draw(host)
	if drawn == nil {
		return respond.NotFound("The collection has no icon of this host.")
	}
	respond.CacheForDay(c)
	c.Header("Content-Security-Policy", respond.DataPolicy)
	c.Data(http.StatusOK, "image/png", drawn)
	return nil
}

// draw returns the icon of a host, or nil. It reads the file each time, as a crawl may replace it and an
// operator may remove the host.
func (s *iconPages) draw(host string) []byte {
	content, err := s.reader.Collection.Icon(host)
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(content)
	drawn, ok := s.drawn.Get(sum)
	if !ok {
		drawn, _ = raster.Icon(content) // nil for content that is not an image
		s.drawn.Put(sum, drawn)
	}
	return drawn
}

// addIcons gives results the icons of their hosts that the collection has.
func addIcons(results []resultView, has func(host string) bool) {
	known := map[string]string{}
	for i := range results {
		u, err := weburl.Parse(results[i].URL)
		if err != nil {
			continue
		}
		href, ok := known[u.Host()]
		if !ok {
			if has(u.Host()) {
				href = "/icon?" + url.Values{"host": {u.Host()}}.Encode()
			}
			known[u.Host()] = href
		}
		results[i].Icon = href
	}
}
