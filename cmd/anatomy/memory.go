package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// keepWithin has the program stay within so many bytes of memory, and returns how many of them are
// left for data, and what undoes it. The rest is the program itself and the garbage that has not
// been noticed yet. Of a bound that is hardly more than these, half is left.
func keepWithin(memory int64) (left int64, undo func()) {
	const unnoticed = 4 << 20
	left = max(memory-programSize()-unnoticed, memory/2)
	before := debug.SetMemoryLimit(max(left, 4*unnoticed)) // with less nothing but collecting is done
	return left, func() { debug.SetMemoryLimit(before) }
}

// programSize is how much of memory the files of the program fill, in bytes: its code and constants,
// which are read as they are used.
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

// A byteSize is a flag of so many bytes: a number, and KB, MB or GB after it, powers of ten.
type byteSize int64

func (b *byteSize) String() string { return strconv.FormatInt(int64(*b), 10) }
func (b *byteSize) Type() string   { return "SIZE" }

func (b *byteSize) Set(s string) error {
	unit := int64(1)
	for suffix, size := range map[string]int64{"KB": 1e3, "MB": 1e6, "GB": 1e9} {
		if number, ok := strings.CutSuffix(strings.ToUpper(s), suffix); ok {
			s, unit = number, size
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/unit {
		return errors.New("a size is a whole number above 0, and KB, MB or GB after it")
	}
	*b = byteSize(n * unit)
	return nil
}
