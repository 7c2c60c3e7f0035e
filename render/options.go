package render

import (
	"context"
	"time"

	"anatomy/vocab"
)

// Options configure a Browser. The zero value is suitable for the public web.
type Options struct {
	Path string // of Chromium; default the first of its usual names on PATH

	// Needs reports whether a page must be rendered. Default: always.
	Needs func(*vocab.Page) bool

	Script   time.Duration // for the scripts of a page, without what their requests take; default 15 s
	Time     time.Duration // for a page in all; default 2 minutes
	Memory   int64         // bytes of its processes and their files; default 1 GiB
	Requests int           // that the scripts of a page may make; default 64
	Pages    int           // rendered at a time; default half the processors
}

// A Load answers a request for a URL. It returns an error if the crawl may not or cannot fetch it.
// All calls come from the goroutine that called [Browser.Render].
type Load = func(ctx context.Context, url string) (*vocab.Resource, error)
