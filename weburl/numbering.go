package weburl

import "strings"

// A Numbering numbers groups of URLs, such as their hosts or sites, from 0 on.
type Numbering struct {
	of       func(*URL) string
	byOrigin map[string]uint32 // so that few URLs are parsed
	byGroup  map[string]uint32
}

// NewNumbering returns a numbering of the groups that of names. A group contains all URLs of a host.
func NewNumbering(of func(*URL) string) *Numbering {
	return &Numbering{of, map[string]uint32{}, map[string]uint32{}}
}

// Number returns the number of the group of a normalized URL. URLs that cannot be parsed are one
// group.
func (n *Numbering) Number(url string) uint32 {
	origin := url
	if i := strings.Index(origin, "://"); i >= 0 {
		if j := strings.IndexByte(origin[i+3:], '/'); j >= 0 {
			origin = origin[:i+3+j]
		}
	}
	if number, known := n.byOrigin[origin]; known {
		return number
	}
	group := ""
	if u, err := Parse(url); err == nil {
		group = n.of(&u)
	}
	number, known := n.byGroup[group]
	if !known {
		number = uint32(len(n.byGroup))
		n.byGroup[group] = number
	}
	n.byOrigin[strings.Clone(origin)] = number
	return number
}

// Len returns the number of groups so far.
func (n *Numbering) Len() int { return len(n.byGroup) }
