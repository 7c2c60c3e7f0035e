package web

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestSearxngEngine: the engine of SearXNG in contrib names an address and fields that this server has.
func TestSearxngEngine(t *testing.T) {
	text, err := os.ReadFile("../contrib/searxng.yml")
	if err != nil {
		t.Fatal(err)
	}
	var settings struct {
		Engines []map[string]any `yaml:"engines"`
	}
	if err := yaml.Unmarshal(text, &settings); err != nil || len(settings.Engines) != 1 {
		t.Fatal(settings, err)
	}
	engine := settings.Engines[0]
	name := func(key string) string {
		value, ok := engine[key].(string)
		if !ok {
			t.Fatalf("%s is %v", key, engine[key])
		}
		return value
	}
	s := fullServer()
	for _, page := range []string{"1", "2"} {
		address := strings.NewReplacer("http://127.0.0.1:8080", "", "{query}", "inverted+index", "{pageno}", page).Replace(name("search_url"))
		var answer map[string]json.RawMessage
		if err := json.Unmarshal([]byte(get(t, s, address, http.StatusOK)), &answer); err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		var results []map[string]any
		if err := json.Unmarshal(answer[name("results_query")], &results); err != nil || len(results) == 0 {
			t.Fatalf("%s: %s, %v", address, answer, err)
		}
		for _, key := range []string{"url_query", "title_query", "content_query"} {
			if value, ok := results[0][name(key)].(string); !ok || value == "" {
				t.Errorf("page %s: %s is %v", page, key, results[0][name(key)])
			}
		}
	}
}
