package collection

import (
	"context"
	"testing"

	"anatomy/crawler"
)

func TestImageFetcherForgetsHosts(t *testing.T) {
	x, err := NewImageFetcher(crawler.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	leave, err := x.enter(t.Context(), "a.test")
	if err != nil {
		t.Fatal(err)
	}
	if len(x.hosts) != 1 {
		t.Errorf("%d hosts are remembered during a fetch, want 1", len(x.hosts))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.enter(ended, "a.test"); err == nil {
		t.Error("a second fetch of the host did not wait")
	}
	if leave(); len(x.hosts) > 0 {
		t.Errorf("%d hosts are remembered after their fetches", len(x.hosts))
	}
}
