package crawler

import (
	"context"
	"net/http"
	"time"

	"anatomy/vocab"
	"anatomy/weburl"
)

// Replay judges an answer that came to somebody else at a time, as a web archive keeps it, by the rules
// for those that come over the wire: status, media type, content coding and every bound but those of
// time. Nothing is asked of anybody.
func (c *Crawler) Replay(u *weburl.URL, resp *http.Response, at time.Time) vocab.Fetch {
	f := vocab.Fetch{Target: vocab.Target{URL: u.String()}, Status: resp.StatusCode}
	ctx, g := c.guard(context.Background())
	defer g.stop()
	v := visit{c: c}
	v.judge(ctx, g, u, resp, &f)
	if f.Page != nil {
		f.Page.Fetched = at.UTC().Truncate(time.Second)
	}
	return f
}
