// Package prefsfile reads and writes preferences as a file that people keep, edit and share.
//
//	version = 1
//	raise = [
//	  "docs.example.org",
//	]
//	block = [
//	  "ads.example.com",
//	]
//	lang = ["de", "en"]
//	num = 20
//	theme = "dark"
//
//	[[lens]]
//	name = "Manuals"
//	only = ["example.net/manual"]
//	query = "-filetype:pdf"
//
// The file is TOML. Its keys are the parameters of preferences in addresses, and each can be
// absent: raise, lower, pin and block are lists of sites, lang is a list of languages, num the
// results per page, tab and instant are true or false, theme is "light", "dark" or "auto". Each
// table lens has the rules of one: lists only, raise, block and lang, and query. Files are
// untrusted: see MaxBytes and the bounds of searcher.Preferences and params.Lens.
package prefsfile

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"anatomy/searcher"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
	"anatomy/web/internal/text"
)

// Version is the version of the file.
const Version = 1

// Bounds of a file.
const (
	MaxBytes    = 64 << 10
	maxProblems = 20 // that are reported
)

// A file is the content of a file.
type file struct {
	Version int      `toml:"version"`
	Raise   []string `toml:"raise,multiline,omitempty"`
	Lower   []string `toml:"lower,multiline,omitempty"`
	Pin     []string `toml:"pin,multiline,omitempty"`
	Block   []string `toml:"block,multiline,omitempty"`
	Lang    []string `toml:"lang,omitempty"`
	Num     int      `toml:"num,omitempty"`
	Tab     bool     `toml:"tab,omitempty"`
	Instant bool     `toml:"instant,omitempty"`
	Theme   string   `toml:"theme,omitempty"`
	Lens    []lens   `toml:"lens,omitempty"`
}

type lens struct {
	Name  string   `toml:"name"`
	Only  []string `toml:"only,multiline,omitempty"`
	Raise []string `toml:"raise,multiline,omitempty"`
	Block []string `toml:"block,multiline,omitempty"`
	Lang  []string `toml:"lang,omitempty"`
	Query string   `toml:"query,omitempty"`
}

// Write returns the file of preferences and lenses.
func Write(f *params.Preferences, lenses []*params.Lens) ([]byte, error) {
	var tables []lens
	for _, l := range lenses {
		tables = append(tables, lens(*l))
	}
	return toml.Marshal(&file{
		Lens:    tables,
		Version: Version, Raise: f.Raise, Lower: f.Lower, Pin: f.Pin, Block: f.Block,
		Lang: strings.FieldsFunc(f.Lang, params.IsListGap), Num: f.Num, Tab: f.Tab, Instant: f.Instant, Theme: f.Theme,
	})
}

// A Problem is what is wrong with a line of a file.
type Problem struct {
	Line int // from 1
	Text string
}

// Read reads a file. If it has problems, it returns some of them, in the language of m, and no
// preferences.
func Read(m *messages.Printer, content []byte) (*params.Preferences, []*params.Lens, []Problem) {
	var any map[string]any
	var wrong *toml.DecodeError
	content = slices.Clip(bytes.TrimPrefix(content, []byte("\ufeff")))
	if err := toml.Unmarshal(content, &any); errors.As(err, &wrong) {
		line, _ := wrong.Position()
		return nil, nil, []Problem{{line, m.Text("This is not TOML: %s.", strings.TrimPrefix(wrong.Error(), "toml: "))}}
	} else if err != nil {
		return nil, nil, []Problem{{1, m.Text("This is not TOML: %s.", strings.TrimPrefix(err.Error(), "toml: "))}}
	}
	r := reader{m: m, f: &params.Preferences{}}
	r.p.Reset(content)
	for r.p.NextExpression() && len(r.problems) < maxProblems {
		r.expression(r.p.Expression())
	}
	r.endLens()
	if !r.versioned && len(r.problems) == 0 {
		r.problems = append(r.problems, Problem{1, m.Text("The line %s is missing.", "version = 1")})
	}
	if len(r.problems) > 0 {
		return nil, nil, r.problems
	}
	return r.f, r.lenses, nil
}

// A reader reads the expressions of a file that is TOML.
type reader struct {
	m         *messages.Printer
	p         unstable.Parser
	f         *params.Preferences
	sites     int
	versioned bool
	table     bool         // the key belongs to a table that the file cannot have
	lens      *params.Lens // that keys belong to, or nil
	lensLine  int
	lenses    []*params.Lens
	problems  []Problem
}

