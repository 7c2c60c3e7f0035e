package crawler

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"anatomy/vocab"
)

// secretFields are header fields that are not kept.
var secretFields = map[string]bool{
	"Authorization": true, "Cookie": true, "Proxy-Authorization": true, "Set-Cookie": true, "Set-Cookie2": true,
}

// keptHeaders returns the headers of the request for a page and of its answer, for Page.Headers, without
// secretFields and the fields of the origin's credentials. Fields are ordered by name. If they are longer than
// [vocab.MaxHeaders], the last ones are left out.
func keptHeaders(resp *http.Response, credentials http.Header) string {
	secret := maps.Clone(secretFields)
	for name := range credentials {
		secret[name] = true
	}
	var b strings.Builder
	req := resp.Request
	fmt.Fprintf(&b, "%s %s %s\r\nHost: %s\r\n", req.Method, req.URL.RequestURI(), req.Proto, cmp.Or(req.Host, req.URL.Host))
	req.Header.WriteSubset(&b, secret)
	fmt.Fprintf(&b, "\r\n%s %s\r\n", resp.Proto, resp.Status)
	resp.Header.WriteSubset(&b, secret)
	for _, coding := range resp.TransferEncoding {
		fmt.Fprintf(&b, "Transfer-Encoding: %s\r\n", coding)
	}
	const end = "\r\n"
	kept := b.String()
	if most := vocab.MaxHeaders - len(end); len(kept) > most {
		kept = kept[:strings.LastIndex(kept[:most], end)+len(end)]
	}
	return kept + end
}
