package manual

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// odd has what man(7) would take for requests and escapes.
const odd = `.SH is no request here.
It's 'quoted', \fBnot bold\fP, a "string", ~/.cache, x^2, a-b and --delay ` + "`ls`" + `.

  indented   as it is
  .nf

After it.`

// tree returns commands, some with odd help.
func tree() *cobra.Command {
	run := func(*cobra.Command, []string) error { return nil }
	root := &cobra.Command{Use: "anatomy", Short: "a search engine", RunE: run}
	root.PersistentFlags().String("data", "anatomy-data", "data `FOLDER`")
	crawl := &cobra.Command{Use: "crawl URL...", Short: "fetch pages", Long: odd, Example: "  anatomy crawl 'a b'", RunE: run}
	crawl.Flags().Duration("delay", 0, "minimum `TIME` between requests; 'slow' is .5s")
	crawl.AddCommand(&cobra.Command{Use: "pause", Short: "pause it", RunE: run})
	hidden := &cobra.Command{Use: "inside", Hidden: true, RunE: run}
	root.AddCommand(crawl, hidden)
	return root
}

// plain returns the text that a page shows, by its own reading of man(7): a line that begins with a
// point or a quote is a request.
func plain(page string) string {
	var b strings.Builder
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, ".") && !strings.HasPrefix(line, "'") {
			b.WriteString(line)
		} else if strings.HasPrefix(line, ".PP") {
			b.WriteString("\n")
		}
	}
	return strings.NewReplacer(`\&`, "", `\e`, `\`, `\-`, "-", `\(aq`, "'", "\\`", "`", `\(ha`, "^", `\(ti`, "~").
		Replace(b.String())
}

func TestPagesShowTheHelp(t *testing.T) {
	root := tree()
	folder := filepath.Join(t.TempDir(), "man1")
	root.AddCommand(New("v1.2.3"))
	root.SetArgs([]string{"man", folder})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: mode %v, %v", f.Name(), info.Mode(), err)
		}
	}
	for _, want := range []string{"anatomy.1", "anatomy-crawl.1", "anatomy-crawl-pause.1", "anatomy-man.1"} {
		if !slices.Contains(names, want) {
			t.Errorf("no page %s among %v", want, names)
		}
	}
	if slices.Contains(names, "anatomy-inside.1") {
		t.Error("a hidden command has a page")
	}
	b, err := os.ReadFile(filepath.Join(folder, "anatomy-crawl.1"))
	if err != nil {
		t.Fatal(err)
	}
	shown := plain(string(b))
	for _, want := range []string{odd, "minimum TIME between requests; 'slow' is .5s", "  anatomy crawl 'a b'"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page does not show %q:\n%s", want, shown)
		}
	}
	for _, want := range []string{
		"\n.B \\-\\-delay TIME\n", "\n.BR anatomy\\-crawl\\-pause (1)\n", "anatomy v1.2.3", "\n.B \\-\\-data FOLDER\n",
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the page does not have %q:\n%s", want, b)
		}
	}
}
