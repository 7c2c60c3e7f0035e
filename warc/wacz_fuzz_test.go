package warc

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Whatever a WACZ file holds, it is refused, or its archives can be read to an end.
func FuzzPackage(f *testing.F) {
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, name := range []string{"archive/data.warc", "datapackage.json"} {
		w, err := z.Create(name)
		if err != nil {
			f.Fatal(err)
		}
		io.WriteString(w, "WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
	}
	if err := z.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(packed.Bytes())
	f.Add(packed.Bytes()[:packed.Len()/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "x.wacz")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := OpenPackage(path)
		if err != nil {
			return
		}
		defer p.Close()
		for _, name := range p.Archives() {
			in, err := p.Open(name)
			if err != nil {
				continue
			}
			io.Copy(io.Discard, io.LimitReader(in, 1<<20))
			in.Close()
		}
	})
}
