package ranks

import (
	"runtime/debug"
	"testing"
)

// What is left is the bound less the program, and the runtime is held to it until it is undone.
func TestKeepWithin(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	for memory, most := range map[int64]int64{100_000_000: 72_000_000, 1_000_000_000: 972_000_000, 50: 25} {
		left, undo := keepWithin(memory)
		if left < memory/2 || left > most {
			t.Errorf("of %d bytes %d are left, at most %d are", memory, left, most)
		}
		if limit := debug.SetMemoryLimit(-1); limit != max(left, 16<<20) {
			t.Errorf("of %d bytes the runtime may take %d", memory, limit)
		}
		undo()
	}
	if after := debug.SetMemoryLimit(-1); after != before {
		t.Errorf("the limit is %d after, %d before", after, before)
	}
}
