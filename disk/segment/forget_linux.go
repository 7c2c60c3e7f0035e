package segment

import "syscall"

// forget takes what was read of a mapped file off the memory of the process. It is a hint: what is read again comes
// from the system's page cache.
func forget(data []byte) { _ = syscall.Madvise(data, syscall.MADV_DONTNEED) }
