package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"anatomy/internal/plural"
	"anatomy/vocab"
)

// A tab is a browser process that renders one page.
type tab struct {
	o       *Options
	ctx     context.Context // of chromedp; ends with the process
	cancel  context.CancelCauseFunc
	end     context.CancelFunc // of the process
	profile string
	lock    *os.File // holds the lock of the profile
	session *chromedp.Target

	paused  chan fetch.EventRequestPaused
	loaded  chan struct{} // closed when the page and what it names have been loaded
	started bool          // the document was delivered
	count   int           // requests of scripts
}

const (
	quiet    = time.Second            // without requests, after which a page is taken as complete
	look     = 100 * time.Millisecond // between two checks of the bounds
	patience = 5 * time.Second        // for a page that is quiet, and still without text
	maxHTML  = 16 << 20               // UTF-16 units of a document
)

// profilePrefix begins the names of profiles, which are in the temporary folder.
const profilePrefix = "anatomy-render-"

// start starts a process and opens a tab in it.
func start(ctx context.Context, o *Options, agent string) (t *tab, err error) {
	t = &tab{o: o, paused: make(chan fetch.EventRequestPaused), loaded: make(chan struct{})}
	if t.profile, err = os.MkdirTemp("", profilePrefix); err != nil {
		return nil, err
	}
	t.lock = lockFolder(t.profile)
	if err := chownToBrowser(t.profile); err != nil {
		t.lock.Close()
		return nil, errors.Join(err, os.RemoveAll(t.profile))
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(o.Path), chromedp.UserDataDir(t.profile), chromedp.DisableGPU,
		chromedp.Flag("no-sandbox", false), // chromedp would add it for root
		chromedp.Flag("proxy-server", "socks5://none.invalid:1"),
		chromedp.Flag("proxy-bypass-list", "<-loopback>"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"),
		chromedp.Flag("webrtc-ip-handling-policy", "disable_non_proxied_udp"),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("blink-settings", "imagesEnabled=false"),
		chromedp.Flag("js-flags", fmt.Sprintf("--max-old-space-size=%d", o.Memory>>21)),
		chromedp.NoInheritEnv, chromedp.Env("HOME="+t.profile, "TMPDIR="+t.profile, "PATH="+os.Getenv("PATH")),
		chromedp.CombinedOutput(io.Discard), chromedp.ModifyCmdFunc(func(c *exec.Cmd) { confine(c) }))
	if agent != "" {
		options = append(options, chromedp.UserAgent(agent))
	}
	ctx, t.cancel = context.WithCancelCause(ctx)
	ctx, t.end = chromedp.NewExecAllocator(ctx, options...)
	silent := func(string, ...any) {}
	t.ctx, _ = chromedp.NewContext(ctx, chromedp.WithLogf(silent), chromedp.WithErrorf(silent))
	err = chromedp.Do(t.ctx, chromedp.Func(func(_ context.Context, s *chromedp.Target) error {
		t.session = s
		return nil
	}))
	if err != nil {
		t.close()
		return nil, err
	}
	go t.watch(chromedp.FromContext(t.ctx).Browser.Process().Pid)
	return t, nil
}

// close ends the process, and deletes its profile.
func (t *tab) close() {
	defer t.lock.Close()
	if c := chromedp.FromContext(t.ctx); c.Browser != nil {
		end(c.Browser.Process().Pid)
	}
	t.cancel(errors.New("ended"))
	t.end()
	if c := chromedp.FromContext(t.ctx); c.Allocator != nil {
		c.Allocator.Wait()
	}
	for range 50 { // a child may write until it notices
		if os.RemoveAll(t.profile) == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// watch ends the process when it has more memory than allowed.
func (t *tab) watch(pid int) {
	for t.ctx.Err() == nil {
		if used := memory(pid) + size(t.profile); used > t.o.Memory {
			t.cancel(fmt.Errorf("more than %d MB of memory", t.o.Memory>>20))
			end(pid)
			return
		}
		select {
		case <-t.ctx.Done():
		case <-time.After(look):
		}
	}
}

// disabling is a script that disables dialogs, windows, and direct access to the network.
const disabling = `for (const name of ["alert", "confirm", "prompt", "print", "open"]) window[name] = () => null;
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "WebSocket"]) delete window[name];`

// render loads the page, and answers its requests until it is quiet.
func (t *tab) render(p *vocab.Page, load Load) ([]byte, error) {
	paused := cdp.Events(t.ctx, t.session, fetch.RequestPaused)
	go func() {
		n := 0
		for event, err := range paused {
			if err != nil {
				return
			}
			if n++; n > t.o.Requests+maxRefused {
				t.cancel(fmt.Errorf("more than %d requests", t.o.Requests+maxRefused))
				return
			}
			select {
			case t.paused <- event:
			case <-t.ctx.Done():
			}
		}
	}()
	fired := cdp.Events(t.ctx, t.session, page.LoadEventFired)
	go func() {
		for range fired {
			if t.ctx.Err() == nil {
				close(t.loaded)
			}
			return
		}
	}()
	if _, err := cdp.Call(t.ctx, t.session, fetch.Enable, fetch.EnableParams{}); err != nil {
		return nil, err
	}
	first := page.AddScriptToEvaluateOnNewDocumentParams{Source: disabling}
	if _, err := cdp.Call(t.ctx, t.session, page.AddScriptToEvaluateOnNewDocument, first); err != nil {
		return nil, err
	}
	go func() { // it returns when the document has begun
		_, _ = cdp.Call(t.ctx, t.session, page.Navigate, page.NavigateParams{URL: p.URL})
	}()
	return t.run(p, load)
}

// run answers requests until the page is quiet or a bound is reached, and returns its document.
func (t *tab) run(p *vocab.Page, load Load) ([]byte, error) {
	began, last, loaded := time.Now(), time.Now(), t.loaded
	var waited time.Duration // for the answers to requests
	var quietSince time.Time // of a page without text
	var taken chan document
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		select {
		case event := <-t.paused:
			from := time.Now()
			if err := t.answer(&event, p, load); err != nil {
				return nil, err
			}
			last = time.Now()
			waited += last.Sub(from)
			quietSince = time.Time{}
		case <-loaded:
			loaded, last = nil, time.Now()
		case d := <-taken:
			taken = nil
			switch {
			case d.err != nil:
				return nil, d.err
			case quietSince.IsZero():
				quietSince = time.Now()
			}
			if time.Since(last) < quiet {
				break // it went on meanwhile
			}
			made := &vocab.Page{URL: p.URL, ContentType: vocab.RenderedType, Body: d.html}
			if len(d.html) > 0 && (!t.o.Needs(made) || time.Since(quietSince) > patience) {
				return d.html, nil
			}
			last = time.Now()
		case <-ticker.C:
			if time.Since(began)-waited > t.o.Script {
				return nil, fmt.Errorf("scripts run for more than %s", plural.Duration(t.o.Script))
			}
			if loaded == nil && taken == nil && time.Since(last) >= quiet {
				taken = make(chan document, 1)
				go t.sendDocument(taken)
			}
		case <-t.ctx.Done():
			return nil, context.Cause(t.ctx)
		}
	}
}

// maxRefused bounds the requests beyond Options.Requests that a page may try, answered or not.
const maxRefused = 200

var errNotLoaded = errors.New("not loaded")

// answer answers a request. Scripts and what they load come from load. Style sheets are empty, and
// nothing else is loaded, because it has no text.
func (t *tab) answer(e *fetch.EventRequestPaused, p *vocab.Page, load Load) error {
	r, err := (*vocab.Resource)(nil), errNotLoaded
	switch kind := e.ResourceType; {
	case kind == network.ResourceTypeDocument && !t.started:
		t.started = true
		header := map[string][]string{"Content-Type": {p.ContentType}}
		r, err = &vocab.Resource{Status: 200, Header: header, Body: p.Body}, nil
	case kind == network.ResourceTypeStylesheet:
		header := map[string][]string{"Content-Type": {"text/css"}}
		r, err = &vocab.Resource{Status: 200, Header: header}, nil
	case e.Request.Headers["Accept"] == "text/event-stream":
		r, err = &vocab.Resource{Status: 204}, nil // so that the page does not try again
	case e.Request.Method != "GET" || load == nil:
	case kind == network.ResourceTypeScript, kind == network.ResourceTypeXHR, kind == network.ResourceTypeFetch:
		if t.count++; t.count <= t.o.Requests {
			r, err = load(t.ctx, e.Request.URL)
		}
	}
	if err != nil {
		refuse := fetch.FailRequestParams{RequestID: e.RequestID, ErrorReason: network.ErrorReasonBlockedByClient}
		_, err = cdp.Call(t.ctx, t.session, fetch.FailRequest, refuse)
		return ignoreGone(err)
	}
	give := fetch.FulfillRequestParams{RequestID: e.RequestID, ResponseCode: int64(r.Status), Body: r.Body}
	for name, values := range r.Header {
		for _, value := range values {
			give.ResponseHeaders = append(give.ResponseHeaders, &fetch.HeaderEntry{Name: name, Value: value})
		}
	}
	_, err = cdp.Call(t.ctx, t.session, fetch.FulfillRequest, give)
	return ignoreGone(err)
}

// ignoreGone returns err, or nil if it is that of answering a request that the page has cancelled.
func ignoreGone(err error) error {
	var protocol *cdproto.Error
	if errors.As(err, &protocol) {
		return nil
	}
	return err
}

// A document is the result of the scripts of a page.
type document struct {
	html []byte
	err  error
}

// markup is the document without the text for browsers that run no scripts.
var markup = fmt.Sprintf(`document.querySelectorAll("noscript").forEach(e => e.remove()),
"<!doctype html>" + (document.documentElement?.outerHTML ?? "").slice(0, %d)`, maxHTML)

// sendDocument sends the document when the page's scripts let it.
func (t *tab) sendDocument(to chan<- document) {
	result, err := cdp.Call(t.ctx, t.session, runtime.Evaluate, runtime.EvaluateParams{Expression: markup})
	text := ""
	if err == nil && result.Result != nil {
		err = json.Unmarshal(result.Result.Value, &text)
	}
	to <- document{[]byte(text), err}
}
