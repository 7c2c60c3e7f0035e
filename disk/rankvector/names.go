package rankvector

import (
	"fmt"
	"strings"
)

// Default is the name of the vector that searches use unless they name another.
const Default = "default"

// Plain is the name of PageRank as published (BP98 §2.1), of which the default vector is made by
// weighing (pagerank.Vouchers). A page's plain rank is what its links and the teleport bring.
const Plain = "pages"

// None is the name that searches use for no vector: all pages have the same rank.
const None = "none"

// maxName bounds the name of a vector, in bytes.
const maxName = 64

// CheckName fails if name is not valid for a vector, whose file it names.
func CheckName(name string) error {
	const allowed = "abcdefghijklmnopqrstuvwxyz0123456789-"
	if name == "" || len(name) > maxName || strings.Trim(name, allowed) != "" || name[0] == '-' {
		return fmt.Errorf("name %.100q is not 1 to %d lower-case letters, digits and hyphens, the first one no hyphen", name, maxName)
	}
	if name == None {
		return fmt.Errorf("name %q is that of no vector", name)
	}
	return nil
}
