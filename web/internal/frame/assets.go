package frame

import (
	"cmp"
	"embed"
	"fmt"
	"hash/crc32"
	"path"
	"strings"

	"anatomy/web/internal/look"
)

//go:embed templates static
var files embed.FS

// assets are the files below /static/ by the name under which they are served. The name contains a
// checksum, so that browsers can keep the files for ever: app.css is /static/app.1c291ca3.css.
type assets struct {
	Content map[string][]byte // by the name under which it is served
	Served  map[string]string // path by file name
}

func loadAssets(own *look.Look) assets {
	a := assets{make(map[string][]byte), make(map[string]string)}
	entries, _ := files.ReadDir("static") // embedded: cannot fail
	for _, e := range entries {
		content, _ := files.ReadFile("static/" + e.Name())
		a.add(e.Name(), path.Ext(e.Name()), content)
	}
	if style := look.Style(own.Accent); style != nil {
		a.add(lookStyle, ".css", style)
	}
	if own.Logo != nil {
		a.add(logo, "."+own.LogoType, own.Logo)
	}
	return a
}

// Names of assets that some collections have.
const (
	lookStyle = "look"
	logo      = "logo"
)

// add adds a file by its name, which is served with an extension.
func (a assets) add(name, ext string, content []byte) {
	served := fmt.Sprintf("%s.%08x%s", strings.TrimSuffix(name, ext), crc32.ChecksumIEEE(content), ext)
	a.Content[served] = content
	a.Served[name] = "/static/" + served
}

// Icon returns the path of the icon of the pages.
func (a assets) Icon() string { return cmp.Or(a.Served[logo], a.Served["icon.svg"]) }
