package admin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"anatomy/web/internal/respond"
	"anatomy/web/internal/text"

	"github.com/gin-gonic/gin"
)

// Settings are the rules of the collection: a text that people edit, line by line.
type Settings interface {
	// Read returns the text, and a version of it for Replace.
	Read() (text, version string, err error)

	// Keys returns a text with every key and what it means.
	Keys() (string, error)

	// Replace replaces the text of a version with another one, unless it returns problems of that.
	Replace(version, text string) ([]SettingsProblem, error)

	// Crawls returns the crawls that ended, the newest first, and when the next scheduled recrawl begins;
	// zero for never.
	Crawls() (past []PastCrawl, next time.Time, err error)
}

// A SettingsProblem is what is wrong with a line of the rules.
type SettingsProblem struct {
	Line int    `json:"line,omitempty"` // 0 for the whole text
	Key  string `json:"key,omitempty"`
	Text string `json:"text"`
}

// A PastCrawl is a crawl that ended. The counts are of it alone, except Pages.
type PastCrawl struct {
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended"`
	How     string    `json:"how"`              // crawl, recrawl or watch
	By      string    `json:"by"`               // what began it
	Result  string    `json:"result"`           // done, stopped or failed
	Reason  string    `json:"reason,omitempty"` // of a failure
	New     int64     `json:"new"`              // new pages
	Visited int64     `json:"visited"`          // pages revisited
	Changed int64     `json:"changed"`          // the part of Visited with a new version
	Left    int64     `json:"left"`             // the part of Visited that left the results
	Failed  int64     `json:"failed"`           // URLs that could not be fetched
	Pages   int64     `json:"pages"`            // of the collection at the end

	Errors map[string]int64 `json:"errors,omitempty"` // fetches without a page, by kind
}

// A settingsView is the page of the rules.
type settingsView struct {
	Form, Text, Version, Keys string
	Lines                     int // of the text
	Problems                  []SettingsProblem
	Failed                    string // why it was not kept, or ""
	Kept                      bool
}

// settingsPage shows the rules to those who may act; to programs as JSON.
func (s *Handlers) settingsPage(c *gin.Context) error {
	if !s.sessions.IsActor(c.Request) {
		return s.sessions.Permit(c.Request)
	}
	text, version, err := s.settings.Read()
	if err != nil {
		return err
	}
	if respond.WantsJSON(c.Request) {
		s.respond.JSON(c, http.StatusOK, map[string]string{"text": text, "version": version})
		return nil
	}
	return s.showSettings(c, http.StatusOK, &settingsView{Text: text, Version: version, Kept: c.Query("kept") != ""})
}

func (s *Handlers) showSettings(c *gin.Context, status int, f *settingsView) (err error) {
	if f.Keys, err = s.settings.Keys(); err != nil {
		return err
	}
	f.Form, _ = s.sessions.Form(c.Request)
	const least, most = 12, 40
	f.Lines = min(max(least, 2+lines(f.Text)), most)
	v := s.View(c, "Rules", "")
	v.Body = f
	return s.Render(c, status, "settings", v)
}

// keepSettings replaces the rules with the text of the form.
func (s *Handlers) keepSettings(c *gin.Context) error {
	var problems []SettingsProblem
	_, err := s.act(c, "config", func(_ context.Context, form url.Values) (_ []string, err error) {
		if problems, err = s.settings.Replace(form.Get("version"), form.Get("text")); err == nil && len(problems) > 0 {
			err = errNotKept
		}
		return nil, err
	})
	if respond.WantsJSON(c.Request) {
		switch {
		case len(problems) > 0:
			s.respond.JSON(c, http.StatusConflict, map[string]any{"problems": problems})
		default:
			s.answerProgram(c, nil, err)
		}
		return nil
	}
	var p *respond.Problem
	switch {
	case errors.As(err, &p):
		return err
	case err == nil:
		s.Site.Redirect(c, http.StatusSeeOther, "/crawl/config?kept=1")
		return nil
	}
	v := &settingsView{Text: c.PostForm("text"), Version: c.PostForm("version"), Problems: problems}
	if len(problems) == 0 {
		v.Failed = err.Error()
	}
	return s.showSettings(c, http.StatusConflict, v)
}

var errNotKept = errors.New("the text has errors")

// historyPage shows the past crawls to those who may act; to programs as JSON.
func (s *Handlers) historyPage(c *gin.Context) error {
	if !s.sessions.IsActor(c.Request) {
		return s.sessions.Permit(c.Request)
	}
	all, _, err := s.settings.Crawls()
	if err != nil {
		return err
	}
	if respond.WantsJSON(c.Request) {
		s.respond.JSON(c, http.StatusOK, append([]PastCrawl{}, all...))
		return nil
	}
	v := s.View(c, "Past crawls", "")
	v.Body = all
	return s.Render(c, http.StatusOK, "history", v)
}

// Kinds returns the errors by kind, most frequent first.
func (p PastCrawl) Kinds() []text.Tallied { return text.Tally(p.Errors) }

// Took returns how long the crawl took.
func (p PastCrawl) Took() time.Duration { return p.Ended.Sub(p.Began) }

// lines returns the number of lines of a text.
func lines(text string) int { return strings.Count(text, "\n") }
