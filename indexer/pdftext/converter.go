package pdftext

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// A Converter converts each PDF in a process of its own, at most one process per core at a time. It is
// safe for concurrent use.
type Converter struct {
	Command []string      // a program that calls Serve, with its arguments
	Timeout time.Duration // of one conversion; default 20 s

	start sync.Once
	slots chan struct{}
}

// The bounds of one conversion.
const (
	defaultTimeout = 20 * time.Second
	memoryLimit    = 768 << 20 // bytes
	maxOutput      = 3 * maxText
	maxMessage     = 300 // bytes of the error message of the process
)

// Convert converts a PDF to HTML. It blocks until a core is free. It fails if the PDF cannot be read
// within the bounds, or the process cannot be started. A crash of the process is such an error.
func (c *Converter) Convert(body []byte) ([]byte, error) {
	c.start.Do(func() { c.slots = make(chan struct{}, runtime.GOMAXPROCS(0)) })
	c.slots <- struct{}{}
	defer func() { <-c.slots }()
	limit := c.Timeout
	if limit == 0 {
		limit = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out, message := &bounded{limit: maxOutput}, &bounded{limit: maxMessage}
	cmd := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)
	cmd.Env = []string{"GOMAXPROCS=1", serveEnv + "=1"} // not the parent's
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(body), out, message
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case out.full:
		return nil, fmt.Errorf("PDF: more than %d bytes of text", maxOutput)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("PDF: not read within %v", limit)
	case err != nil && message.buf.Len() == 0:
		return nil, fmt.Errorf("PDF: %w", err)
	case err != nil:
		first, _, _ := bytes.Cut(message.buf.Bytes(), []byte("\n"))
		return nil, errors.New(string(bytes.ToValidUTF8(first, []byte("?"))))
	}
	return out.buf.Bytes(), nil
}

// serveEnv marks the converting process, so that a test binary can be one.
const serveEnv = "ANATOMY_PDF"

// A bounded buffer keeps up to limit bytes. A Write past the limit fails.
type bounded struct {
	buf   bytes.Buffer
	limit int
	full  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.limit-b.buf.Len())
	b.buf.Write(p[:n])
	if n < len(p) {
		b.full = b.limit == maxOutput
		return len(p), io.ErrShortWrite
	}
	return n, nil
}

// Serve converts one PDF from in to out. It limits memory and processor time of the whole process, so
// the process must do nothing else.
func Serve(in io.Reader, out io.Writer) error {
	limitProcess(memoryLimit, defaultTimeout)
	body, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	return Convert(out, bytes.NewReader(body), int64(len(body)))
}
