package vocab

import (
	"net/http"
	"strings"
)

// RenderedType is the content type of pages whose body is the document that their scripts made, in
// UTF-8. Its parameter passes on with the page: into the repository and web archives.
const RenderedType = "text/html; charset=utf-8; rendered=yes"

// Rendered reports whether the body of a page is what its scripts made of the one that was fetched.
func (p *Page) Rendered() bool { return strings.HasSuffix(p.ContentType, "; rendered=yes") }

// A Resource is the answer to a request by the scripts of a page that is rendered.
type Resource struct {
	Status int
	Header http.Header // of the fields that a browser needs
	Body   []byte      // without content coding
}
