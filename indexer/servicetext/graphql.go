package servicetext

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"anatomy/vocab"
)

// The bounds of a GraphQL schema. What is longer than maxGraphQL is cut; more tokens are an error. The
// parser bounds nesting.
const (
	maxGraphQL  = 4 << 20 // bytes
	maxTokens   = 500_000
	maxLists    = 8  // lists of lists in the name of a type
	maxSelected = 10 // fields in a request
)

// isGraphQL reports whether a line of a text begins like the definition of a type with operations.
func isGraphQL(text []byte) bool {
	return slices.ContainsFunc([]string{
		"type Query", "type Mutation", "type Subscription", "schema {", "schema{", "schema @",
		"extend type Query", "extend type Mutation", "extend type Subscription",
	}, func(mark string) bool {
		return strings.HasPrefix(string(text[:min(len(text), len(mark))]), mark) || containsAny(text, "\n"+mark)
	})
}

// convertGraphQL writes the schema in a document of GraphQL's schema definition language.
func convertGraphQL(text []byte, p *page) vocab.Medium {
	document := parseGraphQL(string(text[:min(len(text), maxGraphQL)]))
	if document == nil || !writeSchema(document, p) {
		return vocab.OtherMedium
	}
	return vocab.GraphQL
}

// parseGraphQL parses the schema definition language. Of a truncated or partly wrong schema it returns
// the definitions before the one with the fault; nil if there are none.
func parseGraphQL(text string) *ast.SchemaDocument {
	document, err := parser.ParseSchemaWithLimit(&ast.Source{Input: text}, maxTokens)
	var fault *gqlerror.Error
	if errors.As(err, &fault) && len(fault.Locations) > 0 {
		end := 0
		for range fault.Locations[0].Line - 1 {
			end += strings.IndexByte(text[end:], '\n') + 1
		}
		text = text[:end]
		text = text[:strings.LastIndex(text, "\n}")+1] + "}"
		document, err = parser.ParseSchemaWithLimit(&ast.Source{Input: text}, maxTokens)
	}
	if err != nil {
		return nil
	}
	return document
}

// introspected returns the schema in the result of an introspection query, nil if there is none
// (spec.graphql.org/October2021 §4.2).
func introspected(root *node) *ast.SchemaDocument {
	from := root.get("__schema")
	if from == nil {
		from = root.get("data").get("__schema")
	}
	if from.get("types") == nil || from.get("queryType") == nil {
		return nil
	}
	roots := &ast.SchemaDefinition{Description: from.str("description")}
	for _, operation := range []ast.Operation{ast.Query, ast.Mutation, ast.Subscription} {
		if name := from.get(string(operation) + "Type").str("name"); name != "" {
			roots.OperationTypes = append(roots.OperationTypes, &ast.OperationTypeDefinition{Operation: operation, Type: name})
		}
	}
	document := &ast.SchemaDocument{Schema: ast.SchemaDefinitionList{roots}}
	for _, t := range from.get("types").items() {
		d := &ast.Definition{Kind: ast.DefinitionKind(t.str("kind")), Name: t.str("name"), Description: t.str("description")}
		for _, f := range slices.Concat(t.get("fields").items(), t.get("inputFields").items()) {
			field := &ast.FieldDefinition{Name: f.str("name"), Description: f.str("description"), Type: introspectedType(f.get("type"), 0)}
			if f.isTrue("isDeprecated") {
				field.Directives = ast.DirectiveList{{Name: "deprecated"}}
			}
			for _, a := range f.get("args").items() {
				argument := &ast.ArgumentDefinition{Name: a.str("name"), Description: a.str("description"), Type: introspectedType(a.get("type"), 0)}
				if value := a.str("defaultValue"); value != "" {
					argument.DefaultValue = &ast.Value{Raw: value}
				}
				field.Arguments = append(field.Arguments, argument)
			}
			d.Fields = append(d.Fields, field)
		}
		for _, v := range t.get("enumValues").items() {
			d.EnumValues = append(d.EnumValues, &ast.EnumValueDefinition{Name: v.str("name"), Description: v.str("description")})
		}
		document.Definitions = append(document.Definitions, d)
	}
	return document
}

