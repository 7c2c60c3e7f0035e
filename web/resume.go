package web

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"

	"anatomy/searcher"
)

// A cursor is where a page of results ended, in which state of the index, and of which search. Who
// follows it gets the results after these, neither twice nor with gaps; where the index has changed
// since, an error says so, as those results would be of another order. /api/v1/export has no such
// trouble.
type cursor struct {
	Start  int    `json:"s"`
	State  string `json:"i"`
	Search uint64 `json:"q"` // hash of what decides the order
}

// errChanged is what who follows a cursor gets when the index is another by now.
var errChanged = &problem{http.StatusConflict, "index_changed", "The index has changed", "The index has changed since the page that this cursor is of: begin again without it, or take all results by /api/v1/export."}

// searchHash is the same for requests that differ in where they start alone.
func searchHash(r searcher.Request) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %d %v %v %d %q", r.Query, r.Limit, r.Verbatim, r.Ungrouped, r.Similar, r.Rank)
	if r.Preferences != nil {
		fmt.Fprintf(h, " %+v", *r.Preferences)
	}
	return h.Sum64()
}

// cursorAfter is the cursor to the results after those of an answer, "" where there are none.
func cursorAfter(r searcher.Request, a *searcher.Response) string {
	next, ok := nextOffset(r, a)
	if !ok || a.State == "" {
		return ""
	}
	b, _ := json.Marshal(cursor{next, a.State, searchHash(r)}) // cannot fail
	return base64.RawURLEncoding.EncodeToString(b)
}

// maxCursor bounds a cursor, in bytes.
const maxCursor = 256

// resume moves a request to where its cursor is, and gives the state of the index that it wants, ""
// where there is no cursor.
func (p *params) resume(r *searcher.Request) (state string) {
	text := p.text("cursor", maxCursor)
	if text == "" {
		return ""
	}
	var c cursor
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	switch {
	case err != nil || c.State == "" || c.Start < 0 || c.Start > searcher.MaxOffset:
		p.fail("Parameter cursor is none that was given here.")
	case c.Search != searchHash(*r):
		p.fail("Parameter cursor is of another search: only explain may differ.")
	case p.one("start") != "":
		p.fail("Parameters cursor and start are two ways to say one thing.")
	}
	r.Offset = c.Start
	return c.State
}
