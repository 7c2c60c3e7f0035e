package officetext

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// A relation leads from a part of an Office Open XML file to another part, or to a URL (ECMA-376,
// part 2, §8.5).
type relation struct {
	kind     string // the last word of its type
	target   string // name of a part, or a URL
	external bool
}

// relations are the relations of a part, by id.
type relations map[string]relation

// relations returns the relations of a part, those of the file if part is "".
func (a *archive) relations(part string) relations {
	folder, base := path.Split(part)
	all := relations{}
	_ = a.walk(folder+"_rels/"+base+".rels", rules{"Relationship": {start: func(_ *walker, e element) {
		r := relation{
			kind: path.Base(e.attr("Type")), target: e.attr("Target"), external: e.attr("TargetMode") == "External",
		}
		if !r.external {
			r.target = resolve(folder, r.target)
		}
		if len(all) < maxRelations {
			all[e.attr("Id")] = r
		}
	}}}, nil)
	return all
}

const maxRelations = 20_000

// resolve returns the name of the part that ref names in a file of a folder.
func resolve(folder, ref string) string {
	if strings.HasPrefix(ref, "/") {
		return path.Clean(ref)[1:]
	}
	return path.Join(folder, ref)
}

// mainPart returns the name of the document's main part, or "".
func (r relations) mainPart() string { return r.ofKind("officeDocument") }

// ofKind returns the target of the relation of a kind, or "".
func (r relations) ofKind(kind string) string {
	if all := r.allOfKind(kind); len(all) > 0 {
		return all[0]
	}
	return ""
}

// allOfKind returns the targets of the relations of a kind, ordered by their ids.
func (r relations) allOfKind(kind string) (targets []string) {
	for _, id := range slices.Sorted(maps.Keys(r)) {
		if to := r[id]; to.kind == kind && !to.external {
			targets = append(targets, to.target)
		}
	}
	return targets
}

// external returns the URL of a relation, or "".
func (r relations) external(id string) string {
	if to := r[id]; to.external {
		return to.target
	}
	return ""
}

// part returns the name of the part of a relation, or "".
func (r relations) part(id string) string {
	if to := r[id]; !to.external && to.target != "" {
		return path.Clean(to.target)
	}
	return ""
}
