package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// edit returns a file with the flags that differ between was and now. All other lines stay as they
// are, and so does a comment behind a value; comments inside a list that changed are lost. ok is
// false if the file has a form that cannot be edited so.
func edit(file []byte, was, now map[string]any) (content []byte, ok bool) {
	e := newEditor(string(file))
	for _, flag := range slices.Sorted(maps.Keys(now)) {
		if value, known := was[flag]; known && reflect.DeepEqual(value, now[flag]) {
			continue
		}
		line, err := toml.Marshal(map[string]any{flag: now[flag]})
		if err != nil || !e.set(flag, strings.TrimRight(string(line), "\n")) {
			return nil, false
		}
	}
	return []byte(strings.Join(e.lines, "")), true
}

// An editor changes assignments of the table [crawl].
type editor struct {
	lines []string // with their ends
	end   string   // of a line of this file
	spans []span   // the assignments, in their order
	last  int      // line after which a new assignment goes; -1 without a table
}

// A span is an assignment: lines from up to, not including, to.
type span struct {
	flag     string
	from, to int
}

// newEditor finds the assignments.
func newEditor(content string) *editor {
	e := &editor{lines: slices.Collect(strings.Lines(content)), end: "\n", last: -1}
	if strings.Contains(content, "\r\n") {
		e.end = "\r\n"
	}
	inCrawl := false
	for i := 0; i < len(e.lines); {
		line := strings.TrimSpace(e.lines[i])
		if strings.HasPrefix(line, "[") {
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "["), "]")
			if inCrawl = strings.TrimSpace(name) == "crawl"; inCrawl {
				e.last = i
			}
		}
		n, flag := assignment(e.lines[i:])
		if inCrawl && n > 0 {
			e.spans = append(e.spans, span{flag, i, i + n})
			e.last = i + n - 1
		}
		i += max(n, 1)
	}
	return e
}

// assignment returns how many of the first lines are one assignment, and its key; 0 if none are.
func assignment(lines []string) (n int, key string) {
	first := strings.TrimSpace(lines[0])
	if first == "" || first[0] == '#' || first[0] == '[' {
		return 0, ""
	}
	for n = range len(lines) {
		if n > 0 && !strings.ContainsAny(lines[n], "]") &&
			!strings.Contains(lines[n], `"""`) && !strings.Contains(lines[n], "'''") {
			continue // the value goes on
		}
		var value map[string]any
		if toml.Unmarshal([]byte(strings.Join(lines[:n+1], "")), &value) == nil && len(value) == 1 {
			for key = range value {
				return n + 1, key
			}
		}
	}
	return 0, ""
}

// set replaces the assignment of a flag by a line, or adds the line. It reports whether it could.
func (e *editor) set(flag, line string) bool {
	i := slices.IndexFunc(e.spans, func(s span) bool { return s.flag == flag })
	if i < 0 {
		return e.add(line)
	}
	at := e.spans[i]
	ending := comment(e.lines[at.from:at.to])
	if ending == "" && strings.HasSuffix(e.lines[at.to-1], "\n") {
		ending = e.end
	}
	e.lines = slices.Replace(e.lines, at.from, at.to, line+ending)
	e.moved(at.to-1, at.from+1-at.to)
	return true
}

// add adds a line at the end of the table.
func (e *editor) add(line string) bool {
	if e.last < 0 {
		return false
	}
	if !strings.HasSuffix(e.lines[e.last], "\n") {
		e.lines[e.last] += e.end
	}
	e.last++
	e.lines = slices.Insert(e.lines, e.last, line+e.end)
	return true
}

// moved adds by to the numbers of all lines from the line from on.
func (e *editor) moved(from, by int) {
	for i := range e.spans {
		if s := &e.spans[i]; s.from > from {
			s.from, s.to = s.from+by, s.to+by
		}
	}
	if e.last >= from {
		e.last += by
	}
}

// comment returns the comment that ends an assignment, with the space before it and the end of the
// line; "" if there is none.
func comment(lines []string) string {
	last := lines[len(lines)-1]
	before := strings.Join(lines[:len(lines)-1], "")
	for i := range len(last) {
		var value map[string]any
		if last[i] != '#' || toml.Unmarshal([]byte(before+last[:i]), &value) != nil {
			continue
		}
		return last[len(strings.TrimRight(last[:i], " \t")):]
	}
	return ""
}
