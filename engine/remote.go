package engine

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
	"os"
	"time"

	"anatomy/disk/datadir"
	"anatomy/vocab"
	"anatomy/weburl"
)

// ErrOtherVersion says that a crawl cannot be spoken with.
var ErrOtherVersion = errors.New("the crawl was begun by another version of this program")

// A Control speaks with the crawl that runs on a data folder, in this process or another. Every
// method gives vocab.ErrNoCrawl where none does.
type Control struct {
	dir    string
	client http.Client
}

// NewControl speaks with the crawls of the data folder dir, one after the other.
func NewControl(dir string) *Control {
	c := &Control{dir: dir}
	c.client = http.Client{
		Timeout:   time.Minute, // a removal walks all queues
		Transport: &http.Transport{DialContext: c.dial, DisableKeepAlives: true},
	}
	return c
}

// dial follows the link of a socket whose name would be too long.
func (c *Control) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	path := datadir.ControlSocket(c.dir)
	if elsewhere, err := os.Readlink(path); err == nil {
		path = elsewhere
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil && ctx.Err() == nil { // no socket, or one that a crawl left that was killed
		err = fmt.Errorf("%s: %w", c.dir, vocab.ErrNoCrawl)
	}
	return conn, err
}

// Status says what the crawl does, and why it waits.
func (c *Control) Status(ctx context.Context) (*vocab.CrawlStatus, error) {
	st := &vocab.CrawlStatus{}
	return st, c.ask(ctx, http.MethodGet, "/status", nil, st)
}

// Pause stops fetching until Resume.
func (c *Control) Pause(ctx context.Context) error {
	return c.ask(ctx, http.MethodPost, "/pause", nil, nil)
}

// Resume goes on after Pause.
func (c *Control) Resume(ctx context.Context) error {
	return c.ask(ctx, http.MethodPost, "/resume", nil, nil)
}

// Add gives the crawl more URLs to start from.
func (c *Control) Add(ctx context.Context, urls []string) ([]vocab.Added, error) {
	var answer addAnswer
	err := c.ask(ctx, http.MethodPost, "/add", addRequest{urls}, &answer)
	return answer.Added, err
}

// Remove takes a host, or what matches a pattern, out of this run, and says how many URLs left the
// queues.
func (c *Control) Remove(ctx context.Context, pattern string) (uint64, error) {
	var answer removeAnswer
	err := c.ask(ctx, http.MethodPost, "/remove", removeRequest{pattern}, &answer)
	return answer.Removed, err
}

// SetDelay gives the site of a host a delay of its own for this run, see Crawl.SetDelay, and names the site.
func (c *Control) SetDelay(ctx context.Context, hostname string, d time.Duration) (string, error) {
	var answer delayAnswer
	err := c.ask(ctx, http.MethodPost, "/delay", delayRequest{hostname, d}, &answer)
	return answer.Site, err
}

// trace is what the crawl knows of a URL.
func (c *Control) trace(ctx context.Context, u weburl.URL) (steps []step, err error) {
	err = c.ask(ctx, http.MethodGet, "/trace?url="+url.QueryEscape(u.String()), nil, &steps)
	if err == nil && len(steps) == 0 {
		err = errors.New("the crawl knows nothing and gave no reason")
	}
	return steps, err
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 4 << 20

// ask sends body as JSON and reads the answer into one.
func (c *Control) ask(ctx context.Context, method, path string, body, answer any) error {
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://crawl"+controlVersion+path, &sent)
	if err != nil {
		return err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return plain(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("crawl: %s: %w", path, err)
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

// plain takes off what net/http says of the address, which is not a real one.
func plain(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

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
