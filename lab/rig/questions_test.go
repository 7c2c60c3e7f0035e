package rig

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestReadQuestions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "questions.tsv")
	text := "how to a\thttp://a.test/x#one\thttps://a.test/x\thttp://b.test/index.html#two\nwhat is b\thttp://b.test/\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := ReadQuestions(file)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d questions, %v", len(all), err)
	}
	q := all[0]
	if want := []string{"http://a.test/x", "https://a.test/x", "http://b.test/index.html"}; q.Query != "how to a" || !slices.Equal(q.Pages, want) {
		t.Errorf("%+v", q)
	}
	for page, want := range map[string][]string{"https://a.test/x": {"one"}, "https://b.test/": {"two"}, "http://c.test/": nil} {
		if got := q.Sections(page); !slices.Equal(got, want) {
			t.Errorf("sections of %s: %q, want %q", page, got, want)
		}
	}
	if !q.HasSection() || all[1].HasSection() {
		t.Error("the first question alone has sections")
	}
}
