package api

import (
	"encoding/xml"
	"net/http"

	"github.com/gin-gonic/gin"

	"anatomy/web/internal/address"
	"anatomy/web/internal/text"
)

// OpenSearchDescription is an OpenSearch 1.1 description. Browsers add a search engine with it.
type OpenSearchDescription struct {
	XMLName       xml.Name          `xml:"http://a9.com/-/spec/opensearch/1.1/ OpenSearchDescription"`
	Moz           string            `xml:"xmlns:moz,attr"`
	ShortName     string            `xml:"ShortName"` // at most 16 characters
	Description   string            `xml:"Description"`
	InputEncoding string            `xml:"InputEncoding"`
	Image         openSearchImage   `xml:"Image"`
	URLs          []openSearchURL   `xml:"Url"`
	Example       openSearchExample `xml:"Query"`
	SearchForm    string            `xml:"moz:SearchForm"`
}

type openSearchImage struct {
	Width  int    `xml:"width,attr"`
	Height int    `xml:"height,attr"`
	Type   string `xml:"type,attr"`
	URL    string `xml:",chardata"`
}

type openSearchURL struct {
	Type     string `xml:"type,attr"`
	Rel      string `xml:"rel,attr"`
	Offset   *int   `xml:"indexOffset,attr,omitempty"`
	Template string `xml:"template,attr"`
}

type openSearchExample struct {
	Role  string `xml:"role,attr"`
	Terms string `xml:"searchTerms,attr"`
}

func (s *openSearch) Show(c *gin.Context) error {
	base, err := s.site.URL(c.Request)
	if err != nil {
		return err
	}
	zero := 0 // parameter start counts from 0
	body, err := xml.MarshalIndent(OpenSearchDescription{
		Moz:           "http://www.mozilla.org/2006/browser/search/",
		ShortName:     text.Shorten(s.name, 15),
		Description:   "Search with " + s.name,
		InputEncoding: "UTF-8",
		Image:         openSearchImage{32, 32, "image/svg+xml", base + s.icon},
		URLs: []openSearchURL{
			{"text/html", "results", &zero, base + "/search?q={searchTerms}&start={startIndex?}"},
			{"application/json", "results", &zero, base + "/api/v1/search?q={searchTerms}&start={startIndex?}&num={count?}"},
			{"application/x-suggestions+json", "suggestions", nil, base + "/suggest?q={searchTerms}"},
			{"application/atom+xml", "results", &zero, base + "/search?q={searchTerms}&start={startIndex?}&num={count?}&format=atom"},
			{"application/rss+xml", "results", &zero, base + "/search?q={searchTerms}&start={startIndex?}&num={count?}&format=rss"},
			{"application/opensearchdescription+xml", "self", nil, base + "/opensearch.xml"},
		},
		Example:    openSearchExample{"example", "anatomy"},
		SearchForm: base + "/",
	}, "", "  ")
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "public, max-age=86400")
	c.Data(http.StatusOK, "application/opensearchdescription+xml; charset=utf-8", append([]byte(xml.Header), body...))
	return nil
}

// An openSearch describes the search engine to browsers.
type openSearch struct {
	site *address.Site
	name string // of the engine
	icon string // path of its icon
}