// introspectedType returns the type that a __Type describes, nil if it is nested too deep.
func introspectedType(n *node, depth int) *ast.Type {
	if depth > 2*maxLists {
		return nil
	}
	switch n.str("kind") {
	case "NON_NULL":
		t := introspectedType(n.get("ofType"), depth+1)
		if t != nil {
			t.NonNull = true
		}
		return t
	case "LIST":
		return &ast.Type{Elem: introspectedType(n.get("ofType"), depth+1)}
	}
	return &ast.Type{NamedType: n.str("name")}
}

// scalars are the types that every schema has (spec.graphql.org/October2021 §3.5).
var scalars = []string{"Int", "Float", "String", "Boolean", "ID"}

// A schema is a GraphQL schema that is being written.
type schema struct {
	*page
	types   map[string]*ast.Definition
	written map[string]bool // types
}

// writeSchema writes a section for each operation: a field of one of the root types. It returns false if
// there are none, as in a part of a schema.
func writeSchema(document *ast.SchemaDocument, p *page) bool {
	s := &schema{page: p, types: map[string]*ast.Definition{}, written: map[string]bool{}}
	for _, d := range slices.Concat(document.Definitions, document.Extensions) {
		if t := s.types[d.Name]; t != nil {
			t.Fields, t.EnumValues = append(t.Fields, d.Fields...), append(t.EnumValues, d.EnumValues...)
		} else {
			s.types[d.Name] = d
		}
	}
	roots := map[ast.Operation]string{}
	if len(document.Schema) == 0 {
		roots = map[ast.Operation]string{ast.Query: "Query", ast.Mutation: "Mutation", ast.Subscription: "Subscription"}
	}
	about := ""
	for _, d := range slices.Concat(document.Schema, document.SchemaExtension) {
		about = cmp.Or(about, d.Description)
		for _, o := range d.OperationTypes {
			roots[o.Operation] = o.Type
		}
	}
	s.head(about)
	for _, operation := range []ast.Operation{ast.Query, ast.Mutation, ast.Subscription} {
		root := s.types[roots[operation]]
		if root == nil {
			continue
		}
		s.written[root.Name] = true
		for _, f := range root.Fields {
			if s.full() || s.operations >= maxOperations {
				break
			}
			if !strings.HasPrefix(f.Name, "_") { // else it is for other programs, or so that the type has a field
				s.write(operation, f)
			}
		}
	}
	s.otherTypes()
	return s.operations > 0
}

// head writes the description of a schema. A schema has no title, so the URL becomes the title.
func (s *schema) head(about string) {
	at, err := url.Parse(s.url)
	if err != nil {
		at = &url.URL{}
	}
	s.title = line("GraphQL API of " + at.Hostname() + at.Path)
	all := s.paragraphs(about)
	if len(all) > 0 {
		s.description = strings.ToValidUTF8(all[0][:min(len(all[0]), maxDescription)], "")
	}
	s.about("Provider", at.Hostname())
	for _, text := range all {
		s.printf("<p>%s</p>\n", text)
	}
}

// write writes an operation, with the types of its arguments and of its result where they are first used.
func (s *schema) write(operation ast.Operation, f *ast.FieldDefinition) {
	name := line(f.Name)
	s.operation(string(operation)+"-"+name, name)
	s.printf("<p><code>%s %s</code></p>\n", strings.ToUpper(string(operation)), name)
	if f.Directives.ForName("deprecated") != nil {
		s.printf("<p>Deprecated</p>\n")
	}
	s.prose(f.Description)
	var arguments []field
	used := make([]string, 0, maxFields)
	for _, a := range f.Arguments[:min(len(f.Arguments), maxFields)] {
		kind := typeName(a.Type, 0)
		if a.DefaultValue != nil {
			kind += " = " + cmp.Or(line(a.DefaultValue.Raw), "…")
		}
		arguments = append(arguments, field{a.Name, kind, a.Description})
		used = append(used, namedType(a.Type))
	}
	s.about(words(name), wordsOf(arguments)+" → "+words(namedType(f.Type)))
	s.fields("Arguments", arguments)
	s.about("Result", typeName(f.Type, 0))
	for _, name := range append(used, namedType(f.Type)) {
		s.typeFields(name)
	}
	s.example(s.query(operation, f))
	s.endOperation()
}

