package web

import (
	"net/url"

	"anatomy/web/internal/access"
	"anatomy/web/internal/address"
	"anatomy/web/internal/look"
	"anatomy/web/internal/params"
	"anatomy/web/internal/reader"
)

// A Collection is what a Server shows.
type Collection = reader.Collection

// A Look is what the pages of a collection have of their own.
type Look = look.Look

// DefaultRate is the number of searches that a client on another machine may send in a minute.
const DefaultRate = access.DefaultRate

// MaxQuery is the limit of a query, in bytes.
const MaxQuery = params.MaxQuery

// CheckAccess returns the first error of the values of Options.Hosts and Options.Origins.
func CheckAccess(hosts, origins []string) error {
	if _, err := access.NewHosts(hosts); err != nil {
		return err
	}
	_, err := access.NewOrigins(origins, "")
	return err
}

// ParsePublicURL parses the value of Options.PublicURL: scheme, host and a path of plain
// characters.
func ParsePublicURL(raw string) (*url.URL, error) { return address.ParsePublicURL(raw) }
