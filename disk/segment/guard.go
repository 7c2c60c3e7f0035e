package segment

import (
	"fmt"
	"runtime/debug"
)

// Guard calls read, which reads segments. Segments are mapped files: if the disk fails, or a file
// was truncated after it was opened, a read faults. Guard returns such a fault as a *DamageError
// instead of crashing the process. It applies to the calling goroutine only.
func Guard(read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			fault, ok := r.(interface {
				error
				Addr() uintptr
			})
			if !ok {
				panic(r)
			}
			err = &DamageError{fmt.Errorf("segment: a mapped file cannot be read: %w", fault)}
		}
	}()
	return read()
}
