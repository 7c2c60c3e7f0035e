package crawler

import "strings"

// maxRelations is how many bytes of Link fields are kept of a page.
const maxRelations = 4 << 10

// relations joins the Link fields of a response that may say where its page belongs (RFC 8288): its
// canonical URL, what comes before and after, other forms of it. Most fields that servers send name
// style sheets and interfaces instead, and are left out whole.
func relations(fields []string) string {
	kept, n := fields[:0:0], 0
	for _, field := range fields {
		if lower := strings.ToLower(field); !strings.Contains(lower, "canonical") && !strings.Contains(lower, "next") &&
			!strings.Contains(lower, "prev") && !strings.Contains(lower, "alternate") {
			continue
		}
		if n += len(field); n > maxRelations {
			break
		}
		kept = append(kept, field)
	}
	return strings.Join(kept, ", ")
}
