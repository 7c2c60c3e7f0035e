//go:build !unix

package upkeep

import "time"

// processTime returns 0: the system does not report it.
func processTime() time.Duration { return 0 }