// fail records a problem at a node that has a position.
func (r *reader) fail(at *unstable.Node, message string) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, Problem{r.p.Shape(at.Raw).Start.Line, message})
	}
}

// expression reads one key with its value.
func (r *reader) expression(n *unstable.Node) {
	keys := n.Key()
	var name []string
	for keys.Next() {
		name = append(name, string(keys.Node().Data))
	}
	keys = n.Key()
	keys.Next()
	key, value := keys.Node(), n.Value()
	switch {
	case n.Kind == unstable.ArrayTable && len(name) == 1 && name[0] == "lens":
		r.endLens()
		r.table, r.lens, r.lensLine = false, &params.Lens{}, r.p.Shape(key.Raw).Start.Line
		return
	case n.Kind != unstable.KeyValue:
		r.table = true
		r.fail(key, r.unknown(strings.Join(name, ".")))
		return
	case r.table:
		return
	case len(name) != 1:
		r.fail(key, r.unknown(strings.Join(name, ".")))
		return
	case r.lens != nil:
		r.rule(key, value, name[0])
		return
	}
	switch name := name[0]; name {
	case "version":
		r.versioned = true
		if v := string(r.p.Raw(value.Raw)); value.Kind != unstable.Integer || v != strconv.Itoa(Version) {
			r.fail(key, r.m.Text("The version of the file is %s. This server reads version 1.", text.Shorten(text.Visible(v), 20)))
		}
	case "raise", "lower", "pin", "block":
		r.list(key, value, func(at *unstable.Node, s string) { r.site(at, s, r.f.Lists()[name]) })
	case "lang":
		var all []string
		r.list(key, value, func(at *unstable.Node, s string) { r.language(at, s, &all) })
		if len(all) > searcher.MaxLanguages {
			r.fail(key, r.m.Text("There are %d languages; the limit is %d.", len(all), searcher.MaxLanguages))
			return
		}
		r.f.Lang = strings.Join(all, ",")
	case "num":
		n, err := strconv.Atoi(string(value.Data))
		if value.Kind != unstable.Integer || err != nil || n < 1 || n > searcher.MaxLimit {
			r.fail(key, r.m.Text("%s must be a whole number from 1 to %d.", "num", searcher.MaxLimit))
			return
		}
		r.f.Num = n
	case "tab":
		r.f.Tab = r.flag(key, value)
	case "instant":
		r.f.Instant = r.flag(key, value)
	case "theme":
		theme := string(value.Data)
		if value.Kind != unstable.String || !slices.Contains([]string{"light", "dark", "auto"}, theme) {
			r.fail(key, r.m.Text("theme must be \"light\", \"dark\" or \"auto\"."))
			return
		}
		r.f.Theme = strings.TrimPrefix(theme, "auto")
	default:
		r.fail(key, r.unknown(name))
	}
}

func (r *reader) unknown(name string) string {
	return r.m.Text("There is no preference “%s”.", text.Shorten(text.Visible(name), 80))
}

// list calls visit with the texts of a list.
func (r *reader) list(key, value *unstable.Node, visit func(at *unstable.Node, s string)) {
	if value.Kind != unstable.Array {
		r.fail(key, r.m.Text("%s must be a list of texts in quotes.", string(key.Data)))
		return
	}
	for kids := value.Children(); kids.Next(); {
		kid := kids.Node()
		if kid.Kind != unstable.String {
			r.fail(key, r.m.Text("%s must be a list of texts in quotes.", string(key.Data)))
			return
		}
		visit(kid, string(kid.Data))
	}
}

// site adds a site to a list.
func (r *reader) site(at *unstable.Node, raw string, list *[]string) {
	site, ok := text.SiteName(raw)
	switch {
	case !ok || strings.ContainsFunc(raw, params.IsListGap):
		r.fail(at, NotSite(r.m, raw))
	case slices.Contains(*list, site):
	default:
		if r.sites++; r.sites == searcher.MaxPreferred+1 {
			r.fail(at, tooMany(r.m))
		}
		*list = append(*list, site)
	}
}

// language adds a language to a list.
func (r *reader) language(at *unstable.Node, raw string, list *[]string) {
	if lang := text.LangTag(raw); lang == "" {
		r.fail(at, r.m.Text("“%s” is not a language. Write de, en or pt-br.", text.Shorten(text.Visible(raw), 80)))
	} else if !slices.Contains(*list, lang) {
		*list = append(*list, lang)
	}
}

