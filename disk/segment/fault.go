package segment

import (
	"fmt"
	"runtime/debug"
)

// Guard calls what reads segments. Their lists are files in memory: where the disk fails under one, or it was
// cut short since it was opened, that is an error of Guard and not the end of the process. It holds for
// the goroutine that calls it.
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
			err = fmt.Errorf("segment: a file of lists cannot be read: %w", fault)
		}
	}()
	return read()
}
