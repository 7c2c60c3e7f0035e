package cli

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"anatomy/disk/durable"
)

// OpenInput opens a file for reading; "-" is standard input.
func OpenInput(c *cobra.Command, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(c.InOrStdin()), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, WithHint(err, "name a file that can be read, or - for standard input")
	}
	return f, nil
}

// WriteOutput calls write with a buffered writer to the file name, see [durable.Output]. "" and "-"
// are standard output.
func WriteOutput(c *cobra.Command, name string, write func(io.Writer) error) error {
	if name == "" || name == "-" {
		return writeBuffered(c.OutOrStdout(), write)
	}
	begun := false
	err := durable.Output(name, func(w io.Writer) error {
		begun = true
		return writeBuffered(w, write)
	})
	if err != nil && !begun {
		return WithHint(err, nameFile)
	}
	return err
}

// nameFile is the hint after a file that cannot be written.
const nameFile = "name a file that can be written, in a folder that exists"

// CheckOutput returns an error if WriteOutput cannot write the file name. It changes nothing.
func CheckOutput(name string) error {
	if name == "" || name == "-" {
		return nil
	}
	if err := durable.CheckOutput(name); err != nil {
		return WithHint(err, nameFile)
	}
	return nil
}

func writeBuffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 1<<20)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

// WriteText writes text to a file like WriteOutput.
func WriteText(c *cobra.Command, name, text string) error {
	return WriteOutput(c, name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// GzipFor wraps write to compress what it writes if name ends in .gz.
func GzipFor(name string, write func(io.Writer) error) func(io.Writer) error {
	if !strings.HasSuffix(name, ".gz") {
		return write
	}
	return func(w io.Writer) error {
		z := gzip.NewWriter(w)
		return errors.Join(write(z), z.Close())
	}
}

// A ContextWriter fails with the context's error after the context has ended.
type ContextWriter struct {
	Context context.Context
	W       io.Writer
}

func (w ContextWriter) Write(p []byte) (int, error) {
	if err := w.Context.Err(); err != nil {
		return 0, err
	}
	return w.W.Write(p)
}
