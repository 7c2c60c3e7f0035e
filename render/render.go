// Package render runs the scripts of pages in a Chromium, and returns the documents that they make.
//
// Pages are hostile, so each is rendered by a process of its own, with a new profile, within the
// browser's sandbox and bounds on time, memory and requests. The process has no network: a proxy
// that does not exist, no DNS, on Linux also a network namespace without interfaces. Every request
// of a page is intercepted, and answered with what the caller's load function returns.
package render

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"anatomy/internal/plural"
	"anatomy/vocab"
)

// A Browser renders pages. Its methods are safe for concurrent use.
type Browser struct {
	o     Options
	slots chan struct{}
}

// ErrNone is the reason why Open finds no browser. ErrSandbox is the reason why it cannot use one: pages
// are not rendered without Chromium's sandbox.
var (
	ErrNone    = errors.New("no Chromium found on PATH")
	ErrSandbox = errors.New("its sandbox needs user namespaces, which this system does not allow")
)

// names are the usual names of Chromium, the best first.
var names = []string{
	"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "headless_shell",
}

// Open finds the browser and renders a page with it, so that a crawl without a working one ends
// before it begins. It also deletes what killed processes left.
func Open(ctx context.Context, o Options) (*Browser, error) {
	if o.Path == "" {
		for _, name := range names {
			if path, err := exec.LookPath(name); err == nil {
				o.Path = path
				break
			}
		}
		if o.Path == "" {
			return nil, ErrNone
		}
	}
	removeStaleProfiles(profilePrefix)
	setDefault(&o.Script, 15*time.Second)
	setDefault(&o.Time, 2*time.Minute)
	setDefault(&o.Memory, 1<<30)
	setDefault(&o.Requests, 64)
	setDefault(&o.Pages, (runtime.NumCPU()+1)/2)
	if o.Needs == nil {
		o.Needs = func(*vocab.Page) bool { return true }
	}
	b := &Browser{o: o, slots: make(chan struct{}, o.Pages)}
	test := &vocab.Page{
		URL: "https://www.example.org/", ContentType: "text/html",
		Body: []byte("<body><script>document.body.append(40 + 2)</script>"),
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	_, err := b.Render(ctx, test, "", nil)
	if err != nil && strings.Contains(err.Error(), "No usable sandbox") { // its own words
		err = ErrSandbox
	}
	if err != nil {
		return nil, fmt.Errorf("%s does not work: %w", o.Path, err)
	}
	return b, nil
}

func setDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// Needs reports whether a page must be rendered.
func (b *Browser) Needs(p *vocab.Page) bool { return b.o.Needs(p) }

// Render returns the document that the scripts of a page make of it, as HTML in UTF-8. It blocks
// while as many pages as allowed are being rendered.
func (b *Browser) Render(ctx context.Context, p *vocab.Page, agent string, load Load) ([]byte, error) {
	select {
	case b.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-b.slots }()
	ctx, cancel := context.WithTimeoutCause(ctx, b.o.Time, fmt.Errorf("not rendered within %s", plural.Duration(b.o.Time)))
	defer cancel()
	t, err := start(ctx, &b.o, agent)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	defer t.close()
	html, err := t.render(p, load)
	if err != nil {
		return nil, causeOf(t.ctx, err)
	}
	return html, nil
}

// causeOf returns the reason why a context ended, or err.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
