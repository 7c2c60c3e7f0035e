package engine

import (
	"sync"
	"testing"
)

// TestGate opens and closes a gate while others enter and leave it.
func TestGate(t *testing.T) {
	var g gate
	var entering sync.WaitGroup
	ended := make(chan struct{})
	for range 4 {
		entering.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				if g.enter() {
					g.leave()
				}
			}
		})
	}
	for i := range 20_000 {
		g.set(i%2 == 0)
	}
	close(ended)
	entering.Wait()
}
