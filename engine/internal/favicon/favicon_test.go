package favicon

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"anatomy/disk/icons"
	"anatomy/vocab"
)

// TestHandle: nothing is recorded of a host that gave no answer, which is asked again by a later crawl;
// that a host has no icon is.
func TestHandle(t *testing.T) {
	for outcome, isRecorded := range map[vocab.Outcome]bool{
		vocab.Skipped: false, vocab.Failed: false, vocab.NoName: false, vocab.Refused: false,
		vocab.NotFound: true, vocab.Forbidden: true, vocab.Redirected: true, vocab.Unsupported: true, vocab.TooLarge: true,
	} {
		dir := t.TempDir()
		c, err := New(dir, slog.New(slog.DiscardHandler), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		lease := c.Extend(vocab.Lease{Host: "a.test", URLs: []vocab.Target{{Doc: 1, URL: "https://a.test/x"}}})
		if len(lease.URLs) != 2 || lease.URLs[1].URL != "https://a.test/favicon.ico" {
			t.Fatalf("lease %+v", lease)
		}
		if c.Handle(&vocab.Fetch{Target: lease.URLs[0]}) {
			t.Error("a page is handled as an icon")
		}
		if !c.Handle(&vocab.Fetch{Target: lease.URLs[1], Outcome: outcome}) {
			t.Error("an icon is not handled")
		}
		entries, _ := os.ReadDir(icons.Path(dir))
		if (len(entries) == 1) != isRecorded {
			t.Errorf("%v: %d files", outcome, len(entries))
		}
		if again := c.Extend(vocab.Lease{Host: "a.test", URLs: lease.URLs[:1]}); len(again.URLs) != 1 {
			t.Errorf("%v: asked again in the same run", outcome)
		}
	}
	var none *Collector
	none.AddDeclared("http://a.test/", "http://a.test/i.png")
	if lease := none.Extend(vocab.Lease{URLs: make([]vocab.Target, 1)}); len(lease.URLs) != 1 {
		t.Error("no collector extends a lease")
	}
}
