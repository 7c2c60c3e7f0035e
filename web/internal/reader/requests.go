package reader

import (
	"context"

	"anatomy/collection"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/internal/params"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/text"
)

// Limits of a report of links.
const (
	DefaultLinks = 25 // each way
	MaxLinks     = 1000
)

// LinksNumber returns parameter num of a report of links.
func LinksNumber(p *params.Params) int { return p.Number("num", DefaultLinks, 1, MaxLinks) }

// LinksAsked reports links by parameters doc or url, at most n each way, with the titles of titled.
func (r *Reader) LinksAsked(
	ctx context.Context, p *params.Params, n int, titled func(*collection.LinkReport) []vocab.DocID,
) (*collection.LinkReport, error) {
	doc, address := p.Doc("doc"), p.Text("url", params.MaxURL)
	if doc == 0 && address == "" {
		p.Required("url", "")
	}
	if p.Err != nil {
		return nil, p.Err
	}
	return r.Links(ctx, doc, address, n, titled)
}

// TraceAsked traces the page of parameter url.
func (r *Reader) TraceAsked(ctx context.Context, p *params.Params) (asked string, t *collection.Trace, err error) {
	asked = p.Text("url", params.MaxURL)
	p.Required("url", asked)
	if p.Err != nil {
		return "", nil, p.Err
	}
	t, err = r.Trace(ctx, asked)
	return asked, t, err
}

// Limits of a report of a site.
const (
	defaultSitePages = 50
	MaxSitePages     = 1000
)

// SiteAsked reports the site that raw names, by parameter num.
func (r *Reader) SiteAsked(ctx context.Context, p *params.Params, raw string) (report *collection.SiteReport, num int, err error) {
	p.One("site")
	num = p.Number("num", defaultSitePages, 1, MaxSitePages)
	site, ok := text.SiteName(raw)
	if !ok {
		p.Fail("%q is not a site. Write example.org or example.org/docs.", text.Shorten(text.Visible(raw), 80))
	}
	if p.Err != nil {
		return nil, 0, p.Err
	}
	report, err = r.Site(ctx, site, num)
	return report, num, err
}

// PageAsked returns the stored page of parameters doc or url, or an older version of doc's.
func (r *Reader) PageAsked(ctx context.Context, p *params.Params, version string) (*Page, error) {
	doc, address := p.Doc("doc"), p.Text("url", params.MaxURL)
	if doc == 0 && address == "" {
		p.Required("doc", "")
	}
	if p.Err != nil {
		return nil, p.Err
	}
	if version == "" {
		return r.Page(ctx, doc, address)
	}
	if doc == 0 {
		return nil, respond.NotFound("An older version needs both parameters, doc and version.")
	}
	return r.Version(ctx, doc, version)
}

// ExplanationAsked explains the score of parameter url for q.
func (r *Reader) ExplanationAsked(ctx context.Context, p *params.Params, preferred searcher.Preferences) (query string, e *searcher.Explanation, err error) {
	query, target := p.Text("q", params.MaxQuery), p.Text("url", params.MaxURL)
	rank, anchors := p.Text("rank", params.MaxRank), p.Anchors()
	p.Required("q", query)
	p.Required("url", target)
	if p.Err != nil {
		return "", nil, p.Err
	}
	e, err = r.Explain(ctx, searcher.Request{
		Query: query, Preferences: params.OfSearch(preferred, true), Rank: rank, Anchors: anchors,
	}, target)
	return query, e, err
}
