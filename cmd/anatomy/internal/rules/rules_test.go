package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"anatomy/config"
)

// TestTooManyURLs checks that a list of start URLs is kept up to a bound, and that a longer one is
// reported.
func TestTooManyURLs(t *testing.T) {
	r := &Rules{config: config.New(t.TempDir())}
	var urls []string
	for i := range maxURLs {
		urls = append(urls, fmt.Sprintf("http://a.test/%d", i))
	}
	r.AddURLs(urls)
	if kept, _, _ := r.config.Flag(urlKey); len(kept) != maxURLs || r.Text(false) != "" {
		t.Errorf("%d are kept: %q", len(kept), r.Text(false))
	}
	r.AddURLs([]string{"b.test", "https://B.test/"})
	if kept, _, _ := r.config.Flag(urlKey); len(kept) != maxURLs || !strings.HasPrefix(r.Text(false), "1001 start URLs: ") {
		t.Errorf("%d are kept: %q", len(kept), r.Text(false))
	}
}

// TestOwnerKeys: every key is either one that the admin page may change or one that it may not, so that a
// new one is thought about.
func TestOwnerKeys(t *testing.T) {
	open := []string{
		"url", "scope", "include", "exclude", "policy", "delay", "max-pages", "max-pages-per-host", "max-depth", "max-repeats",
		"max-urls-per-site", "max-mb-per-site", "max-parsing-per-site", "per-site", "per-address", "delay-for",
		"connections-for", "connections", "no-index", "no-icons", "keep-headers", "contact", "user-agent", "max-rate", "render",
		"schedule",
	}
	for _, key := range Flags {
		was, now := config.New(t.TempDir()), config.New(t.TempDir())
		now.SetFlag(key, "x")
		if refused := len(CheckOwnerKeys(was, now)) == 1; refused == slices.Contains(open, key) {
			t.Errorf("%s: refused %v", key, refused)
		}
	}
	search := reflect.TypeFor[config.Search]()
	for i := range search.NumField() {
		key, _, _ := strings.Cut(search.Field(i).Tag.Get("toml"), ",")
		if !slices.Contains(searchKeys, key) {
			t.Errorf("%s is not in the list of keys", key)
		}
		was, now := config.New(t.TempDir()), config.New(t.TempDir())
		switch field := reflect.ValueOf(&now.Search).Elem().Field(i); field.Kind() {
		case reflect.String:
			field.SetString("x")
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		}
		if refused := len(CheckOwnerKeys(was, now)) == 1; refused == slices.Contains([]string{"name", "accent", "ranking", "languages", "labels", "pins"}, key) {
			t.Errorf("search.%s: refused %v", key, refused)
		}
	}
}

// TestUnreadHint: a file that another user may not read is not said to be wrong.
func TestUnreadHint(t *testing.T) {
	err := fmt.Errorf("rules: %w", &fs.PathError{Op: "open", Path: "data/anatomy.toml", Err: syscall.EACCES})
	if hint := unreadHint(err); !strings.HasPrefix(hint, "run the command as the owner of the folder") {
		t.Error(hint)
	}
	if hint := unreadHint(errors.New("line 2: syntax error")); !strings.HasPrefix(hint, "correct the file") {
		t.Error(hint)
	}
}