// rule reads a key of a lens.
func (r *reader) rule(key, value *unstable.Node, name string) {
	l, sites := r.lens, r.sites
	switch name {
	case "name", "query":
		if value.Kind != unstable.String {
			r.fail(key, r.m.Text("%s must be a text in quotes.", name))
		} else if s := text.Clean(string(value.Data)); name == "name" {
			l.Name = s
		} else {
			l.Query = s
		}
	case "only", "raise", "block":
		r.sites = 0
		list := map[string]*[]string{"only": &l.Only, "raise": &l.Raise, "block": &l.Block}[name]
		r.list(key, value, func(at *unstable.Node, s string) { r.site(at, s, list) })
		r.sites = sites
	case "lang":
		r.list(key, value, func(at *unstable.Node, s string) { r.language(at, s, &l.Lang) })
	default:
		r.fail(key, r.m.Text("There is no rule “%s” of lenses.", text.Shorten(text.Visible(name), 80)))
	}
}

// endLens checks and adds the lens whose keys were read.
func (r *reader) endLens() {
	l := r.lens
	if r.lens = nil; l == nil || len(r.problems) > 0 {
		return
	}
	problem := CheckLens(r.m, l)
	if slices.ContainsFunc(r.lenses, func(other *params.Lens) bool { return other.Name == l.Name }) {
		problem = r.m.Text("There is another lens with this name.")
	}
	if problem != "" {
		r.problems = append(r.problems, Problem{r.lensLine, problem})
		return
	}
	if whole, err := params.DecodeLens(l.Encode()); err == nil {
		r.lenses = append(r.lenses, whole)
	}
}

// CheckLens returns why a lens cannot be kept, in the language of m, or "".
func CheckLens(m *messages.Printer, l *params.Lens) string {
	switch n := utf8.RuneCountInString(l.Name); {
	case n == 0 || n > params.MaxLensName:
		return m.Text("The lens needs a name of up to %d characters.", params.MaxLensName)
	case l.Filters() == "" && len(l.Raise)+len(l.Block) == 0:
		return m.Text("The lens has no rule.")
	case searcher.CheckFilters(l.Query) != nil:
		return m.Text("Filters are up to 64 operators without words: %s.", "site: lang: filetype: before: after:")
	}
	encoded := l.Encode()
	if _, err := params.DecodeLens(encoded); err != nil || len(encoded) > params.MaxLens {
		return m.Text("The lens has too many rules, or its filters are too long.")
	}
	return ""
}

// NotSite returns the message for a text that is not a site.
func NotSite(m *messages.Printer, raw string) string {
	return m.Text("“%s” is not a site. Write example.org or example.org/docs.", text.Shorten(text.Visible(raw), 80))
}

func tooMany(m *messages.Printer) string {
	return m.Text("This is one site more than the limit of %d.", searcher.MaxPreferred)
}

// flag returns a value that is true or false.
func (r *reader) flag(key, value *unstable.Node) bool {
	if value.Kind != unstable.Bool {
		r.fail(key, r.m.Text("%s must be true or false.", string(key.Data)))
	}
	return string(value.Data) == "true"
}

// IsBlockList reports whether a file is a list of sites instead: its first line that is no comment
// has neither a key nor a table.
func IsBlockList(content []byte) bool {
	for line := range bytes.Lines(bytes.TrimPrefix(content, []byte("\ufeff"))) {
		if line = withoutComment(line); len(line) > 0 {
			return line[0] != '[' && line[0] != '"' && !bytes.Contains(line, []byte("="))
		}
	}
	return false
}

func withoutComment(line []byte) []byte {
	line, _, _ = bytes.Cut(line, []byte("#"))
	if line = bytes.TrimSpace(line); bytes.HasPrefix(line, []byte("!")) {
		return nil
	}
	return line
}

// AddBlockList blocks the sites of a list, one on a line, as extensions for blocking results
// share them. It returns its problems as Read does.
func AddBlockList(m *messages.Printer, f *params.Preferences, content []byte) (problems []Problem) {
	number := 0
	for line := range bytes.Lines(bytes.TrimPrefix(content, []byte("\ufeff"))) {
		number++
		raw := string(withoutComment(line))
		if raw == "" {
			continue
		}
		if len(problems) == maxProblems {
			break
		}
		site, ok := text.SiteName(raw)
		if !ok {
			problems = append(problems, Problem{number, NotSite(m, raw)})
			continue
		}
		if f.Set(site, "block"); f.Sites() > searcher.MaxPreferred {
			return append(problems, Problem{number, tooMany(m)})
		}
	}
	return problems
}
