package query

import (
	"strings"
	"testing"
)

// TestProse checks which queries are prose, and what a page must hold, may lack, and what is a
// function word of them, written word, (word).
func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"git rebase":                      "",
		"read csv file":                   "",
		"the who":                         "",
		"to be or not to be":              "",
		"read csv file python":            "read csv file python",
		"how to exit":                     "(how) (to) exit",
		"undo the last commit":            "undo (the) last commit",
		"is os.path thread safe":          "(is) os path thread safe",
		"pandas.tseries.offsets.Nano day": "",
		"reset the user's password":       "reset (the) user (s) password",
		"built-in function relbar":        "",
		"sqlite disk I/O error":           "sqlite disk i o error",
		"it's what's that's":              "",
		"unique_ptr vs shared_ptr":        "unique_ptr (vs) shared_ptr",
		`how to "exit code" +bash -zsh`:   "",
		`how to read "exit code" -zsh`:    `"exit code" -zsh: (how) (to) read`,
		"site:x.org how to exit":          "site:x.org: (how) (to) exit",
		"how to exit OR quit vim":         "(how) (to) exit OR quit vim",
		"a OR b OR c OR d":                "",
		"intitle:a intitle:b intitle:c d": "",
		"全文検索":                            "",
		"全文検索を高速に実行する方法はどれですか": "全文 文検 検索 索を を高 高速 速に に実 実行 行す する る方 方法 法は はど どれ れで です すか",
	} {
		if got := describe(Parse(text).Root.Prose()); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func describe(prose *Node) string {
	if prose == nil {
		return ""
	}
	var parts []string
	most := prose
	if prose.Op == And {
		most = prose.Kids[len(prose.Kids)-1]
		for _, kid := range prose.Kids[:len(prose.Kids)-1] {
			parts = append(parts, kid.String())
		}
		parts[len(parts)-1] += ":"
	}
	for _, word := range most.Kids {
		if word.Function {
			parts = append(parts, "("+word.String()+")")
		} else {
			parts = append(parts, word.String())
		}
	}
	return strings.Join(parts, " ")
}

// TestAccentsAreNoFunctionWords checks that words with accents are not read as English function words.
func TestAccentsAreNoFunctionWords(t *testing.T) {
	for text, want := range map[string]string{
		"cơ sở dữ liệu":             "co so du lieu",
		"cơ so\u031b\u0309 dữ liệu": "co so du lieu",
		"why so few pages":          "pages",
		"voyage à paris":            "voyage paris",
	} {
		var got []string
		for _, word := range Parse(text).Root.Prose().Content() {
			got = append(got, word.Words[0])
		}
		if content := strings.Join(got, " "); content != want {
			t.Errorf("%s: content %q, want %q", text, content, want)
		}
	}
}
