// Package anatomy contains the project's documents, so that the binary can show them: `anatomy demo`
// serves them as pages of its small web.
package anatomy

import "embed"

// Docs are the documents at the root and in doc, single decisions left out, by their paths in the
// repository.
//
//go:embed README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md doc/*.md doc/design/*.md doc/decisions/README.md
var Docs embed.FS
