//go:build !linux

package segment

// forget leaves it to the system which pages of a file are in memory.
func forget([]byte) {}
