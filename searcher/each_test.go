package searcher

import (
	"strings"
	"testing"

	"anatomy/searcher/internal/shard"
)

// TestPanicOfShard: a panic in the goroutine of a shard reaches the caller of each, with its stack.
func TestPanicOfShard(t *testing.T) {
	p := &pass{shards: make([]shard.Query, 3)}
	defer func() {
		text, _ := recover().(string)
		if !strings.Contains(text, "out of range") || !strings.Contains(text, "TestPanicOfShard") {
			t.Errorf("recovered %q", text)
		}
	}()
	err := p.each(func(i int, _ *shard.Query) error {
		_ = make([]int, 2)[i]
		return nil
	})
	t.Errorf("each returned %v", err)
}