// typeFields writes the fields or values of a type, unless it was written before.
func (s *schema) typeFields(name string) {
	t := s.types[name]
	if t == nil || s.written[name] || slices.Contains(scalars, name) {
		return
	}
	s.written[name] = true
	s.about(name, strings.Join(s.paragraphs(t.Description), " "))
	var all []field
	for _, f := range t.Fields[:min(len(t.Fields), maxFields)] {
		all = append(all, field{f.Name, typeName(f.Type, 0), f.Description})
	}
	for _, v := range t.EnumValues[:min(len(t.EnumValues), maxFields)] {
		all = append(all, field{name: v.Name, text: v.Description})
	}
	s.fields(line(name), all)
}

// otherTypes writes the names of the types that no operation uses directly.
func (s *schema) otherTypes() {
	var names []string
	for name := range s.types {
		if !s.written[name] && !strings.HasPrefix(name, "__") && !slices.Contains(scalars, name) {
			names = append(names, line(name))
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		s.printf("<h2>Types</h2>\n<p>%s</p>\n", strings.Join(names, ", "))
	}
}

// query returns a request for an operation, with the arguments that it requires and the first plain
// fields of its result.
func (s *schema) query(operation ast.Operation, f *ast.FieldDefinition) string {
	var variables, arguments, fields []string
	for _, a := range f.Arguments[:min(len(f.Arguments), maxFields)] {
		if a.Type != nil && a.Type.NonNull && a.DefaultValue == nil {
			name := line(a.Name)
			variables = append(variables, "$"+name+": "+typeName(a.Type, 0))
			arguments = append(arguments, name+": $"+name)
		}
	}
	if result := s.types[namedType(f.Type)]; result != nil && !s.isPlain(f.Type) {
		for _, field := range result.Fields[:min(len(result.Fields), maxFields)] {
			if len(fields) < maxSelected && len(field.Arguments) == 0 && s.isPlain(field.Type) {
				fields = append(fields, line(field.Name))
			}
		}
		if len(fields) == 0 {
			fields = []string{"__typename"}
		}
	}
	list := func(open string, all []string, separator, end string) string {
		if len(all) == 0 {
			return ""
		}
		return open + strings.Join(all, separator) + end
	}
	return string(operation) + list(" (", variables, ", ", ")") + " {\n  " + line(f.Name) +
		list("(", arguments, ", ", ")") + list(" {\n    ", fields, "\n    ", "\n  }") + "\n}"
}

// isPlain reports whether values of a type have no fields.
func (s *schema) isPlain(t *ast.Type) bool {
	name := namedType(t)
	if d := s.types[name]; d != nil {
		return d.IsLeafType()
	}
	return slices.Contains(scalars, name)
}

// namedType returns the name of the type at the core of lists, "" if there is none.
func namedType(t *ast.Type) string {
	for t != nil && t.Elem != nil {
		t = t.Elem
	}
	if t == nil {
		return ""
	}
	return t.NamedType
}

// typeName returns a type as GraphQL writes it: "[Pet!]!".
func typeName(t *ast.Type, depth int) string {
	switch {
	case t == nil || depth >= maxLists:
		return "…"
	case t.NonNull:
		nullable := *t
		nullable.NonNull = false
		return typeName(&nullable, depth) + "!"
	case t.NamedType == "":
		return "[" + typeName(t.Elem, depth+1) + "]"
	}
	return line(t.NamedType)
}
