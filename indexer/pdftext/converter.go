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

// A Converter has PDF converted by a process for each, at most one a core at once. It is for any number
// of goroutines.
type Converter struct {
	Command []string      // the program that calls Serve, with its arguments
	Timeout time.Duration // for one document; default 20 s

	start sync.Once
	slots chan struct{}
}

// The bounds of one conversion.
const (
	defaultTimeout = 20 * time.Second
	memoryLimit    = 768 << 20 // bytes
	maxOutput      = 3 * maxText
	maxComplaint   = 300 // bytes of what the process says when it fails
)

// Convert makes a page of HTML of a PDF. An error is about the document, or says that the process
// could not be started; it is none of the caller's if one file ends its process or has to be stopped.
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
	out, complaint := &bounded{limit: maxOutput}, &bounded{limit: maxComplaint}
	cmd := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)
	cmd.Env = []string{"GOMAXPROCS=1", serveEnv + "=1"} // nothing of ours
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(body), out, complaint
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case out.full:
		return nil, fmt.Errorf("PDF: more than %d bytes of text", maxOutput)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("PDF: not read within %v", limit)
	case err != nil && complaint.buf.Len() == 0:
		return nil, fmt.Errorf("PDF: %w", err)
	case err != nil:
		first, _, _ := bytes.Cut(complaint.buf.Bytes(), []byte("\n"))
		return nil, errors.New(string(bytes.ToValidUTF8(first, []byte("?"))))
	}
	return out.buf.Bytes(), nil
}

// serveEnv marks the process that converts, so that tests can be that process themselves.
const serveEnv = "ANATOMY_PDF"

// A bounded buffer keeps the beginning of what is written, and fails a writer that goes on for ever.
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

// Serve converts one PDF from in to out, in a process that is there for this alone: it limits the
// memory and the processor time of the whole process.
func Serve(in io.Reader, out io.Writer) error {
	limitProcess()
	body, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	return Convert(out, bytes.NewReader(body), int64(len(body)))
}
