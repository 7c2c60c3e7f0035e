package jsonerror

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	type one struct {
		Num   int8     `json:"num"`
		Rank  float64  `json:"rank"`
		Query string   `json:"q"`
		Exact bool     `json:"exact"`
		Hosts []string `json:"hosts"`
	}
	type all struct {
		Searches []one `json:"searches"`
	}
	for body, want := range map[string]string{
		`[]`:                           "it must be an object, not a list",
		`"x"`:                          "it must be an object, not text",
		`{"searches": {}}`:             "field searches must be a list, not an object",
		`{"searches": [7]}`:            "field searches must be an object, not a number",
		`{"searches": [{"num": "7"}]}`: "field searches.num must be a whole number, not text",
		`{"searches": [{"num": 1.5}]}`: "field searches.num must be a whole number, not 1.5",
		`{"searches": [{"num": 300}]}`: "field searches.num must be a whole number, not 300",
		`{"searches": [{"rank": []}]}`: "field searches.rank must be a number, not a list",
		`{"searches": [{"q": true}]}`:  "field searches.q must be text, not true or false",
		`{"searches": [{"exact": 1}]}`: "field searches.exact must be true or false, not a number",
		`{"search": []}`:               `unknown field "search"`,
		``:                             "it is empty",
		`{"searches": [`:               "it is cut off",
		`{"searches": x`:               "invalid character 'x' looking for beginning of value",
	} {
		d := json.NewDecoder(strings.NewReader(body))
		d.DisallowUnknownFields()
		err := d.Decode(&all{})
		if err == nil {
			t.Fatalf("%s is decoded", body)
		}
		if got := Text(err); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
