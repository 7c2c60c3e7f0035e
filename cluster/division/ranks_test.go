package division

import (
	"path/filepath"
	"testing"

	"anatomy/disk/shards"
	"anatomy/engine/collective"
)

// TestLinksOf: the state of the links differs after a shard has learnt a document of another one, without new links.
func TestLinksOf(t *testing.T) {
	const n = 2
	dir := filepath.Join(t.TempDir(), "collection")
	if err := collective.CreateDivided(dir, n); err != nil {
		t.Fatal(err)
	}
	state := func() string {
		s, bytes, err := linksOf(dir, n)
		if err != nil || bytes != 0 {
			t.Fatalf("%d bytes of links, %v", bytes, err)
		}
		return s
	}
	before := state()
	if again := state(); again != before {
		t.Errorf("%q is %q, without a change", before, again)
	}
	if err := shards.AppendMentions(dir, 1, []shards.Mention{{From: 0, Theirs: 1, Mine: 1}}); err != nil {
		t.Fatal(err)
	}
	if after := state(); after == before {
		t.Errorf("still %q with a mention more", before)
	}
}
