package pagerank

import (
	"fmt"
	"io"
	"os"
	"unsafe"

	"anatomy/disk/durable"
)

// scratch returns a file without a name, see [durable.Scratch].
func scratch(dir string) (*os.File, error) {
	f, err := durable.Scratch(dir)
	if err != nil {
		return nil, fmt.Errorf("space for a graph that is larger than memory: %w", err)
	}
	return f, nil
}

// plainOld is the values that are written as they are in memory: a scratch file is read only by the
// process that wrote it.
type plainOld interface {
	link | targetRun | uint32 | float32 | float64
}

func bytesOf[T plainOld](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), uintptr(len(values))*unsafe.Sizeof(values[0]))
}

// Offsets of readAt and writeAt are in values, those of readBytes and writeBytes in bytes.
func readAt[T plainOld](f io.ReaderAt, values []T, at int64) error {
	var value T
	return readBytes(f, values, at*int64(unsafe.Sizeof(value)))
}

func writeAt[T plainOld](f io.WriterAt, values []T, at int64) error {
	var value T
	return writeBytes(f, values, at*int64(unsafe.Sizeof(value)))
}

func readBytes[T plainOld](f io.ReaderAt, values []T, at int64) error {
	if len(values) == 0 {
		return nil
	}
	_, err := f.ReadAt(bytesOf(values), at)
	return err
}

func writeBytes[T plainOld](f io.WriterAt, values []T, at int64) error {
	if len(values) == 0 {
		return nil
	}
	_, err := f.WriteAt(bytesOf(values), at)
	return err
}
