package rankvector

import (
	"fmt"
	"strings"
)

// Default is the name of the vector that searches use by default.
const Default = "default"

// Plain is the name of PageRank as published (BP98 §2.1), from which the default vector is weighed
// (pagerank.Vouchers). A page's plain rank is the sum of the contributions of its in-links and of
// the teleport.
const Plain = "pages"

// Previous is the name of the default vector that one with another personalisation or damping replaced.
const Previous = "previous"

// None is the name that selects no vector: all pages have the same rank.
const None = "none"

// maxName is the maximum length of the name of a vector, in bytes.
const maxName = 64

// CheckName fails if name is not a valid name of a vector. The name is part of a file name.
func CheckName(name string) error {
	const allowed = "abcdefghijklmnopqrstuvwxyz0123456789-"
	if name == "" || len(name) > maxName || strings.Trim(name, allowed) != "" || name[0] == '-' {
		return fmt.Errorf("name %.100q is not 1 to %d lower-case letters, digits and hyphens, not starting with a hyphen", name, maxName)
	}
	if name == None {
		return fmt.Errorf("name %q is reserved", name)
	}
	return nil
}
