//go:build unix

package main

import "syscall"

// hideFiles makes all files that the program creates readable by its user alone: data, backups and
// exports may have pages from behind a sign-in. Pebble and ACME create files, too.
func hideFiles() { syscall.Umask(0o077) }
