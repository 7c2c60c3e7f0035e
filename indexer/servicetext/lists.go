package servicetext

import "strings"

// writeLinkset writes the links to definitions and their documentation in a linkset, as an API catalog
// is (RFC 9264, RFC 9727). It reports false if there is none.
func writeLinkset(set *node, p *page) bool {
	if set == nil {
		return false
	}
	p.title, p.list = "API catalog", true
	for _, context := range set.items() {
		for _, relation := range []string{"service-desc", "service-doc", "item", "api-catalog"} {
			for _, target := range context.get(relation).items() {
				if p.operations < maxEntries {
					p.entry(target.str("href"), target.str("title"))
				}
			}
		}
	}
	return p.operations > 0
}

// writeDirectory writes the links to the preferred versions of the definitions in a directory in the
// form of APIs.guru's list.json. It reports false if there is none.
func writeDirectory(root *node, p *page) bool {
	p.title, p.list = "Directory of OpenAPI definitions", true
	for _, api := range root.pairs() {
		versions := api.get("versions")
		preferred := versions.get(api.str("preferred"))
		if preferred == nil && len(versions.items()) > 0 {
			preferred = versions.items()[0]
		}
		url := preferred.str("swaggerUrl")
		if url == "" {
			url = preferred.str("openapiUrl")
		}
		if p.operations < maxEntries {
			p.entry(strings.TrimSpace(url), preferred.get("info").str("title"))
		}
	}
	return p.operations > 0
}
