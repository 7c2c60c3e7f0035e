package mapfile

import "syscall"

// dropBehind drops the pages of a mapped file from the memory of the process. It is a hint: pages that
// are read again come from the page cache.
func dropBehind(data []byte) { _ = syscall.Madvise(data, syscall.MADV_DONTNEED) }
