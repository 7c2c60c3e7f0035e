package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// Intervals of progress: the line is redrawn on a terminal; elsewhere another line is written.
const (
	DrawEvery = 250 * time.Millisecond
	LogEvery  = 5 * time.Second
)

// ClearLine moves a terminal's cursor to the start of its line and erases the line.
const ClearLine = "\r\x1b[K"

// A Console writes progress to a stream. On a terminal it keeps one line, the status line, below
// everything else that is written through it. It is safe for concurrent use.
type Console struct {
	w        io.Writer
	terminal *os.File // nil if w is not a terminal, or one that cannot move its cursor

	mu   sync.Mutex
	line string // status line, "" for none; guarded by mu
}

// NewConsole returns a Console that writes to w.
func NewConsole(w io.Writer) *Console {
	c := &Console{w: w}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		c.terminal = f
	}
	return c
}

// IsTerminal reports whether the console can draw a status line.
func (c *Console) IsTerminal() bool { return c.terminal != nil }

// Write writes whole lines above the status line.
func (c *Console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.line == "" {
		return c.w.Write(p)
	}
	_, err := fmt.Fprintf(c.w, "%s%s%s", ClearLine, p, c.line)
	return len(p), err
}

// SetStatus draws the status line; "" erases it. It does nothing if w is not a terminal.
func (c *Console) SetStatus(line string) {
	if c.terminal == nil {
		return
	}
	width, _, err := term.GetSize(int(c.terminal.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line = clip(line, width)
	io.WriteString(c.w, ClearLine+c.line)
}

// Progress returns a function that shows a status line, at most once in DrawEvery on a terminal. On
// other streams it writes the line, at most once in LogEvery.
func (c *Console) Progress() func(line string) {
	last := time.Now()
	return func(line string) {
		now := time.Now()
		switch {
		case c.IsTerminal() && now.Sub(last) >= DrawEvery:
			c.SetStatus(line)
		case !c.IsTerminal() && now.Sub(last) >= LogEvery:
			fmt.Fprintln(c, line)
		default:
			return
		}
		last = now
	}
}

// clip shortens a line to leave the last column free, since a terminal may wrap there.
func clip(line string, width int) string {
	if r := []rune(line); len(r) >= width {
		return string(r[:max(0, width-2)]) + "…"
	}
	return line
}
