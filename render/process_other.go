//go:build !linux

package render

import (
	"os"
	"os/exec"
)

// Other systems have no bound on memory but that of V8's heap.

func chownToBrowser(string) error { return nil }

// Profiles of killed processes stay, too.

func lockFolder(string) *os.File { return nil }

func removeStaleProfiles(string) {}

func confine(*exec.Cmd) {}

func memory(int) int64 { return 0 }

func end(int) {}

func size(string) int64 { return 0 }
