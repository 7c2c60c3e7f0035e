package indexer

import (
	"bytes"
	"regexp"

	"anatomy/indexer/datatext"
	"anatomy/indexer/internal/decode"
	"anatomy/indexer/servicetext"
	"anatomy/vocab"
)

// apiCatalog is the well-known path at which a host lists its services (RFC 9727). It is requested
// once per host, and only if a definition was found there.
const apiCatalog = "/.well-known/api-catalog"

// maxScript bounds the script that is searched for the URL of a definition, in bytes.
const maxScript = 64 << 10

// readService reads the definition of a service, or a list of definitions. It returns false if body,
// which is UTF-8, is neither.
func (p *htmlParser) readService(body []byte) bool {
	if !servicetext.Looks(body) {
		return false
	}
	page, medium, err := servicetext.Convert(body, p.links.page.String())
	if err != nil {
		return false
	}
	p.meta.medium = medium
	p.read(page)
	if medium.Service() {
		p.relations.add(&p.links, []byte("api-catalog"), []byte(apiCatalog), nil)
	}
	return true
}

// DataPage returns the HTML that Parse reads instead of a definition of a service, a list of
// definitions, CSV or JSON, if page is one of these.
func DataPage(page *vocab.Page) (html []byte, ok bool) {
	medium, charset := mediumOf(page)
	if medium == vocab.Markdown {
		return nil, false
	}
	body, err := decode.UTF8(page.Body, page.ContentType, charset)
	if err != nil {
		return nil, false
	}
	if servicetext.Looks(body) {
		if html, _, err = servicetext.Convert(body, page.URL); err == nil {
			return html, true
		}
	}
	switch medium {
	case vocab.JSON:
		html, err = datatext.JSON(body)
	case vocab.CSV:
		html, err = datatext.CSV(body)
	default:
		return nil, false
	}
	return html, err == nil
}

// viewers are the functions and elements with which a page shows a definition in the browser.
var viewers = [][]byte{[]byte("SwaggerUI"), []byte("SwaggerUi"), []byte("Redoc.init")}

// definitionURL is the URL of a definition in a script that calls a viewer.
var definitionURL = regexp.MustCompile(
	`(?:[{,\s]["']?url["']?\s*:|Redoc\.init\()\s*["']([^"'\s<>]{1,1000})["']`)

// addScript adds the definitions that a script shows in Swagger UI or Redoc.
func (p *htmlParser) addScript(script []byte) {
	script = script[:min(len(script), maxScript)]
	for _, viewer := range viewers {
		if !bytes.Contains(script, viewer) {
			continue
		}
		for _, m := range definitionURL.FindAllSubmatch(script, maxRelated) {
			p.relations.add(&p.links, []byte("service-desc"), m[1], nil)
		}
		return
	}
}

// addViewer adds the definition that an element of Redoc or RapiDoc shows.
func (p *htmlParser) addViewer() {
	if ref, ok := p.tags.Attr("spec-url"); ok {
		p.relations.add(&p.links, []byte("service-desc"), ref, nil)
	}
}
