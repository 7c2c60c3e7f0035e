package favicon

import (
	"anatomy/disk/icons"
	"anatomy/weburl"
)

// A Remover deletes the icons of blocked hosts.
type Remover struct {
	dir     string
	blocked func(*weburl.URL) bool
	done    map[string]bool // by host
}

// NewRemover returns a remover for a data folder.
func NewRemover(dir string, blocked func(*weburl.URL) bool) *Remover {
	return &Remover{dir, blocked, map[string]bool{}}
}

// Remove deletes the icon of the host of a blocked page, if the URL of the icon is blocked, too.
func (r *Remover) Remove(page string) error {
	on, err := weburl.Parse(page)
	if err != nil || r.done[on.Host()] {
		return nil
	}
	r.done[on.Host()] = true
	icon, err := weburl.Parse(on.Origin() + defaultPath)
	if err != nil || !r.blocked(&icon) {
		return nil
	}
	return icons.Remove(r.dir, on.Host())
}
