package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/spf13/pflag"
)

// profileFlag adds the flag for [startProfile], which help does not show: it is for those who make anatomy faster.
func profileFlag(flags *pflag.FlagSet, name *string) {
	flags.StringVar(name, "cpu-profile", "", "write where the time goes to `FILE`, for go tool pprof")
	flags.MarkHidden("cpu-profile")
}

// startProfile begins to write a CPU profile, which stop ends. Without a name there is none.
func startProfile(name string) (stop func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("profile: %w", err), f.Close())
	}
	return func() { pprof.StopCPUProfile(); f.Close() }, nil
}
