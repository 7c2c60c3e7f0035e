package trap

import (
	"slices"
	"strings"

	"anatomy/disk/docindex"
	"anatomy/weburl"
)

// A shape names a group of a host's URLs:
//
//	"/a/b/"      URLs below a folder, one of the outermost maxFolders of their paths
//	"/a/b?"      URLs of a path with a query
//	"/a/b?x&y"   URLs of a path with these parameters
//	"?x"         URLs with a parameter
//	"*.svg"      URLs whose paths have an extension
//	"/a/b#.htm"  URLs of a folder whose names are equal except for numbers
type shape = string

const (
	maxFolders    = 5 // of a path, from the outermost
	maxParameters = 4 // of a query
)

// foldersOf returns the outermost folders of u's path.
func foldersOf(u *weburl.URL) []shape {
	path := u.Path()
	all := make([]shape, 0, maxFolders+2)
	for i := 0; i < len(path) && len(all) < maxFolders; i++ {
		if path[i] == '/' {
			all = append(all, path[:i+1])
		}
	}
	return all
}

// missingShapesOf returns the shapes for which URLs that probably do not exist are refused: the folders of
// u and its numbered shape.
func missingShapesOf(u *weburl.URL) []shape {
	all := foldersOf(u)
	if s := numberedOf(u); s != "" {
		all = append(all, s)
	}
	return all
}

// shapesOf returns the folders of u and, if u has a query, the shapes of its path.
func shapesOf(u *weburl.URL) []shape {
	all := foldersOf(u)
	if q := u.Query(); q != "" {
		all = append(all, u.Path()+"?")
		if names := strings.Join(parameters(q), "&"); names != "" {
			all = append(all, u.Path()+"?"+names)
		}
	}
	return all
}

// parametersOf returns the shapes of the parameters of u.
func parametersOf(u *weburl.URL) (all []shape) {
	for _, name := range parameters(u.Query()) {
		if name != "" && len(all) < maxParameters {
			all = append(all, "?"+name)
		}
	}
	return all
}

// parameters returns the sorted names of a query's parameters, without digits: item[1] and item[2]
// have one name. A value without a name has the name "".
func parameters(query string) (names []string) {
	for part := range strings.FieldsFuncSeq(query, separates) {
		names = append(names, nameOf(part))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func separates(r rune) bool { return r == '&' || r == ';' }

// nameOf returns the name of a parameter such as "item[1]=x", without digits.
func nameOf(part string) string {
	name, _, ok := strings.Cut(part, "=")
	if !ok {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, name)
}

// without returns a query without the parameters of a name.
func without(query, name string) string {
	var kept strings.Builder
	from := 0
	for from < len(query) {
		end := strings.IndexFunc(query[from:], separates)
		if end < 0 {
			end = len(query) - from
		}
		if part := query[from : from+end]; part != "" && nameOf(part) != name {
			if kept.Len() > 0 {
				kept.WriteByte('&')
			}
			kept.WriteString(part)
		}
		from += end + 1
	}
	return kept.String()
}

// maxExtension is longer than any extension in use.
const maxExtension = 8

// extensionOf returns the shape of u's extension, "" if it has none.
func extensionOf(u *weburl.URL) shape {
	path := u.Path()
	dot := strings.LastIndexByte(path, '.')
	if dot < 0 || len(path)-dot > maxExtension || dot == len(path)-1 {
		return ""
	}
	extension := path[dot:]
	if strings.ContainsFunc(extension[1:], func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	}) || dot == strings.LastIndexByte(path, '/')+1 {
		return ""
	}
	return "*" + strings.ToLower(extension)
}

// maxName is the length of the longest name with a numbered shape. Longer ones are rarely written by
// people.
const maxName = 64

// numberedOf returns the shape of the names that equal the last segment of u's path except for
// numbers, or "".
func numberedOf(u *weburl.URL) shape {
	path := u.Path()
	folder := strings.LastIndexByte(path, '/') + 1
	name := path[folder:]
	if len(name) > maxName || !strings.ContainsAny(name, "0123456789") {
		return ""
	}
	b := append(make([]byte, 0, len(path)), path[:folder]...)
	for i := 0; i < len(name); {
		if n := digits(name[i:]); n > 0 {
			b = append(b, '#')
			i += n
			continue
		}
		b = append(b, name[i])
		i++
	}
	return string(b)
}

// isNumbered reports whether numberedOf returned a shape: no path has a "#".
func isNumbered(s shape) bool { return strings.IndexByte(s, '#') >= 0 }

// trapOf returns the trap of a spent shape.
func trapOf(s shape) docindex.Trap {
	switch {
	case s[0] == '?':
		return docindex.SpentParameter
	case s[0] == '*', isNumbered(s):
		return docindex.NoPages
	case strings.IndexByte(s, '?') >= 0:
		return docindex.SpentQuery
	}
	return docindex.SpentFolder
}

// container returns the folder that has u's last segment as an entry: "/a/" of /a/b and of /a/b/.
func container(path string) string {
	return path[:strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/')+1]
}

// media are the extensions of files that are never indexed: programs, archives, images, films,
// fonts, and resources that browsers load with a page.
var media = func() map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(`
		7z apk avi avif bin bmp bz2 class css deb dll dmg dvi ear eot exe flac gem gif gz ico img iso
		jar jpeg jpg js lzma m4a m4v map mjs mkv mov mp3 mp4 mpeg mpg msi o ogg ogv otf pkg png psd pyc
		rar rpm so svg svgz swf tar tbz tgz tif tiff ttf txz war wasm wav webm webp whl wmv woff woff2
		xpi xz zip zst`) {
		all["."+name] = true
	}
	return all
}()
