package officetext

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// A relationship leads from a part of an Office Open XML file to another part, or to a URL (ECMA-376,
// part 2, §8.5).
type relationship struct {
	kind     string // the last word of its type
	target   string // name of a part, or a URL
	external bool
}

// relationships are the relationships of a part, by id.
type relationships map[string]relationship

// relationships returns the relationships of a part, those of the file if part is "".
func (a *archive) relationships(part string) relationships {
	folder, base := path.Split(part)
	all := relationships{}
	_ = a.walk(folder+"_rels/"+base+".rels", rules{"Relationship": {start: func(_ *walker, e element) {
		r := relationship{
			kind: path.Base(e.attr("Type")), target: e.attr("Target"), external: e.attr("TargetMode") == "External",
		}
		if !r.external {
			r.target = resolve(folder, r.target)
		}
		if len(all) < maxRelationships {
			all[e.attr("Id")] = r
		}
	}}}, nil)
	return all
}

const maxRelationships = 20_000

// resolve returns the name of the part that ref names in a file of a folder.
func resolve(folder, ref string) string {
	if strings.HasPrefix(ref, "/") {
		return path.Clean(ref)[1:]
	}
	return path.Join(folder, ref)
}

// mainPart returns the name of the document's main part, or "".
func (r relationships) mainPart() string { return r.ofKind("officeDocument") }

// ofKind returns the target of the relationship of a kind, or "".
func (r relationships) ofKind(kind string) string {
	if all := r.allOfKind(kind); len(all) > 0 {
		return all[0]
	}
	return ""
}

// allOfKind returns the targets of the relationships of a kind, ordered by their ids.
func (r relationships) allOfKind(kind string) (targets []string) {
	for _, id := range slices.Sorted(maps.Keys(r)) {
		if to := r[id]; to.kind == kind && !to.external {
			targets = append(targets, to.target)
		}
	}
	return targets
}

// external returns the URL of a relationship, or "".
func (r relationships) external(id string) string {
	if to := r[id]; to.external {
		return to.target
	}
	return ""
}

// part returns the name of the part of a relationship, or "".
func (r relationships) part(id string) string {
	if to := r[id]; !to.external && to.target != "" {
		return path.Clean(to.target)
	}
	return ""
}
