package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is drawn is well-formed, holds every line, and puts the least and the greatest where the axes
// end, on both kinds of axis.
func TestSVG(t *testing.T) {
	line := Line{"a < b", []Point{{1, 0}, {10, 5}, {100, 10}}}
	for _, c := range []struct {
		log    bool
		points string
	}{
		{true, "0.0,280.0 180.0,140.0 360.0,0.0"},
		{false, "0.0,280.0 32.7,140.0 360.0,0.0"},
	} {
		var b strings.Builder
		if err := SVG(&b, []Panel{{Title: "one", LogX: c.log, Lines: []Line{line, {Name: "none"}}}, {Title: "empty"}}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), `points="`+c.points+`"`) || !strings.Contains(b.String(), "a &lt; b") {
			t.Errorf("log %v: %s", c.log, b.String())
		}
		d := xml.NewDecoder(strings.NewReader(b.String()))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in %s", err, b.String())
			}
		}
	}
}

func TestWrite(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tsv")
	if err := Write(name, []Panel{{Title: "p", Lines: []Line{{"l", []Point{{1, 0.25}}}}}}, TSV); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "panel\tline\tx\ty\np\tl\t1\t0.25\n" {
		t.Errorf("%q %v", b, err)
	}
	if err := Write("", nil, SVG); err != nil {
		t.Error(err)
	}
}
