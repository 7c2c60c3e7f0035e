package rules

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAgent: a site has the contact and the User-Agent that the rules of its crawl name.
func TestAgent(t *testing.T) {
	for text, want := range map[string][2]string{
		"":                                {},
		"contact = 'you@example.org'":     {"you@example.org", ""},
		"user-agent = 'Fox/1'":            {"", "Fox/1"},
		"contact = 'a@b'\nuser-agent='F'": {"a@b", "F"},
		"contact = ['a@b', 'c@d']":        {},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "anatomy.toml"), []byte("schema = 1\n[crawl]\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := ReadSite(dir)
		if err != nil || [2]string{s.Contact, s.Agent} != want {
			t.Errorf("%s: %q, %q, %v, want %q", text, s.Contact, s.Agent, err, want)
		}
	}
}
