package crawllog_test

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"anatomy/disk/crawllog"
)

// TestAppendRead: the newest crawls are kept, in their order, and no others.
func TestAppendRead(t *testing.T) {
	dir := t.TempDir()
	if all, err := crawllog.Read(dir); len(all) != 0 || err != nil {
		t.Fatalf("%v, %v", all, err)
	}
	began := time.Date(2026, 11, 24, 3, 0, 0, 999, time.FixedZone("", 3600))
	var want []crawllog.Crawl
	for i := range int64(crawllog.MaxCrawls + 5) {
		c := crawllog.Crawl{
			Began: began.Add(time.Duration(i) * time.Hour), Ended: began.Add(time.Duration(i+1) * time.Hour),
			How: "recrawl", By: crawllog.Schedule, Result: crawllog.Failed, Reason: fmt.Sprintf("two\nlines %d", i),
			New: i, Visited: 2, Changed: 3, Left: 4, Failed: 5, Pages: 6,
			Errors: map[string]int64{"gone: 404 Not Found": i + 1},
		}
		if err := crawllog.Append(dir, c); err != nil {
			t.Fatal(err)
		}
		c.Began, c.Ended = c.Began.UTC().Truncate(time.Second), c.Ended.UTC().Truncate(time.Second)
		want = append(want, c)
		if i%50 != 0 && i < crawllog.MaxCrawls-1 {
			continue
		}
		want = want[max(0, len(want)-crawllog.MaxCrawls):]
		all, err := crawllog.Read(dir)
		slices.Reverse(all)
		if err != nil || !reflect.DeepEqual(all, want) {
			t.Fatalf("%d: %v, %v, want %v", i, all, err, want)
		}
	}
	info, err := os.Stat(crawllog.Path(dir))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestManyKinds: the most frequent kinds of errors are kept.
func TestManyKinds(t *testing.T) {
	dir, errors := t.TempDir(), map[string]int64{}
	for i := range int64(100) {
		errors[fmt.Sprint("kind ", i)] = i
	}
	if err := crawllog.Append(dir, crawllog.Crawl{Errors: errors}); err != nil {
		t.Fatal(err)
	}
	all, err := crawllog.Read(dir)
	if err != nil || len(all) != 1 || len(all[0].Errors) != 20 || all[0].Errors["kind 80"] != 80 {
		t.Errorf("%v, %v", all, err)
	}
}

// TestLongReason: a reason is cut, between characters.
func TestLongReason(t *testing.T) {
	dir := t.TempDir()
	if err := crawllog.Append(dir, crawllog.Crawl{Reason: "x" + strings.Repeat("é", 1<<16)}); err != nil {
		t.Fatal(err)
	}
	all, err := crawllog.Read(dir)
	if err != nil || len(all) != 1 || len(all[0].Reason) > 500 || len(all[0].Reason) < 490 || !utf8.ValidString(all[0].Reason) {
		t.Errorf("%v, %v", all, err)
	}
}

// TestDamaged: a line that is none is named, and kept: what follows is added all the same.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(crawllog.Path(dir), []byte("{}\nnot JSON"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := crawllog.Append(dir, crawllog.Crawl{New: 1}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(crawllog.Path(dir))
	if err != nil || !bytes.HasPrefix(b, []byte("{}\nnot JSON\n{")) {
		t.Errorf("%s, %v", b, err)
	}
	if _, err := crawllog.Read(dir); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Error(err)
	}
}
