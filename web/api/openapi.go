package api

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/web/internal/messages"
)

// OpenAPI describes the API to programs (OpenAPI 3.1); /api shows the same to people.
//
//go:embed openapi.json
var OpenAPI []byte

// openAPIFile serves the description with the public URL of the server.
func (s *v1) openAPIFile(c *gin.Context) {
	base, err := s.site.URL(c.Request)
	if err != nil {
		s.respond.Problem(c, s.respond.Judge(c, err))
		return
	}
	servers := "{\n  \"servers\": " + marshal([]map[string]string{{"url": base}}) + ","
	c.Data(http.StatusOK, "application/json; charset=utf-8", bytes.Replace(OpenAPI, []byte("{"), []byte(servers), 1))
}

// A Description is the content of the page /api.
type Description struct {
	About      string
	Operations []operationView
	Shapes     []shapeView
}

type operationView struct {
	Method, Path, Summary, About string
	Parameters                   []parameterView
	Curl                         string // an example for the shell
	Shape                        string // name of the schema of the answer
	Answer                       string // the schema in words: "list of Result"
	Statuses                     []statusView
}

type parameterView struct {
	Name, About, Bounds string
	Required            bool
}

type statusView struct{ Code, About string }

type shapeView struct {
	Name, About string
	Fields      []fieldView
}

type fieldView struct {
	Name, Type, About string
	Optional          bool
}

// The parts of an OpenAPI document that the page /api shows.
type (
	apiDocument struct {
		messages *messages.Printer
		Info     struct{ Description string }
		Paths    map[string]map[string]apiOperation
		Parts    struct {
			Parameters map[string]apiParameter
			Schemas    map[string]*apiSchema
		} `json:"components"`
	}
	apiOperation struct {
		Summary, Description string
		Parameters           []apiParameter
		RequestBody          struct {
			Content map[string]struct {
				Schema  *apiSchema
				Example json.RawMessage
			}
		}
		Responses map[string]struct {
			Description string
			Content     map[string]struct {
				Schema *apiSchema
				Line   *apiSchema `json:"x-itemSchema"` // of NDJSON
			}
		}
	}
	apiParameter struct {
		Ref               string `json:"$ref"`
		Name, Description string
		Required          bool
		Schema            apiSchema
		Example           any
	}
	apiSchema struct {
		Ref                string `json:"$ref"`
		OneOf              []*apiSchema
		Type               any
		Description        string
		Properties         map[string]*apiSchema
		Required           []string
		Items              *apiSchema
		Enum               []string
		Minimum, Maximum   *json.Number
		MaxLength          *json.Number
		MinItems, MaxItems *json.Number
		Default            any
	}
)

// Describe returns the description for the page /api, with examples for the server at base. Its prose
// are messages; m has the texts around names and numbers. It panics if the file is not JSON: the file
// is part of the program.
func Describe(m *messages.Printer, base string) *Description {
	d := apiDocument{messages: m}
	if err := json.Unmarshal(OpenAPI, &d); err != nil {
		panic(err)
	}
	v := &Description{About: d.Info.Description}
	for _, path := range sortedKeys(d.Paths) {
		for _, method := range sortedKeys(d.Paths[path]) {
			v.Operations = append(v.Operations, d.operation(base, method, path, d.Paths[path][method]))
		}
	}
	slices.SortStableFunc(v.Operations, func(a, b operationView) int { return cmp.Compare(a.rank(), b.rank()) })
	for _, name := range sortedKeys(d.Parts.Schemas) {
		v.Shapes = append(v.Shapes, d.shape(name, d.Parts.Schemas[name]))
	}
	return v
}

// rank orders the operations: search, the rest of our own API, then those of others.
func (o *operationView) rank() int {
	switch {
	case o.Path == "/api/v1/search":
		return 0
	case strings.HasPrefix(o.Path, "/api/"):
		return 1
	}
	return 2
}

// answer returns the name of the schema of an answer, and the schema in words.
func (o *apiOperation) answer(m *messages.Printer) (shape, words string) {
	for _, content := range o.Responses["200"].Content {
		of := content.Schema
		switch {
		case content.Line != nil:
			of = content.Line.OneOf[0]
			words = m.Text("%s, one a line", lastStep(of.Ref))
		case of.Items != nil:
			of, words = of.Items, of.kind(m)
		default:
			words = lastStep(of.Ref)
		}
		return lastStep(of.Ref), words
	}
	return "", ""
}

func (d *apiDocument) operation(base, method, path string, o apiOperation) operationView {
	v := operationView{Method: strings.ToUpper(method), Path: path, Summary: o.Summary, About: o.Description}
	v.Shape, v.Answer = o.answer(d.messages)
	query := url.Values{}
	for _, p := range o.Parameters {
		if p.Ref != "" {
			p = d.Parts.Parameters[lastStep(p.Ref)]
		}
		if example, ok := exampleOf(p); ok {
			query.Set(p.Name, example)
		}
		v.Parameters = append(v.Parameters, parameterView{p.Name, p.Description, bounds(d.messages, &p.Schema), p.Required})
	}
	v.Curl = "curl '" + base + path
	if len(query) > 0 {
		v.Curl += "?" + query.Encode()
	}
	v.Curl += "'"
	if body, ok := o.RequestBody.Content["application/json"]; ok {
		v.Curl += " -H 'Content-Type: application/json' -d '" + strings.ReplaceAll(string(body.Example), "'", `'\''`) + "'"
	}
	for _, code := range sortedKeys(o.Responses) {
		v.Statuses = append(v.Statuses, statusView{code, o.Responses[code].Description})
	}
	return v
}

// exampleOf returns an example value of a parameter.
func exampleOf(p apiParameter) (string, bool) {
	switch example := p.Example.(type) {
	case string:
		return example, true
	case float64:
		return json.Number(strings.TrimSpace(marshal(example))).String(), true
	}
	return "", false
}

func (d *apiDocument) shape(name string, s *apiSchema) shapeView {
	v := shapeView{Name: name, About: s.Description}
	for _, field := range sortedKeys(s.Properties) {
		f := s.Properties[field]
		v.Fields = append(v.Fields, fieldView{field, f.kind(d.messages), f.Description, !slices.Contains(s.Required, field)})
	}
	return v
}

// kind returns a type in words: "string or null", "list of Result".
func (s *apiSchema) kind(m *messages.Printer) string {
	switch t := s.Type.(type) {
	case string:
		if t == "array" && s.Items != nil {
			return m.Text("list of %s", s.Items.kind(m))
		}
		return t
	case []any:
		words := t[0].(string)
		for _, name := range t[1:] {
			words = m.Text("%s or %s", words, name)
		}
		return words
	}
	if s.Ref != "" {
		return lastStep(s.Ref)
	}
	return m.Text("any type")
}

// bounds returns the limits of a parameter in words.
func bounds(m *messages.Printer, s *apiSchema) string {
	var parts []string
	if len(s.Enum) > 0 {
		parts = append(parts, strings.Join(s.Enum, ", "))
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		parts = append(parts, m.Text("%s to %s", *s.Minimum, *s.Maximum))
	case s.Minimum != nil:
		parts = append(parts, m.Text("from %s", *s.Minimum))
	}
	if s.MaxLength != nil {
		parts = append(parts, m.Text("at most %s bytes", *s.MaxLength))
	}
	if s.Default != nil {
		parts = append(parts, m.Text("%s when absent", strings.Trim(marshal(s.Default), `"`)))
	}
	return strings.Join(parts, "; ")
}

// marshal encodes a value that came from JSON.
func marshal(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func lastStep(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
