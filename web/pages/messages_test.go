package pages

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"anatomy/web/api"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/reported"
)

// TestCatalogues: every catalogue has every message that a page uses, with the same arguments, and
// no other.
func TestCatalogues(t *testing.T) {
	used := usedMessages(t)
	if len(used) < 250 {
		t.Fatalf("only %d messages found", len(used))
	}
	plurals := readCatalogue(t, "en").Plurals
	if len(messages.All()) < 7 {
		t.Fatal("catalogues are missing")
	}
	for _, m := range messages.All() {
		c := readCatalogue(t, m.Tag)
		for english := range plurals {
			checkPlural(t, m, english, c.Plurals[english])
		}
		has := len(plurals)
		for english := range used {
			if _, plural := plurals[english]; plural || m == messages.English() {
				continue
			}
			text, ok := c.Texts[english]
			switch has++; {
			case !ok:
				t.Errorf("%s.toml lacks %q", m.Tag, english)
			case verbs(text) != verbs(english) || strings.ContainsAny(text, "<>&") && !strings.ContainsAny(english, "<>&"):
				t.Errorf("%s.toml: %q has other arguments than %q, or markup", m.Tag, text, english)
			}
		}
		for english := range c.Texts {
			if !used[english] {
				t.Errorf("%s.toml: no page uses %q", m.Tag, english)
			}
		}
		if len(c.Plurals) != len(plurals) || m != messages.English() && has != len(used) {
			t.Errorf("%s.toml: %d messages with plural forms, want %d; %d in all, want %d",
				m.Tag, len(c.Plurals), len(plurals), has, len(used))
		}
	}
	for english := range plurals {
		if !used[english] {
			t.Errorf("en.toml: no page uses %q", english)
		}
	}
}

// checkPlural checks that a message is written for 0, 1, 2 and 1,234 with the number, or without it
// for 1 alone, and with all other arguments.
func checkPlural(t *testing.T, m *messages.Printer, english string, forms map[string]string) {
	t.Helper()
	if forms["other"] == "" {
		t.Errorf("%s.toml: %q lacks the form other", m.Tag, english)
	}
	for _, n := range []int{0, 1, 2, 1234} {
		text := m.Text(english, n, "EXTRA")
		if strings.Count(english, "%") == 1 {
			text = m.Text(english, n)
		}
		if n != 1 && !strings.Contains(text, m.Count(n)) || strings.Contains(text, "%!") ||
			strings.Contains(english, "%s") != strings.Contains(text, "EXTRA") {
			t.Errorf("%s.toml: %q for %d: %q", m.Tag, english, n, text)
		}
	}
}

// verbs returns the verbs of a message in the order of their arguments.
func verbs(message string) string {
	all := regexp.MustCompile(`%(\[(\d)\])?([ds])`).FindAllStringSubmatch(message, -1)
	got := make([]string, len(all))
	for i, v := range all {
		at := i
		if v[2] != "" {
			at, _ = strconv.Atoi(v[2])
			at--
		}
		if at < len(got) {
			got[at] = v[3]
		}
	}
	return strings.Join(got, " ")
}

type catalogue struct {
	Texts   map[string]string
	Plurals map[string]map[string]string
}

func readCatalogue(t *testing.T, tag string) (c catalogue) {
	t.Helper()
	names, err := filepath.Glob("../internal/messages/" + tag + ".*toml")
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: no catalogue, %v", tag, err)
	}
	seen := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		var one catalogue
		if err = errors.Join(err, toml.Unmarshal(text, &one), toml.Unmarshal(text, &c)); err != nil {
			t.Fatal(err)
		}
		for english := range one.Texts {
			if seen[english] != "" {
				t.Errorf("%s and %s have %q", seen[english], name, english)
			}
			seen[english] = name
		}
	}
	return c
}

var messageInTemplate = regexp.MustCompile(`(?:\{\{-? ?|\()(?:t|h) ("(?:[^"\\]|\\.)*")`)

