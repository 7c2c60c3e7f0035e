package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLanguage(t *testing.T) {
	for path, want := range map[string]string{
		"libreoffice-help-ru/usr/share/text/01040600.html": "ru",
		"handbook/html/el-GR/apt.html":                     "el",
		"help/zh_CN/gimp.html":                             "zh-cn",
		"libreoffice-help-zh-cn/usr/a.html":                "zh-cn",
		"html/zh-TW/a.html":                                "zh-tw",
		"web/download.de.html":                             "de",
		"help/en/a.html":                                   "",
		"usr/share/doc/a.html":                             "",
	} {
		if got := language(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestRun: Russian text is read as it was in four encodings, and a page in English does not count.
func TestRun(t *testing.T) {
	root := t.TempDir()
	for name, body := range map[string]string{
		"ru/a.html": `<meta charset=utf-8><p>Все люди рождаются свободными и равными в своем достоинстве и правах.`,
		"ru/b.html": `<meta charset=utf-8><p>All human beings are born free and equal.`,
	} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := run(&out, []string{root}, 10); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(out.String()), " "); !strings.HasSuffix(got, "all 4 of 4, 100.00 %") {
		t.Error(got)
	}
}
