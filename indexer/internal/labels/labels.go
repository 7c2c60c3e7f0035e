// Package labels finds the product and the versions that a page states in meta elements, as generators of
// documentation write them:
//
//	docsearch:product, docsearch:version      for Algolia's DocSearch: Docusaurus, VitePress, Starlight, by hand
//	docsearch:component                       Antora
//	docusaurus_version                        Docusaurus without DocSearch
//	readthedocs-project-slug, -version-slug   Read the Docs, around Sphinx, MkDocs and others
//	prodname, version                         DITA Open Toolkit
//
// Several values have commas between them.
package labels

import (
	"bytes"
	"slices"
	"strings"

	"anatomy/vocab"
)

var kinds = map[string]vocab.LabelKind{
	"docsearch:product": vocab.Product, "docsearch:component": vocab.Product, "readthedocs-project-slug": vocab.Product, dita: vocab.Product,
	"docsearch:version": vocab.Version, "docusaurus_version": vocab.Version, "readthedocs-version-slug": vocab.Version,
}

// dita is the name of the product in DITA. Its version has a name that others use for other things, and counts
// on pages with a product alone.
const dita, ditaVersion = "prodname", "version"

const (
	maxName   = len("readthedocs-project-slug")
	maxLabels = 8 // of a page; further ones are ignored
)

// A Finder collects the labels of a page.
type Finder struct {
	all     []vocab.Label
	isDITA  bool
	version []byte // of DITA
}

// Add adds those of a meta element.
func (f *Finder) Add(name, content []byte) {
	if len(name) == 0 || len(name) > maxName {
		return
	}
	key := string(bytes.ToLower(name))
	if kind := kinds[key]; kind != "" {
		f.isDITA = f.isDITA || key == dita
		f.add(kind, content)
	} else if key == ditaVersion {
		f.version = append(f.version[:0], content...)
	}
}

func (f *Finder) add(kind vocab.LabelKind, content []byte) {
	for value := range strings.SplitSeq(string(content), ",") {
		if l, ok := vocab.NewLabel(kind, value); ok && len(f.all) < maxLabels && !slices.Contains(f.all, l) {
			f.all = append(f.all, l)
		}
	}
}

// All returns the labels of the page.
func (f *Finder) All() []vocab.Label {
	if f.isDITA {
		f.add(vocab.Version, f.version)
	}
	return f.all
}
