package configs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/rules"
	"anatomy/cmd/anatomy/internal/schedule"
	"anatomy/config"
	"anatomy/disk/crawllog"
	"anatomy/web/admin"
)

// An Editor changes the anatomy.toml of a data folder for the admin page. It implements
// admin.Settings.
type Editor struct {
	dir      string
	newCrawl func() rules.Crawl
	recrawls bool
}

// NewEditor returns an editor. newCrawl returns a crawl without flags. recrawls reports whether the
// schedule in the file is followed.
func NewEditor(dir string, newCrawl func() rules.Crawl, recrawls bool) *Editor {
	return &Editor{dir, newCrawl, recrawls}
}

// Read returns the text of the file, or that of a file without rules, and a version of it for Replace.
func (e *Editor) Read() (text, version string, err error) {
	content, err := e.read()
	return string(content), versionOf(content), err
}

// read returns the content of the file, or that of a file without rules.
func (e *Editor) read() ([]byte, error) {
	content, err := os.ReadFile(config.Path(e.dir))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Appendf(nil, "%sschema = %d\n\n[crawl]\n\n[search]\n", config.Header, config.Schema), nil
	}
	return content, err
}

func versionOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Keys returns a file with every key and what it means.
func (e *Editor) Keys() (string, error) {
	return describe(config.New(e.dir), e.newCrawl().Flags)
}

// Replace replaces the text of a version with another one, unless something is wrong in that.
func (e *Editor) Replace(version, now string) (problems []admin.SettingsProblem, err error) {
	current, err := e.read()
	if err != nil {
		return nil, err
	}
	if versionOf(current) != version {
		return nil, errors.New("The file was changed in the meantime. Open the page again, and make your change there.")
	}
	kept, err := config.Parse(config.Path(e.dir), current)
	if err != nil {
		kept = config.New(e.dir) // the text corrects a file that cannot be read, without the keys of its owner
	}
	if now = strings.ReplaceAll(now, "\r\n", "\n"); now != "" && !strings.HasSuffix(now, "\n") {
		now += "\n"
	}
	if !utf8.ValidString(now) {
		return nil, errors.New("The text is not UTF-8.")
	}
	next, err := config.Parse(config.Path(e.dir), []byte(now))
	var wrong *config.Problem
	switch {
	case errors.As(err, &wrong):
		return viewProblems(wrong), nil
	case err != nil:
		return []admin.SettingsProblem{{Text: strings.TrimPrefix(err.Error(), config.Path(e.dir)+" ")}}, nil
	}
	found := rules.CheckOwnerKeys(kept, next)
	if len(found) == 0 { // else a check would open a file that the text names
		found = rules.Check(next, e.newCrawl)
	}
	if len(found) > 0 {
		return viewProblems(found...), nil
	}
	return nil, config.Replace(e.dir, current, []byte(now))
}

func viewProblems(found ...*config.Problem) (all []admin.SettingsProblem) {
	for _, p := range found {
		all = append(all, admin.SettingsProblem{Line: p.Line, Key: p.Key, Text: cli.ErrorText(p.Reason)})
	}
	return all
}

// Crawls returns the crawls of the data folder that ended, the newest first, and when the next scheduled
// recrawl begins; zero for never.
func (e *Editor) Crawls() (past []admin.PastCrawl, next time.Time, err error) {
	all, err := crawllog.Read(e.dir)
	var last time.Time
	for i, c := range all {
		if i == 0 {
			last = c.Began
		}
		past = append(past, admin.PastCrawl(c))
	}
	if !e.recrawls {
		return past, next, err
	}
	s, failed := schedule.Of(e.dir)
	if failed == nil && !s.IsNever() && err == nil {
		next = s.Next(last, time.Now())
	}
	return past, next, errors.Join(failed, err)
}
