package frame

import (
	"embed"
	"fmt"
	"hash/crc32"
	"path"
	"strings"
)

//go:embed templates static
var files embed.FS

// assets are the files below /static/ by the name under which they are served. The name contains a
// checksum, so that browsers can keep the files for ever: app.css is /static/app.1c291ca3.css.
type assets struct {
	Content map[string][]byte // by the name under which it is served
	Served  map[string]string // path by file name
}

func loadAssets() assets {
	a := assets{make(map[string][]byte), make(map[string]string)}
	entries, _ := files.ReadDir("static") // embedded: cannot fail
	for _, e := range entries {
		content, _ := files.ReadFile("static/" + e.Name())
		ext := path.Ext(e.Name())
		name := fmt.Sprintf("%s.%08x%s", strings.TrimSuffix(e.Name(), ext), crc32.ChecksumIEEE(content), ext)
		a.Content[name] = content
		a.Served[e.Name()] = "/static/" + name
	}
	return a
}
