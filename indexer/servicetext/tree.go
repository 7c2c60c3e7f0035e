package servicetext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"anatomy/indexer/internal/jsontoken"
)

// The bounds of a tree. What is deeper is left out; reading ends at maxNodes.
const (
	maxDepth = 60
	maxNodes = 500_000
	maxYAML  = 4 << 20 // bytes, the rest is left out: YAML takes 25 times as much memory
	maxChain = 8       // references and aliases in a row
)

// A node is a value of a JSON or YAML document. A nil node is an absent value.
type node struct {
	text   string // of a scalar
	object bool
	keys   []string // of an object; nil for an array
	kids   []*node
	index  map[string]int // of keys in kids, if get was called and there are many
}

// manyKeys is the number of keys from which on they are found by a map.
const manyKeys = 16

// get returns the value of a key, nil if there is none.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	if len(n.keys) < manyKeys {
		if i := slices.Index(n.keys, key); i >= 0 {
			return n.kids[i]
		}
		return nil
	}
	if n.index == nil {
		n.index = make(map[string]int, len(n.keys))
		for i := len(n.keys) - 1; i >= 0; i-- {
			n.index[n.keys[i]] = i
		}
	}
	if i, ok := n.index[key]; ok {
		return n.kids[i]
	}
	return nil
}

// str returns the scalar of a key, "" if there is none.
func (n *node) str(key string) string {
	if v := n.get(key); v != nil {
		return v.text
	}
	return ""
}

// items returns the elements of an array or the values of an object.
func (n *node) items() []*node {
	if n == nil {
		return nil
	}
	return n.kids
}

// first returns at most count items.
func (n *node) first(count int) []*node {
	all := n.items()
	return all[:min(len(all), count)]
}

// pairs returns the entries of an object in its order.
func (n *node) pairs() iter.Seq2[string, *node] {
	return func(yield func(string, *node) bool) {
		if n == nil || !n.object {
			return
		}
		for i, key := range n.keys {
			if !yield(key, n.kids[i]) {
				return
			}
		}
	}
}

// readTree reads JSON or YAML. Of a truncated or broken document it returns what came before the fault;
// nil if that is nothing.
func readTree(text []byte) *node {
	if text[0] == '{' {
		r := jsonReader{d: json.NewDecoder(bytes.NewReader(text))}
		r.d.UseNumber()
		n, _ := r.value(0, "", "")
		return n
	}
	if len(text) > maxYAML {
		text = text[:bytes.LastIndexByte(text[:maxYAML], '\n')+1]
	}
	var document yaml.Node
	err := yaml.Unmarshal(text, &document)
	if m := yamlFault.FindStringSubmatch(fmt.Sprint(err)); m != nil {
		line, _ := strconv.Atoi(m[1])
		document = yaml.Node{}
		err = yaml.Unmarshal(linesBefore(text, line), &document)
	}
	if err != nil || len(document.Content) == 0 {
		return nil
	}
	left := maxNodes
	return fromYAML(document.Content[0], 0, "", &left)
}

// yamlFault has the number of the line in an error of yaml.Unmarshal.
var yamlFault = regexp.MustCompile(`^yaml: line (\d+): `)

// linesBefore returns the lines of a text before one, counted from 1.
func linesBefore(text []byte, line int) []byte {
	end := 0
	for range line - 1 {
		n := bytes.IndexByte(text[end:], '\n')
		if n < 0 {
			break
		}
		end += n + 1
	}
	return text[:end]
}

// A jsonReader reads JSON token by token.
type jsonReader struct {
	d     *json.Decoder
	nodes int
}

// value reads a value within the object of a key, which is in that of the key outer. Of a value that
// cannot be read to its end it returns what there is, and ok false.
func (r *jsonReader) value(depth int, outer, key string) (n *node, ok bool) {
	token, err := r.d.Token()
	if r.nodes++; err != nil || r.nodes > maxNodes {
		return nil, false
	}
	switch t := token.(type) {
	case json.Delim:
		n = &node{object: t == '{'}
		if depth >= maxDepth || isIgnored(outer, key) {
			return n, jsontoken.Skip(r.d)
		}
		return n, r.fill(n, depth, key)
	case nil:
		return &node{}, true
	}
	return &node{text: fmt.Sprint(token)}, true
}

// fill reads the entries or elements of n, the value of key, and its closing bracket.
func (r *jsonReader) fill(n *node, depth int, key string) bool {
	for r.d.More() {
		name := ""
		if n.object {
			token, err := r.d.Token()
			if err != nil {
				return false
			}
			name, _ = token.(string)
		}
		kid, ok := r.value(depth+1, key, name)
		if kid != nil {
			if n.object {
				n.keys = append(n.keys, name)
			}
			n.kids = append(n.kids, kid)
		}
		if !ok {
			return false
		}
	}
	_, err := r.d.Token()
	return err == nil
}

// isIgnored reports whether the value of a key is an example, which is often most of a definition.
func isIgnored(outer, key string) bool {
	return outer != "properties" && (key == "example" || key == "examples")
}

// fromYAML returns the tree of a YAML node, at most left nodes. An alias becomes a copy of its anchor's
// value, so that the bound also ends a bomb.
func fromYAML(y *yaml.Node, depth int, key string, left *int) *node {
	for range maxChain {
		if y.Kind == yaml.AliasNode && y.Alias != nil {
			y = y.Alias
		}
	}
	if *left--; *left < 0 || depth > maxDepth {
		return &node{}
	}
	n := &node{}
	switch y.Kind {
	case yaml.ScalarNode:
		n.text = y.Value
	case yaml.SequenceNode:
		for _, kid := range y.Content {
			if *left < 0 {
				break
			}
			n.kids = append(n.kids, fromYAML(kid, depth+1, key, left))
		}
	case yaml.MappingNode:
		n.object = true
		for i := 0; i+1 < len(y.Content) && *left >= 0; i += 2 {
			name := y.Content[i].Value
			if isIgnored(key, name) {
				continue
			}
			n.keys = append(n.keys, name)
			n.kids = append(n.kids, fromYAML(y.Content[i+1], depth+1, name, left))
		}
	}
	return n
}

// isTrue reports whether a scalar of a key is true.
func (n *node) isTrue(key string) bool {
	ok, _ := strconv.ParseBool(n.str(key))
	return ok
}
