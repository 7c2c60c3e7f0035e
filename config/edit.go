package config

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Format returns a key with its value as a line of the file, without its end.
func Format(key string, value any) (string, error) {
	line, err := toml.Marshal(map[string]any{key: value})
	return strings.TrimRight(string(line), "\n"), err
}

// edit returns a file with the keys of a table that differ between was and now. All other lines stay as
// they are, and so does a comment behind a value; comments inside a list that changed are lost. ok is
// false if the file has a form that cannot be edited so.
func edit(file []byte, table string, was, now map[string]any) (content []byte, ok bool) {
	for _, key := range slices.Sorted(maps.Keys(was)) {
		if _, stays := now[key]; !stays {
			if file, ok = unset(file, table, key); !ok {
				return nil, false
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if value, known := was[key]; known && same(value, now[key]) {
			continue
		}
		line, err := Format(key, now[key])
		if err != nil {
			return nil, false
		}
		file = set(file, table, key, line)
	}
	return file, true
}

// An assignment is a key with its value in a file, or the header of a table.
type assignment struct {
	path     []string // the key with its table: crawl, delay
	key      string   // as the file has it; "" for a header
	from, to int      // range of bytes in the file; for a header, both are an offset within it
	inline   bool     // within braces
}

// assignments returns the assignments of a file in order, up to the first syntax error.
func assignments(file []byte) (all []assignment) {
	p := unstable.Parser{}
	p.Reset(file)
	var table []string
	for p.NextExpression() {
		switch n := p.Expression(); n.Kind {
		case unstable.Table, unstable.ArrayTable:
			table, _ = path(n)
			at := int(n.Child().Raw.Offset)
			all = append(all, assignment{path: table, from: at, to: at})
		case unstable.KeyValue:
			all = appendAssignments(all, &p, n, table, false)
		}
	}
	return all
}

// appendAssignments adds an assignment, and those of the inline table that is its value.
func appendAssignments(
	all []assignment, p *unstable.Parser, n *unstable.Node, table []string, inline bool,
) []assignment {
	own, end := path(n)
	from := int(n.Raw.Offset)
	a := assignment{
		path: slices.Concat(table, own), key: string(p.Data()[from:end]),
		from: from, to: from + int(n.Raw.Length), inline: inline,
	}
	all = append(all, a)
	if n.Value().Kind != unstable.InlineTable {
		return all
	}
	for below := n.Value().Children(); below.Next(); {
		if below.Node().Kind == unstable.KeyValue {
			all = appendAssignments(all, p, below.Node(), a.path, true)
		}
	}
	return all
}

// path returns the parts of the key of a node, and the offset behind the last.
func path(n *unstable.Node) (parts []string, end int) {
	for key := n.Key(); key.Next(); {
		raw := key.Node().Raw
		parts, end = append(parts, string(key.Node().Data)), int(raw.Offset+raw.Length)
	}
	return parts, end
}

// find returns the assignment of a key of a table. ok is false if the file has none.
func find(file []byte, table, key string) (a assignment, ok bool) {
	for _, a := range assignments(file) {
		if a.key != "" && slices.Equal(a.path, []string{table, key}) {
			return a, true
		}
	}
	return a, false
}

// set replaces the value of a key of a table in a file, or adds the line.
func set(file []byte, table, key, line string) []byte {
	a, ok := find(file, table, key)
	if !ok {
		return add(file, table, line)
	}
	return slices.Replace(slices.Clone(file), a.from, a.to, []byte(a.key+strings.TrimPrefix(line, key))...)
}

// lineEnd returns the end of the lines of a file.
func lineEnd(file []byte) string {
	if bytes.Contains(file, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// appendTable adds a table, whose lines end in \n, at the end of a file.
func appendTable(file []byte, table string) []byte {
	end := lineEnd(file)
	if len(file) > 0 && file[len(file)-1] != '\n' {
		table = "\n" + table
	}
	return append(slices.Clone(file), strings.ReplaceAll("\n"+table, "\n", end)...)
}

// add adds a line at the end of a table, which it makes if there is none.
func add(file []byte, table, line string) []byte {
	end := lineEnd(file)
	last, inTable := -1, false
	for _, a := range assignments(file) {
		if a.key == "" {
			inTable = slices.Equal(a.path, []string{table})
		}
		if inTable && !a.inline {
			last = a.to
		}
	}
	if last < 0 {
		last, line = len(file), end+"["+table+"]"+end+line
	} else if below := bytes.IndexByte(file[last:], '\n'); below >= 0 {
		last += below + 1
	} else {
		last = len(file)
	}
	if last > 0 && file[last-1] != '\n' {
		line = end + line
	}
	return slices.Insert(slices.Clone(file), last, []byte(line+end)...)
}

// unset removes the line of a key of a table. A comment behind the value becomes a line. ok is false if other
// keys may be on the line.
func unset(file []byte, table, key string) (content []byte, ok bool) {
	a, ok := find(file, table, key)
	if !ok || a.inline {
		return nil, false
	}
	start := 1 + bytes.LastIndexByte(file[:a.from], '\n')
	rest := bytes.TrimLeft(file[a.to:], " \t")
	end := len(file) - len(rest)
	if rest = bytes.TrimPrefix(rest, []byte("\r")); len(rest) > 0 && rest[0] == '\n' {
		end = len(file) - len(rest) + 1
	}
	return slices.Delete(slices.Clone(file), start, end), true
}

// same reports whether two values are the same in a file.
func same(a, b any) bool {
	one, err := Format("value", a)
	two, err2 := Format("value", b)
	return err == nil && err2 == nil && one == two
}
