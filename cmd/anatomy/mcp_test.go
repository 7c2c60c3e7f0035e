package main

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A client that starts the program itself finds its tools on standard input and output.
func TestMCP(t *testing.T) {
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), &mcp.CommandTransport{Command: exec.Command("anatomy", "mcp", "--data", crawled(t))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	r, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "anchor text"}})
	if err != nil || r.IsError {
		t.Fatalf("search: %v %+v", err, r)
	}
	if text := r.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, "http://glossary.test/anchor-text") {
		t.Errorf("search says\n%s", text)
	}
	r, err = session.CallTool(context.Background(), &mcp.CallToolParams{Name: "fetch", Arguments: map[string]any{"url": "http://glossary.test/anchor-text"}})
	if err != nil || r.IsError {
		t.Fatalf("fetch: %v %+v", err, r)
	}
}