// usedMessages returns the messages of templates and code, and those of tables that templates show.
func usedMessages(t *testing.T) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	names, _ := filepath.Glob("../internal/frame/templates/*.html")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range messageInTemplate.FindAllSubmatch(text, -1) {
			addQuoted(t, used, string(found[1]))
		}
	}
	messagesInCode(t, used, ".")
	messagesInCode(t, used, "..")
	messagesInCode(t, used, "../admin")
	messagesInCode(t, used, "../api")
	messagesInCode(t, used, "../box")
	messagesInCode(t, used, "../internal/access")
	messagesInCode(t, used, "../internal/frame")
	messagesInCode(t, used, "../internal/reported")
	messagesInCode(t, used, "../internal/respond")
	messagesInCode(t, used, "../internal/session")
	messagesInCode(t, used, "../internal/prefsfile")
	for _, f := range AdvancedFields {
		used[f.Label], used[f.About] = true, true
	}
	for _, l := range preferenceLists {
		used[l.Label], used[l.Heading], used[l.About] = true, true, true
	}
	for _, l := range lensLabels {
		used[l.Label] = true
	}
	examples := slices.Clone(plainExamples)
	for _, s := range helpSections {
		used[s.Title], used[s.About] = true, true
		examples = append(examples, s.Examples...)
	}
	for _, e := range examples {
		used[e.Means] = true
	}
	for _, english := range reported.Formats {
		used[english] = true
	}
	for _, liked := range []string{"raised", "lowered", "pinned", "blocked"} { // params.Preferences.Of
		used[liked] = true
	}
	addAPI(used)
	delete(used, "")
	return used
}

// addAPI adds the prose of the description of the API.
func addAPI(used map[string]bool) {
	d := api.Describe(messages.English(), "")
	used[d.About] = true
	for _, o := range d.Operations {
		used[o.Summary], used[o.About] = true, true
		for _, p := range o.Parameters {
			used[p.About] = true
		}
		for _, s := range o.Statuses {
			used[s.About] = true
		}
	}
	for _, s := range d.Shapes {
		used[s.About] = true
		for _, f := range s.Fields {
			used[f.About] = true
		}
	}
}

// messagesInCode adds the constant messages that the Go files of a folder pass to a printer, to
// Frame.View as a title, or to respond.NewProblem as a title.
func messagesInCode(t *testing.T, used map[string]bool, folder string) {
	t.Helper()
	printers := []string{"m", "Messages", "messages", "texts"} // names of variables and fields
	argument := map[string]int{"View": 1, "NewProblem": 2, "publishersWish": 1}
	names, _ := filepath.Glob(filepath.Join(folder, "*.go"))
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			on, called := nameOf(call.Fun)
			at, known := argument[called]
			if (called == "Text" || called == "HTML") && slices.Contains(printers, on) {
				at, known = 0, true
			}
			if known && at < len(call.Args) {
				if text, ok := call.Args[at].(*ast.BasicLit); ok && text.Kind == token.STRING {
					addQuoted(t, used, text.Value)
				}
			}
			return true
		})
	}
}

// nameOf returns the name of a function, and of the variable or field whose method it is.
func nameOf(e ast.Expr) (on, called string) {
	switch e := e.(type) {
	case *ast.Ident:
		return "", e.Name
	case *ast.SelectorExpr:
		_, on = nameOf(e.X)
		return on, e.Sel.Name
	}
	return "", ""
}

func addQuoted(t *testing.T, used map[string]bool, quoted string) {
	t.Helper()
	text, err := strconv.Unquote(quoted)
	if err != nil {
		t.Fatal(err)
	}
	used[text] = true
}

// TestPluralForms: a number chooses the form of its language.
func TestPluralForms(t *testing.T) {
	forms := map[string]map[string]bool{}
	for _, m := range messages.All() {
		forms[m.Tag] = map[string]bool{}
		for _, n := range []int{1, 2} {
			forms[m.Tag][m.Text("%d pages", n)] = true
		}
	}
	if len(forms["de"]) != 2 || forms["de"]["1 Seite"] != true || !forms["en"]["1 page"] || !forms["ja"]["1 ページ"] {
		t.Errorf("forms are %v", slices.Collect(maps.Values(forms)))
	}
}
