package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestClip: a line of any length leaves the last column of a terminal of any width free.
func TestClip(t *testing.T) {
	line := strings.Repeat("12345 pages  ", 9)
	for _, width := range []int{1, 2, 3, 20, 80, 500} {
		if got := []rune(clip(line, width)); len(got) > max(1, width-1) {
			t.Errorf("%d columns take %d characters", width, len(got))
		}
	}
}

// TestConsole: a buffer is not a terminal, and output appears above the status line.
func TestConsole(t *testing.T) {
	var plain bytes.Buffer
	screen := NewConsole(&plain)
	fmt.Fprintln(screen, "text")
	if screen.IsTerminal() || plain.String() != "text\n" {
		t.Errorf("terminal %v, wrote %q", screen.IsTerminal(), plain.String())
	}
	plain.Reset()
	fmt.Fprintln(&Console{w: &plain, line: "below"}, "text")
	if got := plain.String(); got != ClearLine+"text\nbelow" {
		t.Errorf("above the status line: %q", got)
	}
}
