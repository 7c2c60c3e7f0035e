package synonyms

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	table, err := Parse(strings.NewReader("# names\n\npostgres = PostgreSQL # the database\njs=JavaScript = ECMAScript\njs = node\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string][]string{
		"postgres": {"postgresql"}, "postgresql": {"postgres"}, "js": {"ecmascript", "javascript", "node"},
		"node": {"js"}, "javascript": {"ecmascript", "js"}, "names": nil, "": nil,
	} {
		if got := table.Of(word); !slices.Equal(got, want) {
			t.Errorf("%q has %q, want %q", word, got, want)
		}
	}
	if len(table.others) != 6 || (*Table)(nil).Of("js") != nil {
		t.Errorf("%d words", len(table.others))
	}
}

func TestWrongLines(t *testing.T) {
	for text, want := range map[string]string{
		"a = b\n\nc\n":                                   `f, line 3: "c" has no synonym`,
		"a =\n":                                          "f, line 1: a word is missing",
		"#\nml = machine learning\n":                     `f, line 2: "machine learning" has several words`,
		"a = " + strings.Repeat("b", MaxWord+1):          "is longer than",
		"a" + strings.Repeat(" = b", MaxGroup):           "at most 16",
		strings.Repeat("a = b\n", MaxBytes/6) + "abcdef": "is larger than",
	} {
		if _, err := Parse(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %s", text, err, want)
		}
	}
}

// TestReload checks that a new version of the file is used, and that a wrong or missing file is
// reported once and changes nothing.
func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "synonyms.txt")
	version := time.Now()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		version = version.Add(time.Second)
		if err := os.Chtimes(path, version, version); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(path, nil); err == nil {
		t.Error("a file that is missing: no error")
	}
	write("a = b")
	var reported []error
	f, err := Open(path, func(err error) { reported = append(reported, err) })
	if err != nil {
		t.Fatal(err)
	}
	check := func(want string, errors int) {
		t.Helper()
		f.Reload()
		f.Reload()
		if got := f.Content().Of("a"); !slices.Equal(got, []string{want}) || len(reported) != errors {
			t.Errorf("a = %q and %d errors, want %s and %d", got, len(reported), want, errors)
		}
	}
	check("b", 0)
	write("a = c")
	check("c", 0)
	write("a")
	check("c", 1)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	check("c", 2)
	write("a = d")
	check("d", 2)
	var none *File
	if none.Reload(); none.Content() != nil {
		t.Error("no file has a table")
	}
}
