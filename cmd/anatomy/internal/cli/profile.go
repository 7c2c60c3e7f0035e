package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/spf13/pflag"
)

// ProfileFlag adds the hidden flag for StartProfile.
func ProfileFlag(flags *pflag.FlagSet, name *string) {
	flags.StringVar(name, "cpu-profile", "", "write a CPU profile to `FILE`, for go tool pprof")
	flags.MarkHidden("cpu-profile")
}

// StartProfile starts a CPU profile, which stop ends. It does nothing if name is "".
func StartProfile(name string) (stop func(), err error) {
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
