package crawler

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"anatomy/vocab"
)

// TestMaySend ends the permission to send at once, and while robots.txt is answered. No request
// follows, neither for robots.txt nor on a connection that is open already.
func TestMaySend(t *testing.T) {
	for _, scheme := range []string{"http", "https"} {
		for want := range int32(4) {
			var requests atomic.Int32
			w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				http.NotFound(rw, r)
			}, func(o *Options) {
				o.MaySend = func() error {
					if requests.Load() >= want {
						return errors.New("not any more")
					}
					return nil
				}
			})
			w.client.http.TLSClientConfig.InsecureSkipVerify = true
			w.Visit(t.Context(), vocab.Lease{Host: "a.test", URLs: []vocab.Target{
				{URL: scheme + "://a.test/1"}, {URL: scheme + "://a.test/2"}, {URL: scheme + "://a.test/3"},
			}}, func(vocab.Fetch) {})
			if got := requests.Load(); got != want {
				t.Errorf("%s: %d requests, want %d", scheme, got, want)
			}
		}
	}
}
