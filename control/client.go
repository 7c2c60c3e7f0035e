package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"anatomy/disk/shards"
	"anatomy/disk/snapshot"
	"anatomy/vocab"
	"anatomy/weburl"
)

// answerTimeout bounds one request. A removal walks all queues.
const answerTimeout = time.Minute

// maxAnswer bounds an answer in bytes.
const maxAnswer = 4 << 20

// A Client sends requests to the crawl on a data folder, in this process or another. The error of
// every method wraps vocab.ErrNoCrawl if no crawl runs, and ErrOtherVersion if the answer cannot be
// parsed.
type Client struct {
	http   http.Client
	shards []*Client // of a divided collection, see NewForFolder
}

// New returns a client for the crawls of the data folder dir. It opens a connection for each
// request.
func New(dir string) *Client {
	return &Client{http: http.Client{
		Timeout: answerTimeout,
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return dial(ctx, dir)
			},
			DisableKeepAlives: true,
		},
	}}
}

// NewForFolder is New, but if nodes divide the shards of the folder dir, the client is for the
// crawls of all shards that a process owns there. Status returns their sum.
func NewForFolder(dir string) *Client {
	c := New(dir)
	if !shards.IsDivided(dir) {
		return c
	}
	if m, err := shards.Read(dir); err == nil {
		for i := range m.Folders {
			c.shards = append(c.shards, New(shards.Folder(dir, i)))
		}
	}
	return c
}

// each calls do with the client of each crawl, and returns vocab.ErrNoCrawl if none runs.
func (c *Client) each(do func(*Client) error) error {
	runs, failed := false, error(nil)
	for _, s := range c.shards {
		if err := do(s); !errors.Is(err, vocab.ErrNoCrawl) {
			runs, failed = true, errors.Join(failed, err)
		}
	}
	if !runs {
		return do(c)
	}
	return failed
}

// Status returns the state of the crawl and why its hosts wait.
func (c *Client) Status(ctx context.Context) (*vocab.CrawlStatus, error) {
	var sum *vocab.CrawlStatus
	err := c.each(func(c *Client) error {
		st := &vocab.CrawlStatus{}
		err := c.call(ctx, http.MethodGet, "/status", nil, st)
		switch {
		case sum == nil || sum.Process == 0: // of no crawl
			sum = st
		case err == nil:
			sum.Add(st)
		}
		return err
	})
	return sum, err
}

// Pause stops fetching until Resume.
func (c *Client) Pause(ctx context.Context) error {
	return c.each(func(c *Client) error { return c.call(ctx, http.MethodPost, "/pause", nil, nil) })
}

// Resume ends a pause.
func (c *Client) Resume(ctx context.Context) error {
	return c.each(func(c *Client) error { return c.call(ctx, http.MethodPost, "/resume", nil, nil) })
}

// ErrDividedSeeds is the error of Add for a collection whose shards are divided among nodes.
var ErrDividedSeeds = errors.New("the shards are divided among nodes")

// Add adds URLs to the seeds of the crawl and returns the state of each.
func (c *Client) Add(ctx context.Context, urls []string) ([]vocab.AddResult, error) {
	if c.shards != nil {
		return nil, ErrDividedSeeds
	}
	var answer addAnswer
	err := c.call(ctx, http.MethodPost, "/add", addRequest{urls}, &answer)
	return answer.Added, err
}

// Remove removes the URLs of a host, or the URLs that match a pattern, from this run of the crawl.
// It returns how many were queued.
func (c *Client) Remove(ctx context.Context, pattern string) (removed uint64, err error) {
	err = c.each(func(c *Client) error {
		var answer removeAnswer
		err := c.call(ctx, http.MethodPost, "/remove", removeRequest{pattern}, &answer)
		removed += answer.Removed
		return err
	})
	return removed, err
}

// SetDelay sets the delay of the site of a host for this run of the crawl, and returns the site.
func (c *Client) SetDelay(ctx context.Context, host string, d time.Duration) (string, error) {
	var answer delayAnswer
	err := c.each(func(c *Client) error {
		return c.call(ctx, http.MethodPost, "/delay", delayRequest{host, d}, &answer)
	})
	return answer.Site, err
}

// Block blocks targets permanently, see engine.Block.
func (c *Client) Block(ctx context.Context, targets []string) (r BlockReport, err error) {
	return r, c.call(ctx, http.MethodPost, "/ban", blockRequest{targets}, &r)
}

// Unblock unblocks targets.
func (c *Client) Unblock(ctx context.Context, targets []string) (r BlockReport, err error) {
	return r, c.call(ctx, http.MethodPost, "/unban", blockRequest{targets}, &r)
}

// Blocked returns the patterns of all blocks.
func (c *Client) Blocked(ctx context.Context) ([]string, error) {
	var r BlockReport
	err := c.call(ctx, http.MethodGet, "/bans", nil, &r)
	return r.Patterns, err
}

// Trace returns the records of a URL, see Follow.
func (c *Client) Trace(ctx context.Context, u weburl.URL) (steps []Step, err error) {
	err = c.call(ctx, http.MethodGet, "/trace?url="+url.QueryEscape(u.String()), nil, &steps)
	if err == nil && len(steps) == 0 {
		err = errors.New("the crawl returned no record and no error")
	}
	return steps, err
}

// Snapshot makes the crawl copy its data folder for a purpose.
func (c *Client) Snapshot(ctx context.Context, p snapshot.Purpose) (*snapshot.Snapshot, error) {
	s := &snapshot.Snapshot{}
	return s, c.call(ctx, http.MethodPost, "/snapshot?for="+url.QueryEscape(string(p)), nil, s)
}

// Changes returns a text that differs after each change of the document index. A snapshot is
// no change.
func (c *Client) Changes(ctx context.Context) (string, error) {
	var answer changesAnswer
	err := c.call(ctx, http.MethodGet, "/changes", nil, &answer)
	return answer.Changes, err
}

// call sends body as JSON and decodes the answer into answer, if not nil.
func (c *Client) call(ctx context.Context, method, path string, body, answer any) error {
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://crawl"+version+path, &sent)
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the address, which is not a real one
		}
		return err
	}
	defer response.Body.Close()
	got, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("control socket: %s: %w", path, err)
	}
	if response.StatusCode != http.StatusOK {
		return refusal(response.StatusCode, got)
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(got, answer); err != nil {
		return fmt.Errorf("%w: %v", ErrOtherVersion, err)
	}
	return nil
}

// refusal returns the error of an answer whose status is not 200.
func refusal(status int, body []byte) error {
	var answer errorAnswer
	if err := json.Unmarshal(body, &answer); err != nil || answer.Error == "" {
		return ErrOtherVersion
	}
	if status == http.StatusNotFound {
		return ErrUnknownURL
	}
	return errors.New(answer.Error)
}
