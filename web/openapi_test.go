package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"anatomy/web/api"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
)

// A description is openapi.json with its schemas compiled.
type description struct {
	raw      map[string]any
	compiler *jsonschema.Compiler
}

func readDescription(t *testing.T) *description {
	t.Helper()
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(api.OpenAPI))
	if err != nil {
		t.Fatal(err)
	}
	closeObjects(raw)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("openapi.json", raw); err != nil {
		t.Fatal(err)
	}
	return &description{raw.(map[string]any), c}
}

// closeObjects lets no answer have a field that the description leaves out, except where it says
// that there may be more.
func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, open := v["additionalProperties"]; v["type"] == "object" && v["properties"] != nil && !open {
			v["additionalProperties"] = false
		}
		for _, child := range v {
			closeObjects(child)
		}
	case []any:
		for _, child := range v {
			closeObjects(child)
		}
	}
}

// check holds a body against the schema of a response of an operation.
func (d *description) check(t *testing.T, path, method, status string, body []byte) {
	t.Helper()
	pointer := "openapi.json#/paths/" + strings.ReplaceAll(path, "/", "~1") + "/" + method + "/responses/" + status + "/content/application~1json/schema"
	schema, err := d.compiler.Compile(pointer)
	if err != nil {
		t.Fatalf("%s %s: status %s is not described: %v", method, path, status, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		t.Errorf("%s %s, status %s: %v\n%s", method, path, status, err, body)
	}
}

// Every route of the API is described, and every description has its route.
func TestOpenAPIRoutes(t *testing.T) {
	described := make(map[string]bool)
	for path, methods := range readDescription(t).raw["paths"].(map[string]any) {
		for method := range methods.(map[string]any) {
			described[strings.ToUpper(method)+" "+path] = true
		}
	}
	if len(described) < 8 {
		t.Fatalf("only %d operations are described", len(described))
	}
	served := make(map[string]bool)
	for _, r := range fullServer().routes.Routes() {
		if r.Method == http.MethodGet || r.Method == http.MethodPost {
			served[r.Method+" "+r.Path] = true
			if strings.HasPrefix(r.Path, "/api/") && !described[r.Method+" "+r.Path] {
				t.Errorf("%s %s is not described", r.Method, r.Path)
			}
		}
	}
	for operation := range described {
		if !served[operation] {
			t.Errorf("%s is described and not served", operation)
		}
	}
}

// TestOpenAPIAnswers: the examples of the page /api work as written, and answers and errors have
// the described form.
func TestOpenAPIAnswers(t *testing.T) {
	d := readDescription(t)
	f := newFake()
	f.all = exported(3, nil)
	f.stats = func() (any, error) {
		return json.RawMessage(`{"pages":1,"uncrawled":0,"segments":1,"words":2,"postings":2,"hits":3,"links":0,"rank":"","rows":[{"name":"repository","bytes":9,"paper":0}],"outcomes":{}}`), nil
	}
	s := newServerOf(Options{Collection: f, FetchImage: fetchFake})
	operations := api.Describe(messages.English(), "http://h").Operations
	for _, o := range operations {
		target, _, _ := strings.Cut(strings.TrimPrefix(o.Curl, "curl 'http://h"), "'")
		r := httptest.NewRequest(o.Method, target, nil)
		if o.Method == http.MethodPost {
			_, body, _ := strings.Cut(o.Curl, "-d '")
			r = httptest.NewRequest(o.Method, target, strings.NewReader(strings.TrimSuffix(body, "'")))
			r.Header.Set("Content-Type", "application/json")
		}
		if o.Path == "/api/v1/page" || o.Path == "/api/v1/links" {
			r.URL.RawQuery = "doc=4711" // the fake has other addresses
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Errorf("%s: status %d: %s", o.Curl, w.Code, w.Body)
			continue
		}
		if o.Path != "/api/v1/export" { // has lines of JSON: TestExport
			d.check(t, o.Path, strings.ToLower(o.Method), "200", w.Body.Bytes())
		}
	}
	for _, target := range []string{
		"/api/v1/search?q=inverted+index&num=100&explain=1", "/api/v1/search?q=none", "/api/v1/search?q=inverted+index&facets=all", "/api/v1/search?q=" + url.QueryEscape(hostileQuery),
		"/api/v1/search?q=" + url.QueryEscape(`inverted index"`), "/api/v1/page?doc=21", "/api/v1/page?doc=13", "/api/v1/site?site=live.test", "/api/v1/trace?url=http://forbidden.test/", "/api/v1/trace?url=http://waiting.test/", "/api/v1/trace?url=http://unknown.test/", "/api/v1/trace?url=http://unread.test/", "/search?q=none&format=json", "/api/v1/search?q=fox&type=image", "/api/v1/search?q=none+type:image", "/search?q=fox&categories=images&format=json", "/customsearch/v1?q=fox&searchType=image", "/customsearch/v1?q=none",
	} {
		path, _, _ := strings.Cut(target, "?")
		d.check(t, path, "get", "200", []byte(get(t, s, target, http.StatusOK)))
	}
	for target, status := range map[string]int{
		"/api/v1/search": 400, "/api/v1/search?q=a&num=0": 400, "/api/v1/search?q=a&facets=colour": 400, "/api/v1/search?q=a&type=video": 400, "/api/v1/search?q=type:image": 400, "/api/v1/search?q=slow": 504, "/api/v1/page?doc=9": 404, "/api/v1/page": 400, "/api/v1/links": 400, "/api/v1/links?doc=9": 404, "/api/v1/links?url=http://a.test/&num=1001": 400,
		"/api/v1/explain?q=a&url=http://unknown.test/": 404, "/api/v1/suggest?q=a&q=b": 400, "/api/v1/site": 400, "/api/v1/site?site=!": 400, "/api/v1/site?site=a.test&num=0": 400, "/api/v1/site?site=unknown.test": 404, "/api/v1/trace": 400, "/api/v1/trace?url=ftp://a.test/": 400, "/api/v1/trace?url=a&url=b": 400, "/search?q=a&num=x&format=json": 400,
	} {
		path, _, _ := strings.Cut(target, "?")
		d.check(t, path, "get", strconv.Itoa(status), []byte(get(t, s, target, status)))
	}
}

// TestOpenAPIRefusals: every operation describes what it answers to a malformed request, without a
// key, and to too many requests, in its format.
func TestOpenAPIRefusals(t *testing.T) {
	d := readDescription(t)
	servers := map[int]*Server{
		http.StatusBadRequest:      newServer(newFake()),
		http.StatusUnauthorized:    newServerOf(Options{Collection: newFake(), API: APIOptions{Keys: []string{"0123456789abcdef-key"}}}),
		http.StatusTooManyRequests: newServerOf(Options{Collection: newFake(), Limits: Limits{Rate: 1}}),
	}
	get(t, servers[http.StatusTooManyRequests], "/suggest?q=a", http.StatusOK)
	for path, methods := range d.raw["paths"].(map[string]any) {
		for method := range methods.(map[string]any) {
			for status, s := range servers {
				target := path + "?q=%zz&format=json"
				if status != http.StatusBadRequest {
					target = path + "?q=a&format=json"
				}
				r := httptest.NewRequest(strings.ToUpper(method), target, strings.NewReader("{"))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				s.Handler().ServeHTTP(w, r)
				if w.Code != status && path != "/api/v1/stats" { // which has no parameters
					t.Errorf("%s %s: status %d, want %d", method, target, w.Code, status)
				} else if w.Code == status {
					d.check(t, path, method, strconv.Itoa(status), w.Body.Bytes())
				}
			}
			responses := methods.(map[string]any)[method].(map[string]any)["responses"].(map[string]any)
			for _, status := range []string{"400", "401", "429"} {
				if responses[status] == nil {
					t.Errorf("%s %s does not describe status %s", method, path, status)
				}
			}
		}
	}
}

// TestOpenAPIParameters: a parameter that is described as boolean takes true, false, 1 and 0 and
// nothing else, and every parameter has a type, which generated clients need.
func TestOpenAPIParameters(t *testing.T) {
	d := readDescription(t)
	f := newFake()
	f.all = exported(3, nil)
	s := newServer(f)
	shared := d.raw["components"].(map[string]any)["parameters"].(map[string]any)
	booleans := 0
	for path, methods := range d.raw["paths"].(map[string]any) {
		operation, _ := methods.(map[string]any)["get"].(map[string]any)
		list, _ := operation["parameters"].([]any)
		for _, one := range list {
			p := one.(map[string]any)
			if ref, ok := p["$ref"].(string); ok {
				p = shared[ref[strings.LastIndex(ref, "/")+1:]].(map[string]any)
			}
			kind := p["schema"].(map[string]any)["type"]
			if kind == nil {
				t.Errorf("%s: parameter %s has no type", path, p["name"])
			}
			if kind != "boolean" {
				continue
			}
			booleans++
			for value, status := range map[string]int{"true": 200, "false": 200, "1": 200, "0": 200, "": 200, "yes": 400, "2": 400, "TRUE": 400} {
				get(t, s, path+"?q=a&url=https://www.docs.test/&"+p["name"].(string)+"="+value, status)
			}
		}
	}
	for name := range shared { // generators make types of both
		for schema := range d.raw["components"].(map[string]any)["schemas"].(map[string]any) {
			if strings.EqualFold(name, schema) {
				t.Errorf("%s is a parameter and a schema", name)
			}
		}
	}
	if booleans < 4 {
		t.Errorf("%d boolean parameters", booleans)
	}
	for value, ungrouped := range map[string]bool{"true": false, "false": true, "1": false, "0": true, "": false} {
		f.asked = nil
		get(t, s, "/api/v1/search?q=a&filter="+value, http.StatusOK)
		if len(f.asked) != 1 || f.asked[0].Ungrouped != ungrouped {
			t.Errorf("filter=%s: %+v", value, f.asked)
		}
	}
}

// TestOpenAPISchemaDefaults: no schema of a body has a default. openapi-typescript requires a property
// that has one.
func TestOpenAPISchemaDefaults(t *testing.T) {
	walked := 0
	var walk func(path string, v any)
	walk = func(path string, v any) {
		walked++
		switch v := v.(type) {
		case map[string]any:
			if _, ok := v["default"]; ok {
				t.Errorf("%s has a default", path)
			}
			for name, inner := range v {
				walk(path+"/"+name, inner)
			}
		case []any:
			for _, inner := range v {
				walk(path, inner)
			}
		}
	}
	walk("", readDescription(t).raw["components"].(map[string]any)["schemas"])
	if walked < 100 {
		t.Errorf("%d parts of schemas", walked)
	}
}

// TestOpenAPIKeys: each way to send a key that is described opens the API.
func TestOpenAPIKeys(t *testing.T) {
	const key = "0123456789abcdef-key"
	s := newServerOf(Options{Collection: newFake(), API: APIOptions{Keys: []string{key}}})
	var names []string
	for _, scheme := range readDescription(t).raw["components"].(map[string]any)["securitySchemes"].(map[string]any) {
		scheme := scheme.(map[string]any)
		r := httptest.NewRequest(http.MethodGet, "/api/v1/search?q=a", nil)
		name, _ := scheme["name"].(string)
		switch {
		case scheme["type"] == "http":
			r.Header.Set("Authorization", "Bearer "+key)
		case scheme["in"] == "header":
			r.Header.Set(name, key)
		default:
			r.URL.RawQuery += "&" + name + "=" + key
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Errorf("%v: status %d", scheme, w.Code)
		}
		names = append(names, name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"", "X-API-Key", "key"}) {
		t.Errorf("keys by %q", names)
	}
}

func post(s *Server, target, kind, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

func TestBatch(t *testing.T) {
	s := fullServer()
	if w := post(s, "/api/v1/batch", "application/json", "[]"); !strings.Contains(w.Body.String(), "The body is not valid: it must be an object, not a list.") {
		t.Errorf("a list: %s", w.Body)
	}
	w := post(s, "/api/v1/batch", "application/json", `{"searches":[{"q":"inverted index","num":2,"start":1},{"q":""},{"q":"fail"},{"q":"nothing"},{"q":"fox","type":"image","num":3},{"q":"fox type:image"},{"q":"fox","type":"sound"}]}`)
	var answer struct {
		Answers []struct {
			Results []struct{ Doc int }
			Images  []struct{ Page string }
			Total   *struct{ Value int }
			Error   struct{ Code string }
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK || len(answer.Answers) != 7 {
		t.Fatalf("status %d: %v: %s", w.Code, err, w.Body)
	}
	a := answer.Answers
	if len(a[0].Results) != 2 || a[1].Error.Code != "bad_parameter" || a[2].Error.Code != "internal" || a[3].Total == nil {
		t.Errorf("answers %s", w.Body)
	}
	if len(a[4].Images) != 3 || len(a[5].Images) != params.ImagesLimit || a[6].Error.Code != "bad_parameter" {
		t.Errorf("images %s", w.Body)
	}
	if strings.Contains(w.Body.String(), "secret") {
		t.Errorf("a file is named: %s", w.Body)
	}
	readDescription(t).check(t, "/api/v1/batch", "post", "200", w.Body.Bytes())
	for body, status := range map[string]int{
		``: 400, `{}`: 400, `{"searches":[]}`: 400, `[]`: 400, `{"searches":[{"q":"a","nmu":3}]}`: 400, `{"searches":[{"q":"a"}]} x`: 400,
		`{"searches":[{"q":"a","num":"3"}]}`:                               400,
		`{"searches":[` + strings.Repeat(`{"q":"a"},`, 20) + `{"q":"a"}]}`: 400,
		`{"searches":[{"q":"` + strings.Repeat("a", 70_000) + `"}]}`:       413,
	} {
		if w := post(s, "/api/v1/batch", "application/json", body); w.Code != status {
			t.Errorf("%.60s: status %d, want %d: %s", body, w.Code, status, w.Body)
		}
	}
	if w := post(s, "/api/v1/batch", "text/plain", `{"searches":[{"q":"a"}]}`); w.Code != http.StatusUnsupportedMediaType {
		t.Errorf("text/plain: status %d", w.Code)
	}
}

func TestKeys(t *testing.T) {
	f := newFake()
	s := newServerOf(Options{Collection: f, API: APIOptions{Keys: []string{"first", "second"}}})
	ask := func(target string, header ...string) int {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w.Code
	}
	for _, target := range []string{"/api/v1/search?q=a", "/customsearch/v1?q=a", "/search?q=a&format=json", "/search?q=a&format=rss"} {
		if got := ask(target); got != http.StatusUnauthorized {
			t.Errorf("%s without a key: status %d", target, got)
		}
		if got := ask(target, "Authorization", "Bearer third"); got != http.StatusUnauthorized {
			t.Errorf("%s with a wrong key: status %d", target, got)
		}
		if got := ask(target, "Authorization", "Bearer second"); got != http.StatusOK {
			t.Errorf("%s with a bearer key: status %d", target, got)
		}
		if got := ask(target, "X-API-Key", "first"); got != http.StatusOK {
			t.Errorf("%s with X-API-Key: status %d", target, got)
		}
		if got := ask(target + "&key=first"); got != http.StatusOK {
			t.Errorf("%s with the parameter key: status %d", target, got)
		}
	}
	if got := ask("/mcp"); got != http.StatusUnauthorized {
		t.Errorf("/mcp without a key: status %d", got)
	}
	for _, target := range []string{"/", "/search?q=a", "/api", "/openapi.json"} {
		if got := ask(target); got != http.StatusOK {
			t.Errorf("%s: status %d; people need no key", target, got)
		}
	}
}
