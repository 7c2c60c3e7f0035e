package main

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anatomy/cmd/anatomy/internal/serving"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Every example of the description that a running server gives of its API is answered as described.
func TestOpenAPI(t *testing.T) {
	s := start(t, "serve", "--data", crawled(t))
	raw, err := jsonschema.UnmarshalJSON(strings.NewReader(s.get(t, "openapi.json")))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource("openapi.json", raw); err != nil {
		t.Fatal(err)
	}
	shared := at(raw, "components", "parameters")
	checked := 0
	for path, methods := range at(raw, "paths").(map[string]any) {
		operation, ok := methods.(map[string]any)["get"]
		if !ok {
			continue
		}
		if at(operation, "responses", "200", "content", "application/json") == nil {
			continue // lines of JSON
		}
		query := url.Values{}
		parameters, _ := at(operation, "parameters").([]any)
		for _, p := range parameters {
			if ref, ok := at(p, "$ref").(string); ok {
				p = at(shared, ref[strings.LastIndexByte(ref, '/')+1:])
			}
			if example, ok := at(p, "example").(string); ok {
				query.Set(at(p, "name").(string), example)
			}
		}
		pointer := "openapi.json#/paths/" + strings.ReplaceAll(path, "/", "~1") + "/get/responses/200/content/application~1json/schema"
		schema, err := compiler.Compile(pointer)
		if err != nil {
			t.Fatal(err)
		}
		body := s.get(t, strings.TrimPrefix(path, "/")+"?"+query.Encode())
		answer, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
		if err == nil {
			err = schema.Validate(answer)
		}
		if err != nil {
			t.Errorf("%s?%s: %v\n%s", path, query.Encode(), err, body)
		}
		checked++
	}
	if checked < 7 {
		t.Fatalf("only %d operations were asked", checked)
	}
}

// at is a value inside a decoded JSON value, nil where there is none.
func at(v any, steps ...string) any {
	for _, step := range steps {
		m, _ := v.(map[string]any)
		v = m[step]
	}
	return v
}

// With keys, programs need one and people do not; a file without a usable key is an error.
func TestAPIKeys(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	s := start(t, "serve", "--data", crawled(t), "--api-keys", write("keys", "# ours\n0123456789abcdef # of the wiki\n"))
	s.get(t, "search?q=anchor")
	s.get(t, "api/v1/search?q=anchor&key=0123456789abcdef")
	r, err := http.Get(s.url + "api/v1/search?q=anchor")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a key: %s", r.Status)
	}
	for text, want := range map[string]string{"short\n": "keys:1: the key has 5 characters", "# none\n": "holds no key"} {
		if _, err := serving.ReadKeys(write("bad-keys", text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := serving.ReadKeys(filepath.Join(dir, "absent")); err == nil {
		t.Error("an absent file is no error")
	}
}
