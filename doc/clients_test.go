package doc_test

import (
	"os"
	"regexp"
	"testing"
)

// TestClientVersions: the versions of other programs that the documents name are those that .ci/clients
// installs.
func TestClientVersions(t *testing.T) {
	const python, node = "../lab/clients/python/requirements.txt", "../lab/clients/node/package.json"
	for _, c := range []struct{ document, named, pins, pinned string }{
		{"api.md", `openapi-python-client \| (\S+)`, python, `openapi-python-client==(\S+)`},
		{"api.md", `openapi-typescript with openapi-fetch \| (\S+),`, node, `"openapi-typescript": "(\S+)"`},
		{"api.md", `openapi-typescript with openapi-fetch \| \S+, (\S+)`, node, `"openapi-fetch": "(\S+)"`},
		{"api.md", `checked by TypeScript (\d+\.\d+)`, node, `"typescript": "(\d+\.\d+)\.`},
		{"api.md", `oapi-codegen \| (\S+)`, "../.ci/clients", `oapi-codegen@v(\S+)`},
		{"api.md", `SDK of MCP for Python \| (\S+)`, python, `mcp==(\S+)`},
		{"api.md", `SDK of MCP for TypeScript \| (\S+)`, node, `"@modelcontextprotocol/sdk": "(\S+)"`},
		{"api.md", `customsearch/v1 \| (\S+)`, "../lab/clients/go.mod", `google.golang.org/api v(\S+)`},
		{"api.md", `@docsearch/js \| (\S+)`, node, `"@docsearch/js": "(\S+)"`},
		{"api.md", `DocSearch of VitePress \| (\S+)`, node, `"vitepress": "(\S+)"`},
		{"agents.md", `\(mcp (\d+\.\d+\.\d+)\)`, python, `mcp==(\S+)`},
		{"agents.md", `\(@modelcontextprotocol/sdk (\d+\.\d+\.\d+)\)`, node, `"@modelcontextprotocol/sdk": "(\S+)"`},
		{"own-site.md", `MkDocs (\d+\.\d+\.\d+)`, python, `mkdocs==(\S+)`},
		{"own-site.md", `VitePress (\d+\.\d+\.\d+)`, node, `"vitepress": "(\S+)"`},
	} {
		named, pinned := firstMatch(t, c.document, c.named), firstMatch(t, c.pins, c.pinned)
		if named == "" || named != pinned {
			t.Errorf("%s has %q for %s, %s has %q", c.document, named, c.named, c.pins, pinned)
		}
	}
}

// firstMatch returns the group of the first match in a file, or an empty string.
func firstMatch(t *testing.T, file, pattern string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(pattern).FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}
