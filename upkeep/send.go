package upkeep

import "context"

// send sends x unless ctx ends first.
func send[T any](ctx context.Context, to chan<- T, x T) error {
	select {
	case to <- x:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
