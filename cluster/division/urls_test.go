package division

import (
	"errors"
	"slices"
	"testing"

	"anatomy/cluster/bucket/buckettest"
)

// A seeded shard records its seeds. It accepts none while failing is set.
type seeded struct {
	Member
	failing bool
	seeds   []string
}

func (s *seeded) AddSeeds(urls []string) error {
	if s.failing {
		return errors.New("the disk is full")
	}
	s.seeds = append(s.seeds, urls...)
	return nil
}

// TestURLsAreAddedAgain has a shard fail to add a URL: it gets the URL again, until it has it.
func TestURLsAreAddedAgain(t *testing.T) {
	b := &buckettest.Memory{}
	member := &seeded{failing: true}
	n := New(Options{Bucket: b, Dir: t.TempDir(), Shards: 1, Of: func(string) (int, error) { return 0, nil }})
	n.shards[0].own = &owned{opened: make(chan struct{}), member: member}
	close(n.shards[0].own.opened)
	if err := AddURLs(t.Context(), b, []string{"http://one.test/"}); err != nil {
		t.Fatal(err)
	}
	if err := n.addURLs(t.Context()); err == nil {
		t.Fatal("no error")
	}
	member.failing = false
	for range 2 {
		if err := n.addURLs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"http://one.test/"}; !slices.Equal(member.seeds, want) {
		t.Errorf("the shard has the seeds %q, want %q", member.seeds, want)
	}
}
