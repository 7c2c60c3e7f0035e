package labels

import (
	"fmt"
	"strings"
	"testing"
)

// TestFinder: what generators of documentation write is found, once each, and nothing else.
func TestFinder(t *testing.T) {
	for metas, want := range map[string]string{
		"docsearch:version=1.0.0,latest|docsearch:language=en":             "version:1.0.0 version:latest",
		"docsearch:product=Acme DB|DocSearch:Version=v2.x":                 "product:acme-db version:2.x",
		"docusaurus_version=current|docsearch:version=current":             "version:current",
		"readthedocs-project-slug=pip|readthedocs-version-slug=docs/7.0.0": "product:pip version:docs-7.0.0",
		"docsearch:component=server|docsearch:version=7.6":                 "product:server version:7.6",
		"version=7.2|prodname=TeamForge":                                   "product:teamforge version:7.2",
		"version=7.2":                                                      "", "prodname=|version=3.0.0": "version:3.0.0", "generator=Docusaurus v3": "", "docsearch:version= , ,": "",
		"docsearch:version=" + strings.Repeat("1", 41): "",
		"docsearch:version=1,2,3,4,5,6,7,8,9,10":       "version:1 version:2 version:3 version:4 version:5 version:6 version:7 version:8",
	} {
		var f Finder
		for meta := range strings.SplitSeq(metas, "|") {
			name, content, _ := strings.Cut(meta, "=")
			f.Add([]byte(name), []byte(content))
		}
		var all []string
		for _, l := range f.All() {
			all = append(all, fmt.Sprint(l))
		}
		if got := strings.Join(all, " "); got != want {
			t.Errorf("%s: %s, want %s", metas, got, want)
		}
	}
}
