package rules

import (
	"fmt"
	"strings"
	"testing"

	"anatomy/config"
)

// TestTooManyURLs checks that a list of start URLs is kept up to a bound, and that the user is told of
// a longer one.
func TestTooManyURLs(t *testing.T) {
	r := &Rules{config: config.New(t.TempDir())}
	var urls []string
	for i := range maxURLs {
		urls = append(urls, fmt.Sprintf("http://a.test/%d", i))
	}
	r.AddURLs(urls)
	if kept, _, _ := r.config.Flag(urlKey); len(kept) != maxURLs || r.Text(false) != "" {
		t.Errorf("%d are kept: %q", len(kept), r.Text(false))
	}
	r.AddURLs([]string{"b.test", "https://B.test/"})
	if kept, _, _ := r.config.Flag(urlKey); len(kept) != maxURLs || !strings.HasPrefix(r.Text(false), "1001 start URLs: ") {
		t.Errorf("%d are kept: %q", len(kept), r.Text(false))
	}
}
