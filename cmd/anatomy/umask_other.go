//go:build !unix

package main

// hideFiles does nothing where there are no modes.
func hideFiles() {}
