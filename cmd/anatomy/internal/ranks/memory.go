package ranks

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

// leastMemory is the approximate memory of the program for ranking the smallest graph.
const leastMemory = 48_000_000

// limitMemory limits the process to *memory bytes, sets *memory to the number that remains for the
// graph, and returns a function that restores the limit. Without a bound it does nothing. It
// warns if the bound is below leastMemory.
func limitMemory(warnings io.Writer, memory *int64) (undo func()) {
	if *memory == 0 {
		return func() {}
	}
	if *memory < leastMemory {
		fmt.Fprintf(warnings, "warning: --memory is below %d MB, what the program itself takes; expect that much\n",
			leastMemory/1_000_000)
	}
	*memory, undo = keepWithin(*memory)
	return undo
}

// keepWithin sets the runtime's memory limit to keep the process within memory bytes. It returns how
// many of them remain for data and a function that restores the limit. The rest is for the program
// itself and for garbage that is not collected yet; at least half remains for data.
func keepWithin(memory int64) (left int64, undo func()) {
	const garbage = 4 << 20
	left = max(memory-programSize()-garbage, memory/2)
	before := debug.SetMemoryLimit(max(left, 4*garbage)) // below that the collector would run all the time
	return left, func() { debug.SetMemoryLimit(before) }
}

// programSize returns how many bytes of memory the program's mapped files take: code and constants,
// which are paged in as they are used.
func programSize() int64 {
	const usual = 28 << 20
	var size, resident, shared int64
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return usual
	}
	if _, err := fmt.Sscan(string(statm), &size, &resident, &shared); err != nil {
		return usual
	}
	return max(usual, shared*int64(os.Getpagesize()))
}
