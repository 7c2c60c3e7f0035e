package api

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"

	"anatomy/searcher"
	"anatomy/web/internal/address"
	"anatomy/web/internal/params"
	"anatomy/web/internal/respond"
)

// A cursor marks the end of a page of results: the offset, the state of the index, and the search.
// A client that follows cursors gets every result once. If the index has changed, the order has
// too, so the cursor fails; /api/v1/export has no such limit.
type cursor struct {
	Start  int    `json:"s"`
	State  string `json:"i"`
	Search uint64 `json:"q"` // hash of the fields that decide the order
}

// errChanged refuses a cursor of an earlier state of the index.
var errChanged = respond.NewProblem(http.StatusConflict, "index_changed", "The index has changed", "The index has changed since this cursor was made. Start again without it, or use /api/v1/export.")

// searchHash returns a hash of a request without its offset.
func searchHash(r searcher.Request) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %d %v %v %d %q %q", r.Query, r.Limit, r.Verbatim, r.Ungrouped, r.Similar, r.Rank, r.Reads)
	if r.Preferences != nil {
		fmt.Fprintf(h, " %+v", *r.Preferences)
	}
	return h.Sum64()
}

// cursorAfter returns the cursor for the results after those of a response, or "".
func cursorAfter(r searcher.Request, a *searcher.Response) string {
	next, ok := address.NextOffset(r, a)
	if !ok || a.State == "" {
		return ""
	}
	b, _ := json.Marshal(cursor{next, a.State, searchHash(r)}) // cannot fail
	return base64.RawURLEncoding.EncodeToString(b)
}

// maxCursor limits a cursor, in bytes.
const maxCursor = 256

// resume sets the offset of a request from its cursor and returns the state of the index that the
// cursor needs, "" without a cursor.
func resume(p *params.Params, r *searcher.Request) (state string) {
	text := p.Text("cursor", maxCursor)
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
		p.Fail("Parameter cursor is invalid.")
	case c.Search != searchHash(*r):
		p.Fail("Parameter cursor belongs to another search. Only explain may differ.")
	case r.Offset != 0:
		p.Fail("Use either parameter cursor or start, not both.")
	}
	r.Offset = c.Start
	return c.State
}
