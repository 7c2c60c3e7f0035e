package look

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestContrast: the contrast ratios of known pairs, as the formula of WCAG gives them.
func TestContrast(t *testing.T) {
	for _, c := range []struct {
		a, b rgb
		want float64
	}{
		{black, white, 21}, {white, white, 1}, {rgb{0x77, 0x77, 0x77}, white, 4.48}, {rgb{0xff, 0, 0}, white, 4.00}, {rgb{0, 0, 0xff}, black, 2.44},
	} {
		if got := contrast(c.a, c.b); math.Abs(got-c.want) > .005 {
			t.Errorf("%v on %v: %.3f, want %.2f", c.a, c.b, got, c.want)
		}
	}
}

// TestStyle: links of any colour can be read on every background of links, and a colour that can be
// read already stays.
func TestStyle(t *testing.T) {
	app, err := os.ReadFile("../frame/static/app.css")
	if err != nil {
		t.Fatal(err)
	}
	var light, dark []rgb
	for _, name := range []string{"paper", "card", "fill"} {
		found := regexp.MustCompile(`--` + name + `: light-dark\((#[0-9a-f]+), (#[0-9a-f]+)\)`).FindStringSubmatch(string(app))
		if found == nil {
			t.Fatalf("app.css has no --%s", name)
		}
		light, dark = append(light, parse(t, found[1])), append(dark, parse(t, found[2]))
	}
	link := regexp.MustCompile(`--link: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)`)
	random := rand.New(rand.NewPCG(1, 2))
	accents := []string{"#000000", "#ffffff", "#ffff00", "#0000ff", "#1d4f91"}
	for range 2000 {
		accents = append(accents, fmt.Sprintf("#%06x", random.IntN(1<<24)))
	}
	for _, accent := range accents {
		style := string(Style(accent))
		found := link.FindStringSubmatch(style)
		if found == nil || strings.Count(style, "light-dark(") != 4 {
			t.Fatalf("%s: %s", accent, style)
		}
		for i, behind := range [][]rgb{light, dark} {
			for _, b := range behind {
				if got := contrast(parse(t, found[i+1]), b); got < minContrast {
					t.Errorf("%s: %s on %s has the contrast %.2f", accent, found[i+1], b, got)
				}
			}
		}
	}
	if style := string(Style("#1d4f91")); !strings.Contains(style, "--link: light-dark(#1d4f91,") {
		t.Errorf("a colour that can be read was changed: %s", style)
	}
	for _, bad := range []string{"", "red", "#12345", "#1234567", "#12345g", "#12 456", "#123456;}"} {
		if Style(bad) != nil {
			t.Errorf("%q is a colour", bad)
		}
	}
}

func parse(t *testing.T, colour string) (c rgb) {
	t.Helper()
	if len(colour) == 4 { // #fff
		colour = "#" + strings.Repeat(colour[1:2], 2) + strings.Repeat(colour[2:3], 2) + strings.Repeat(colour[3:4], 2)
	}
	if _, err := fmt.Sscanf(colour, "#%02x%02x%02x", &c[0], &c[1], &c[2]); err != nil {
		t.Fatalf("%s: %v", colour, err)
	}
	return c
}
