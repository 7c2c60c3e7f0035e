// Package servicetext converts definitions of web services to HTML: OpenAPI 2 and 3 and AsyncAPI
// 2 and 3 (JSON or YAML), WSDL 1.1 and 2.0, and GraphQL schemas (SDL, or the result of an introspection
// query). The page has title, provider, version and description of the service, and a section with an
// id for each operation: method and path, documentation, parameters and a request to copy. Lists of
// definitions become pages of links that are not indexed themselves: APIs.guru's list.json,
// linksets (RFC 9264), WS-Inspection.
//
// Definitions are untrusted. Readers are tolerant: they keep the valid rest of a truncated or
// partly wrong definition. Depth and nodes of the input and bytes of the output are bounded.
// References and aliases are followed where they are used, a bounded number of times, and never
// expanded.
package servicetext

import (
	"bytes"
	"errors"

	"anatomy/vocab"
)

// ErrFormat is the error of Convert for a body that is neither a definition nor a list of them.
var ErrFormat = errors.New("no valid definition of a service")

// maxHead is how many bytes of XML must have the namespace of a definition.
const maxHead = 8 << 10

// Looks reports whether a text may be a definition or a list. It costs little for other texts.
func Looks(body []byte) bool {
	text := bytes.TrimLeft(body, " \t\r\n")
	switch {
	case len(text) == 0:
		return false
	case text[0] == '{':
		return containsAny(text, `"openapi"`, `"swagger"`, `"asyncapi"`, `"__schema"`, `"linkset"`, `"swaggerUrl"`, `"openapiUrl"`)
	case text[0] == '<':
		return containsAny(text[:min(len(text), maxHead)], wsdl1, wsdl2, wsInspection)
	}
	return bytes.HasPrefix(text, []byte("openapi:")) || bytes.HasPrefix(text, []byte("swagger:")) ||
		bytes.HasPrefix(text, []byte("asyncapi:")) || containsAny(text, "\nopenapi:", "\nswagger:",
		"\nasyncapi:", "\n\"openapi\":", "\n\"swagger\":", "\n\"asyncapi\":") || isGraphQL(text)
}

func containsAny(text []byte, marks ...string) bool {
	for _, mark := range marks {
		if bytes.Contains(text, []byte(mark)) {
			return true
		}
	}
	return false
}

// Convert converts body, UTF-8 that was fetched from a URL, to a page of HTML in UTF-8. The medium is
// OpenAPI, AsyncAPI, WSDL or GraphQL for a definition, JSON or XML for a list. The error is
// ErrFormat for anything else.
func Convert(body []byte, url string) (html []byte, medium vocab.Medium, err error) {
	text := bytes.TrimLeft(body, " \t\r\n")
	p := &page{url: url}
	switch {
	case !Looks(text):
		return nil, vocab.OtherMedium, ErrFormat
	case text[0] == '<':
		medium = convertXML(text, p)
	case text[0] != '{' && isGraphQL(text):
		medium = convertGraphQL(text, p)
	default:
		medium = convertTree(readTree(text), p)
	}
	if medium == vocab.OtherMedium {
		return nil, medium, ErrFormat
	}
	return p.html(), medium, nil
}

// convertTree writes the definition or list in a JSON or YAML document.
func convertTree(root *node, p *page) vocab.Medium {
	schema := introspected(root)
	switch {
	case schema != nil && writeSchema(schema, p):
		return vocab.GraphQL
	case isOpenAPI(root):
		writeOpenAPI(root, p)
		return vocab.OpenAPI
	case isAsyncAPI(root):
		writeAsyncAPI(root, p)
		return vocab.AsyncAPI
	case writeLinkset(root.get("linkset"), p), writeDirectory(root, p):
		return vocab.JSON
	}
	return vocab.OtherMedium
}
