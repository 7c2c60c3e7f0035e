package doc_test

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	decisionFile = regexp.MustCompile(`^([0-9]{4})-[a-z0-9-]+\.md$`)
	decisionForm = regexp.MustCompile(`(?s)^# ([0-9]{4})\. ([^\n]+)\n\n` +
		`- Status: (accepted|rejected|superseded by \[[0-9]{4}\]\([^)]+\))\n` +
		`- Date: ([0-9]{4}-[0-9]{2}-[0-9]{2})\n` +
		`- (Supersedes|Amends): (nothing|[^\n]+)\n` +
		`\n## Context\n\n.+\n## Options\n\n.+\n## Decision\n\n.+\n$`)
	supersededBy = regexp.MustCompile(`superseded by \[([0-9]{4})\]`)
)

// Every decision has its sections and is in the table with title, status and date; numbers have no
// gaps; and a superseded decision is named by the one that supersedes it.
func TestDecisions(t *testing.T) {
	repository := readTree(t)
	table := read(t, "doc/decisions/README.md")
	texts := make(map[string]string) // by number
	for _, name := range repository.documents {
		match := decisionFile.FindStringSubmatch(path.Base(name))
		if path.Dir(name) != "doc/decisions" || path.Base(name) == "README.md" {
			continue
		}
		if match == nil {
			t.Errorf("%s is not named NNNN-title.md", name)
			continue
		}
		number := match[1]
		if texts[number] != "" {
			t.Errorf("two decisions have the number %s", number)
		}
		texts[number] = read(t, name)
		for _, fault := range decisionFaults(number, path.Base(name), texts[number], table) {
			t.Errorf("%s: %s", name, fault)
		}
	}
	for i := range len(texts) {
		if number := fmt.Sprintf("%04d", i+1); texts[number] == "" {
			t.Errorf("no decision has the number %s", number)
		}
	}
	for number, text := range texts {
		by := supersededBy.FindStringSubmatch(text)
		if by != nil && !strings.Contains(texts[by[1]], "- Supersedes: ["+number+"]") {
			t.Errorf("decision %s does not say that it supersedes %s", by[1], number)
		}
	}
	if rows := strings.Count(table, "\n| [0"); len(texts) < 100 || rows != len(texts) {
		t.Errorf("%d decisions and %d rows of the table", len(texts), rows)
	}
	for number, n := range repository.cited {
		if texts[number] == "" {
			t.Errorf("%d comments cite decision %s, which does not exist", n, number)
		}
	}
	if len(repository.cited) == 0 {
		t.Error("no comment cites a decision: the pattern no longer fits")
	}
}

// decisionFaults returns what is wrong with the text of a decision and its row in the table.
func decisionFaults(number, file, text, table string) (faults []string) {
	form := decisionForm.FindStringSubmatch(text)
	if form == nil {
		return []string{"lacks a header field or a section"}
	}
	if form[1] != number {
		faults = append(faults, "has number "+form[1]+" in its title")
	}
	status := supersededBy.ReplaceAllString(form[3], "superseded by $1")
	status, _, _ = strings.Cut(status, "(")
	row := fmt.Sprintf("| [%s] | %s | %s | %s |\n", number, form[2], status, form[4])
	if !strings.Contains(table, row) {
		faults = append(faults, "is not in the table as "+row)
	}
	if link := "\n[" + number + "]: " + file + "\n"; !strings.Contains(table, link) {
		faults = append(faults, "is not linked from the table")
	}
	return faults
}

// TestDecisions would notice a decision without options, with another number, or out of the table.
func TestDecisionFaults(t *testing.T) {
	const file = "0001-a-title.md"
	text := "# 0001. A title\n\n- Status: accepted\n- Date: 2026-11-21\n- Supersedes: nothing\n\n" +
		"## Context\n\nx\n\n## Options\n\n- x\n\n## Decision\n\nx\n"
	table := "| [0001] | A title | accepted | 2026-11-21 |\n\n[0001]: 0001-a-title.md\n"
	for _, c := range []struct {
		text, table string
		faults      int
	}{
		{text, table, 0},
		{strings.Replace(text, "## Options\n\n- x\n\n", "", 1), table, 1},
		{strings.Replace(text, "accepted", "liked", 1), table, 1},
		{strings.Replace(text, "# 0001", "# 0002", 1), table, 1},
		{text, strings.Replace(table, "accepted", "rejected", 1), 1},
		{text, "", 2},
	} {
		if faults := decisionFaults("0001", file, c.text, c.table); len(faults) != c.faults {
			t.Errorf("%d faults %q, want %d", len(faults), slices.Clone(faults), c.faults)
		}
	}
}
