//go:build !linux

package mapfile

// dropBehind does nothing.
func dropBehind([]byte) {}
