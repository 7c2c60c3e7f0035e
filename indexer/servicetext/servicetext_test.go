package servicetext

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"anatomy/vocab"
)

const petStore = `{
"openapi": "3.0.1",
"info": {"title": "Pet <Store>", "version": "1.2", "description": "Sells *pets*.\n\nSee [the guide](http://guide.test/) and <http://terms.test/>.",
  "contact": {"name": "Pets Inc."}},
"servers": [{"url": "https://{region}.pets.test/v1/", "variables": {"region": {"default": "eu"}}}],
"paths": {
  "/pets/{id}": {
    "parameters": [{"$ref": "#/components/parameters/id"}],
    "get": {"operationId": "getPet", "summary": "Find a pet", "description": "By its number.",
      "parameters": [{"name": "since", "in": "query", "required": true, "schema": {"type": "string", "format": "date"}}]},
    "put": {"operationId": "getPet", "deprecated": true, "requestBody": {"content": {"application/json": {
      "schema": {"allOf": [{"$ref": "#/components/schemas/Pet"}]}, "example": {"secret": "example"}}}}},
    "x-notes": {"summary": "no operation"}
  }
},
"components": {
  "parameters": {"id": {"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}, "description": "The number"}},
  "schemas": {"Pet": {"properties": {"name": {"type": "string"}, "friends": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}}}}}
}}`

const petService = `<?xml version="1.0"?>
<w:definitions name="Pets" xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
<w:documentation>Sells pets &amp; more.</w:documentation>
<w:types><schema><element name="PetName"/><complexType name="Cat"/></schema></w:types>
<w:message name="getIn"><w:part name="number" type="xsd:int"/></w:message>
<w:message name="getOut"><w:part name="pet" element="tns:Cat"/></w:message>
<w:portType name="PetPort"><w:operation name="getPet"><w:documentation>By its number.</w:documentation>
<w:input message="tns:getIn"/><w:output message="tns:getOut"/></w:operation></w:portType>
<w:binding name="B" type="PetPort"><w:operation name="getPet"><w:input/></w:operation></w:binding>
<w:service name="PetService"><w:port name="P" binding="B"><soap:address location="http://pets.test/soap"/></w:port></w:service>
</w:definitions>`

const petService2 = `<description xmlns="http://www.w3.org/ns/wsdl"><documentation>Sells pets.</documentation>
<interface name="Pets"><operation name="getPet"><input element="tns:PetNumber"/></operation></interface>
<service name="PetService"><endpoint name="e" address="http://pets.test/soap"/></service></description>`

const petSchema = `# Pets
"""Sells <pets>."""
schema @link(url: "http://spec.test/") {
  query: Root
  mutation: Change
}
"All of the pets" type Root implements Node {
  """
  Find a pet

  by its *number*.
  """
  getPet(id: ID!, "How many friends" friends: [Int!]! = [1, 2], kind: Kind): [Pet!]
  count: Int! @deprecated(reason: "slow")
}
extend type Change { addPet(input: PetInput!): Owner }
type Change { _: Boolean }
type Pet { name: String!, born(calendar: String): Int, kind: Kind, owner: Owner, vaccinated: Day }
type Owner { pets: [Pet] }
input PetInput { "What it is called" name: String! }
"What kind of animal"
enum Kind { "It purrs" CAT DOG }
scalar Day
union Any = Pet | Owner
`

func convert(t *testing.T, body string) (string, vocab.Medium) {
	t.Helper()
	page, medium, err := Convert([]byte(body), "http://host.test/dir/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(page), medium
}

// checkPieces fails unless page has the pieces in their order.
func checkPieces(t *testing.T, page string, pieces ...string) {
	t.Helper()
	rest := page
	for _, piece := range pieces {
		_, after, ok := strings.Cut(rest, piece)
		if !ok {
			t.Fatalf("no %q where it is due in\n%s", piece, page)
		}
		rest = after
	}
	if strings.Contains(page, "<code></code>") {
		t.Errorf("a name without text in\n%s", page)
	}
}

func TestOpenAPI(t *testing.T) {
	page, medium := convert(t, petStore)
	if medium != vocab.OpenAPI {
		t.Errorf("medium %v", medium)
	}
	checkPieces(t, page,
		"<title>Pet &lt;Store&gt;</title>", `content="Sells pets ."`, "<h1>Pet &lt;Store&gt;</h1>",
		"Provider: Pets Inc.", "Version: 1.2", "Server: https://eu.pets.test/v1", "See the guide and http://terms.test/.",
		`<section id="operation-getPet"><h2>Find a pet</h2>`, "<code>GET /pets/{id}</code> <code>getPet</code>",
		"By its number.", "<code>id</code>", "integer, required, in path", "The number",
		"<code>since</code>", "string (date), required, in query",
		"curl --globoff -X GET &#39;https://eu.pets.test/v1/pets/{id}?since=SINCE&#39;",
		`<section id="operation-getPet-2"><h2>getPet</h2>`, "Deprecated",
		"Body: application/json", "<code>name</code>", "<code>friends</code>", "array of Pet", "--data-raw")
	for _, wrong := range []string{"secret", "no operation"} {
		if strings.Contains(page, wrong) {
			t.Errorf("page has %q", wrong)
		}
	}
}

func TestSwagger(t *testing.T) {
	page, _ := convert(t, `{"swagger": 2.0, "info": {"title": "Pets"}, "host": "pets.test", "basePath": "/v2", "schemes": ["https"],
		"paths": {"/pets": {"post": {"summary": "Add a pet", "parameters": [
		{"in": "body", "name": "b", "schema": {"$ref": "#/definitions/Pet"}}, {"in": "header", "name": "X-Key", "type": "string", "required": true}]}}},
		"definitions": {"Pet": {"properties": {"example": {"type": "string", "enum": ["cat", "dog"]}}}}}`)
	checkPieces(t, page, "Server: https://pets.test/v2", `id="operation-POST-pets"`, "<h2>Add a pet</h2>",
		"<code>X-Key</code>", "string, required, in header", "Body: Pet", "<code>example</code>", "string: cat, dog",
		"https://pets.test/v2/pets", "X-Key: X-KEY")
}

// TestYAMLIsJSON compares the page of a definition in JSON with that of the same text read as YAML.
func TestYAMLIsJSON(t *testing.T) {
	asJSON, _ := convert(t, petStore)
	asYAML, medium := convert(t, "# A comment\n"+petStore)
	if asJSON != asYAML || medium != vocab.OpenAPI {
		t.Errorf("in YAML (%v):\n%s\nin JSON:\n%s", medium, asYAML, asJSON)
	}
}

func TestWSDL(t *testing.T) {
	page, medium := convert(t, petService)
	if medium != vocab.WSDL {
		t.Errorf("medium %v", medium)
	}
	checkPieces(t, page, "<h1>PetService</h1>", "Provider: pets.test", "Service: PetService", "Address: http://pets.test/soap",
		"Sells pets &amp; more.", `<section id="operation-PetPort.getPet"><h2>getPet</h2>`, "Port type: PetPort", "By its number.", "get pet: number → pet cat",
		"Input: getIn", "<code>number</code></td><td>int", "Output: getOut", "<code>pet</code></td><td>Cat",
		"curl", "&lt;number&gt;", "<h2>Types</h2>", "Cat, PetName")
	page, _ = convert(t, petService2)
	checkPieces(t, page, "<h1>PetService</h1>", "Sells pets.", "<h2>getPet</h2>", "Input: PetNumber")
}

func TestLists(t *testing.T) {
	for name, list := range map[string]string{
		"linkset": `{"linkset": [{"anchor": "/", "service-desc": [{"href": "/a.json"}], "item": [{"href": "/b.json", "title": "B"}]}]}`,
		"directory": `{"x:a": {"preferred": "2", "versions": {"1": {"swaggerUrl": "/old.json"}, "2": {"info": {"title": "A"}, "swaggerUrl": "/a.json"}}},
			"b": {"versions": {"1": {"openapiUrl": "/b.json"}}}}`,
		"inspection": `<?xml version="1.0"?><i:inspection xmlns:i="http://schemas.xmlsoap.org/ws/2001/10/inspection/">
			<i:service><i:description location="/a.json"/></i:service><i:link location="/b.json"/></i:inspection>`,
	} {
		page, medium := convert(t, list)
		if medium.Service() {
			t.Errorf("%s is %v", name, medium)
		}
		checkPieces(t, page, "noindex", `href="/a.json"`, `href="/b.json"`)
		if strings.Contains(page, "old.json") {
			t.Errorf("%s has the version that is not preferred", name)
		}
	}
}

// none are texts that neither define services nor list definitions.
var none = map[string]string{
	"nothing":        "",
	"JSON Schema":    `{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"openapi": {"type": "string"}}}`,
	"package":        `{"name": "swagger", "dependencies": {"openapi": "3.0.0"}}`,
	"settings":       `{"openapi": "3.0.0", "enabled": true}`,
	"other version":  `{"openapi": "9", "info": {}, "paths": {}}`,
	"empty linkset":  `{"linkset": []}`,
	"array":          `[{"openapi": "3.0.0"}]`,
	"broken":         `{"openapi": "3.0.0", "info": {"title": "a`,
	"prose":          "A file begins with\nopenapi: 3.0.0\nand so on: [",
	"OWL":            `<?xml version="1.0"?><rdf:RDF xmlns:w="http://schemas.xmlsoap.org/wsdl/"/>`,
	"HTML":           `<html><meta name=description content="http://www.w3.org/ns/wsdl"></html>`,
	"a part":         `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/"><message name="a"/></definitions>`,
	"part of schema": "type Pet {\n  name: String\n}\nschema @link(url: \"a\")\n",
	"query":          "query getPet {\n  getPet(id: 1) { name }\n}\n",
	"GraphQL in Go":  "package a\n\nconst schema = `\ntype Query {\n  getPet: Pet\n}\n`\n",
	"no types":       `{"data": {"__schema": {"queryType": {"name": "Query"}, "types": []}}}`,
	"other XML":      `<definitions xmlns="http://bpmn.test/" text="http://schemas.xmlsoap.org/wsdl/"/>`,
}

func TestNone(t *testing.T) {
	for name, text := range none {
		if page, _, err := Convert([]byte(text), "http://host.test/"); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: error %v, page %s", name, err, page)
		}
	}
}

// TestHostile converts definitions that cost a reader without bounds more time, memory or stack than
// there is.
func TestHostile(t *testing.T) {
	start := "openapi: 3.0.0\ninfo: {title: a}\npaths: {}\n"
	bomb := "l0: &l0 [x, x]\n"
	for i := range 60 {
		bomb += fmt.Sprintf("l%d: &l%d [%[3]s, %[3]s, %[3]s]\n", i+1, i+1, fmt.Sprintf("*l%d", i))
	}
	cycle := `{"openapi": "3.1.0", "info": {"title": "a"}, "components": {"schemas": {"A": {"$ref": "#/components/schemas/B"},
		"B": {"$ref": "#/components/schemas/A"}, "C": {"allOf": [{"$ref": "#/components/schemas/C"}], "properties": {"c": {"$ref": "#/components/schemas/C"}}}}},
		"paths": {"/a": {"$ref": "#/paths/~1a"}, "/b": {"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/%s"}}}}}}}}`
	for name, body := range map[string]string{
		"alias bomb":     start + bomb,
		"alias to self":  start + "a: &a [*a]\n",
		"merge bomb":     start + "a: &a {<<: *a}\n",
		"deep YAML":      start + "a: " + strings.Repeat("[", 1<<20),
		"deep blocks":    start + "a: " + strings.Repeat("- ", 1<<18) + "a",
		"deep JSON":      `{"openapi": "3.0.0", "info": {}, "paths": {}, "a": ` + strings.Repeat("[", 1<<20),
		"deep objects":   `{"openapi": "3.0.0", "info": {}, "paths": {}, "a": ` + strings.Repeat(`{"a":`, 1<<20),
		"cycle":          strings.ReplaceAll(cycle, "%s", "A"),
		"cycle of parts": strings.ReplaceAll(cycle, "%s", "C"),
		"deep GraphQL":   "type Query { a(b: " + strings.Repeat("[", 1<<20) + "Int",
		"deep value":     "type Query { a(b: Int = " + strings.Repeat("{a: [", 1<<18),
		"lists of lists": "type Query { " + strings.Repeat("a: "+strings.Repeat("[", 900)+"Int"+strings.Repeat("]!", 900)+" ", 1500) + "}",
		"tokens":         "type Query { a: Int " + strings.Repeat("@d ", 1<<20) + "}",
		"comments":       "type Query {" + strings.Repeat("#\n", 1<<20) + " a: Int }",
		"one type":       "type Query { " + strings.Repeat("a: A ", 1<<16) + "} type A { " + strings.Repeat("a: A ", 1<<16) + "}",
		"20 MB of types": petSchema + strings.Repeat("type A {\n  a: Int\n}\n", 1<<20),
		"20 MB of text":  `type Query { """` + strings.Repeat("\"\"a\n ", 4<<20) + `""" a: Int }`,
		"deep types":     `{"__schema": {"queryType": {"name": "Q"}, "types": [{"name": "Q", "fields": [{"name": "a", "type": ` + strings.Repeat(`{"kind": "LIST", "ofType": `, 1<<18),
		"20 MB":          `{"openapi": "3.0.0", "info": {}, "paths": {` + strings.Repeat(`"/a": {"get": {"summary": "a", "description": "b"}},`, 20<<20/50),
		"20 MB of YAML":  start + strings.Repeat("x: {a: b}\n", 2<<20),
		"deep XML":       petService[:200] + strings.Repeat("<a>", 1<<20),
		"XML entities":   `<!DOCTYPE a [<!ENTITY a "&a;&a;">]>` + strings.Replace(petService[21:], "Sells", "&a;", 1),
		"many references": `{"openapi": "3.0.0", "info": {}, "components": {"schemas": {` + strings.Repeat(`"a": {},`, 1<<16) + `"b": {"properties": {"c": {"description": "` + strings.Repeat("#", maxText) + `", "enum": ["` + strings.Repeat("d", 1<<20) + `"]}}}}},
			"paths": {"/p": {"post": {"requestBody": {"content": {"a": {"schema": {"$ref": "#/components/schemas/b"}}}}}}, ` + strings.Repeat(`"/q": {"$ref": "#/paths/~1p"},`, 1<<16) + `"/r": {}}}`,
		"server repeats": `{"openapi": "3.0.0", "info": {}, "paths": {"/": {"get": {}}}, "servers": [{"url": "` + strings.Repeat("{a}", 1<<20) + `", "variables": {"a": {"default": "` + strings.Repeat("b", 1<<20) + `"}}}]}`,
		"server grows":   `{"openapi": "3.0.0", "info": {}, "paths": {"/": {"get": {}}}, "servers": [{"url": "http://a/{a}", "variables": {` + strings.Repeat(`"a": {"default": "{a}{a}"},`, 200) + `"b": {}}}]}`,
	} {
		page, _, err := Convert([]byte(body), "http://host.test/")
		if err != nil && !errors.Is(err, ErrFormat) || len(page) > 2*maxHTML {
			t.Errorf("%s: %d bytes, error %v", name, len(page), err)
		}
	}
}

// TestCut checks that a truncated definition keeps the operations that it has.
func TestCut(t *testing.T) {
	for _, whole := range []string{petStore, petService, petSchema} {
		kept := 0
		for n := range len(whole) {
			page, _, err := Convert([]byte(whole[:n]), "http://host.test/")
			if err == nil && strings.Contains(string(page), "<h2>") {
				kept++
			}
		}
		if kept < len(whole)/4 {
			t.Errorf("operations of %d of %d prefixes", kept, len(whole))
		}
	}
}

// TestCutYAML: of YAML that is truncated, broken or too long, the operations before the fault are kept.
func TestCutYAML(t *testing.T) {
	const start = "openapi: 3.0.0\ninfo:\n  title: Birds\npaths:\n  /owls:\n    get:\n      summary: Find owls\n"
	for name, rest := range map[string]string{
		"unclosed object": "  /hawks:\n    get: {summary: Find",
		"unclosed quote":  "  /hawks:\n    get:\n      summary: \"Find",
		"colon in text":   "  /hawks:\n    get:\n      summary: Find: hawks\n",
		"tab":             "  /hawks:\n\tget:\n",
		"too long":        "  /hawks:\n    get:\n      description: \"\n" + strings.Repeat("        Find hawks\n", maxYAML/16) + "\"\n",
		"many":            strings.Repeat("  /hawks:\n    get:\n      summary: Find hawks\n", maxYAML/40),
	} {
		page, _, err := Convert([]byte(start+rest), "http://host.test/")
		if err != nil || !strings.Contains(string(page), "Find owls") {
			t.Errorf("%s: %.500s, error %v", name, page, err)
		}
	}
}

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"http://a.test/b-c": "http://a.test/b-c", "": "''", "a b": "'a b'", "$(rm)": "'$(rm)'",
		"it's; rm": `'it'\''s; rm'`, "a\nrm": "arm", "a\x1b]": "'a]'",
	} {
		if got := quote(word); got != want {
			t.Errorf("quote(%q) = %s, want %s", word, got, want)
		}
	}
}

func FuzzConvert(f *testing.F) {
	f.Add([]byte(`{"asyncapi": "2.0", "info": {}, "channels": {"a": {"publish": {"message": {"oneOf": [{"payload": {"$ref": "#/channels"}}]}}}}}`))
	for _, seed := range []string{petStore, "# \n" + petStore, petService, petService2, petSchema} {
		f.Add([]byte(seed))
	}
	for _, seed := range none {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		page, medium, err := Convert(body, "http://host.test/")
		again, _, _ := Convert(body, "http://host.test/")
		switch {
		case (err == nil) != (len(page) > 0), (err == nil) != (medium != vocab.OtherMedium):
			t.Fatalf("medium %v, error %v, page %q", medium, err, page)
		case !utf8.Valid(page), bytes.Contains(page, []byte("<script")), len(page) > 2*maxHTML:
			t.Fatalf("page %q", page)
		case !bytes.Equal(page, again):
			t.Fatalf("%q is not %q", again, page)
		}
	})
}

// TestAsyncAPI: operations of channels in version 2, and those that refer to channels in version 3, with
// their messages.
func TestAsyncAPI(t *testing.T) {
	page, medium := convert(t, `{"asyncapi": "2.6.0", "info": {"title": "Bird <alarms>", "version": "3", "description": "Who saw what."},
		"servers": {"main": {"url": "mqtt.birds.test", "protocol": "mqtt"}},
		"channels": {"seen/{place}": {"description": "One channel a place.", "parameters": {"place": {"description": "An island", "schema": {"type": "string"}}},
			"subscribe": {"operationId": "onSeen", "summary": "Hear of kestrels", "message": {"$ref": "#/components/messages/Seen"}},
			"publish": {"message": {"oneOf": [{"name": "Note", "payload": {"properties": {"note": {"type": "string"}}}}, {"$ref": "#/components/messages/Seen"}]}}}},
		"components": {"messages": {"Seen": {"title": "Bird seen", "payload": {"$ref": "#/components/schemas/Seen"}}},
			"schemas": {"Seen": {"properties": {"kestrels": {"type": "integer", "description": "How many"}}}}}}`)
	if medium != vocab.AsyncAPI || !medium.Service() {
		t.Errorf("medium %v", medium)
	}
	checkPieces(t, page, "<title>Bird &lt;alarms&gt;</title>", `content="Who saw what."`, "Version: 3", "Server: mqtt.birds.test mqtt",
		`<section id="operation-publish-seen-place"><h2>publish seen/{place}</h2>`, "<code>PUBLISH seen/{place}</code>", "Message: Note", "<code>note</code>", "Message: Bird seen",
		"<code>kestrels</code>", "integer", "How many", `<section id="operation-onSeen"><h2>Hear of kestrels</h2>`, "<code>SUBSCRIBE seen/{place}</code> <code>onSeen</code>",
		"One channel a place.", "<code>place</code>", "An island", "Message: Bird seen")

	page, medium = convert(t, `asyncapi: 3.0.0
info: {title: Owls, contact: {name: Owl House}}
servers: {main: {host: owls.test, pathname: /v1, protocol: amqp}}
channels:
  calls: {address: owl.calls, messages: {call: {name: Call, payload: {schemaFormat: x, schema: {properties: {pitch: {type: number}}}}}}}
operations:
  hear: {action: receive, channel: {$ref: '#/channels/calls'}, description: Each call of an owl.}
  say: {action: send, title: Call back, channel: {$ref: '#/channels/calls'}, messages: [{$ref: '#/channels/calls/messages/call'}]}
`)
	if medium != vocab.AsyncAPI {
		t.Errorf("medium %v", medium)
	}
	checkPieces(t, page, "<title>Owls</title>", "Provider: Owl House", "Server: owls.test/v1 amqp", `<section id="operation-hear"><h2>hear</h2>`,
		"<code>RECEIVE owl.calls</code>", "Each call of an owl.", "Message: Call", "<code>pitch</code>", "number", `<section id="operation-say"><h2>Call back</h2>`, "<code>SEND owl.calls</code>", "Message: Call")

	for name, text := range map[string]string{
		"no version": `{"asyncapi": "1.0", "info": {}, "channels": {}}`, "no channels": `{"asyncapi": "3.0.0", "info": {}}`, "a word": `{"about": "asyncapi", "x": "asyncapi"}`,
	} {
		if _, _, err := Convert([]byte(text), "http://host.test/"); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	loop := `{"asyncapi": "3.0.0", "info": {}, "channels": {"a": {"$ref": "#/channels/b"}, "b": {"$ref": "#/channels/a"}}, "operations": {"x": {"channel": {"$ref": "#/channels/a"}, "messages": [{"$ref": "#/operations/x/messages/0"}]}, "y": 3}}`
	if _, _, err := Convert([]byte(loop), "http://host.test/"); err != nil {
		t.Error(err)
	}
}

// TestSteps checks that a small definition which repeats references costs a bounded number of steps, and
// that reading ends with them.
func TestSteps(t *testing.T) {
	object := func(format string, count int) string {
		var all []string
		for i := range count {
			all = append(all, strings.ReplaceAll(format, "N", fmt.Sprint(i)))
		}
		return "{" + strings.Join(all, ", ") + "}"
	}
	chain := `"s0": {"properties": ` + object(`"pN": {"$ref": "#/components/schemas/s1"}`, 100) + `}, `
	for i := range maxChain {
		chain += fmt.Sprintf(`"s%d": {"$ref": "#/components/schemas/s%d"}, `, i+1, i+2)
	}
	components := `"components": {"schemas": {` + chain + `"all": {"allOf": [` +
		strings.Repeat(`{"$ref": "#/components/schemas/s0"}, `, 7) + `{}]}}}`
	asyncAPI := `{"asyncapi": "3.0.0", "info": {}, ` + components + `, "channels": {"a": {"messages": ` +
		object(`"mN": {"payload": {"$ref": "#/components/schemas/all"}}`, 100) + `, "parameters": ` +
		object(`"N": {"$ref": "#/components/schemas/s1"}`, 100) + `}}, "operations": ` +
		object(`"oN": {"channel": {"$ref": "#/channels/a"}}`, maxOperations) + `}`
	openAPI := `{"openapi": "3.0.0", "info": {}, ` + components + `, "paths": ` + object(
		`"/N": {"post": {"requestBody": {"content": {"a": {"schema": {"$ref": "#/components/schemas/all"}}}}}}`, maxOperations) + `}`
	keys := `{"openapi": "3.0.0", "info": {}, "paths": {"/p": ` + object(`"xN": {}`, 2000) + `, "/q": {"$ref": "#/paths/~1p"}, ` +
		object(`"/N": {"$ref": "#/paths/~1q"}`, 2000)[1:] + `}`
	pointer := `{"openapi": "3.0.0", "info": {}, "paths": {"/p": {"$ref": "#/` + strings.Repeat("a", 1<<18) + `"}, ` +
		object(`"/N": {"$ref": "#/paths/~1p"}`, 1000)[1:] + `}`
	for name, text := range map[string]string{
		"AsyncAPI": asyncAPI, "OpenAPI": openAPI, "keys of a path": keys, "long pointers": pointer,
	} {
		p := &page{}
		if medium := convertTree(readTree([]byte(text)), p); medium == vocab.OtherMedium {
			t.Fatalf("%s: not a definition", name)
		}
		// What is in work when the steps are spent ends with the properties of one schema.
		if p.steps < maxSteps || p.steps > maxSteps+5000 {
			t.Errorf("%s, %d bytes: %d steps, at most %d", name, len(text), p.steps, maxSteps)
		}
	}

	// A large valid definition is limited by the size of its page and not by steps.
	p := &page{}
	schema := `"components": {"parameters": {"id": {"name": "id", "in": "query", "description": "The number of an item"}},
		"schemas": {"Name": {"type": "string", "description": "The name of an item"}, "Item": {"properties": ` + object(`"property N": {"$ref": "#/components/schemas/Name"}`, 30) + `}}}`
	convertTree(readTree([]byte(`{"openapi": "3.0.0", "info": {}, `+schema+`, "paths": `+object(`"/items/N": {"post": {"summary": "Change an item N",
		"parameters": [{"$ref": "#/components/parameters/id"}, {"$ref": "#/components/parameters/id"}],
		"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}}}}}`, maxOperations)+`}`)), p)
	if len(p.out) < maxHTML {
		t.Errorf("large definition: %d bytes of HTML, %d operations, %d steps", len(p.out), p.operations, p.steps)
	}
}

// TestRepeatedMessage: the properties of a message are written with its first operation.
func TestRepeatedMessage(t *testing.T) {
	page, _ := convert(t, `{"asyncapi": "3.0.0", "info": {"title": "Owls"}, "channels": {"a": {"messages": {"m": {"name": "Call", "payload": {"properties": {"pitch": {}}}}}}},
		"operations": {"hear": {"channel": {"$ref": "#/channels/a"}}, "say": {"channel": {"$ref": "#/channels/a"}}}}`)
	if n, m := strings.Count(page, "<p>Message: Call</p>"), strings.Count(page, "pitch"); n != 2 || m != 1 {
		t.Errorf("message %d times, its property %d times, in\n%s", n, m, page)
	}
}

// TestGraphQL: operations with their arguments, the types of these and of results, and a request.
func TestGraphQL(t *testing.T) {
	page, medium := convert(t, petSchema)
	if medium != vocab.GraphQL || !medium.Service() {
		t.Errorf("medium %v", medium)
	}
	checkPieces(t, page, "<title>GraphQL API of host.test/dir/openapi.json</title>", "Provider: host.test", "Sells .",
		`<section id="operation-query-getPet"><h2>getPet</h2>`, "<code>QUERY getPet</code>", "<p>Find a pet</p>", "<p>by its number .</p>",
		"get pet: id, friends, kind → pet", "Arguments", "<code>id</code></td><td>ID!", "<code>friends</code></td><td>[Int!]! = …", "How many friends",
		"Result: [Pet!]", "Kind: What kind of animal", "<code>CAT</code>", "It purrs", "<p>Pet</p>", "<code>name</code></td><td>String!",
		">query ($id: ID!) {\n  getPet(id: $id) {\n    name\n    kind\n    vaccinated\n  }\n}</textarea>",
		`<section id="operation-query-count">`, "Deprecated", ">query {\n  count\n}<",
		`<section id="operation-mutation-addPet">`, "<p>PetInput</p>", "What it is called", "<p>Owner</p>",
		">mutation ($input: PetInput!) {\n  addPet(input: $input) {\n    __typename\n  }\n}<", "<h2>Types</h2>\n<p>Any, Day</p>")

	page, _ = convert(t, "extend type Query { a: Int }\ntype Mutation @x { b: Int }\nextend type Query {\n  c: Int\n}\ntype Query {\n  broken(\n}\n")
	checkPieces(t, page, "query-a", "query-c", "mutation-b")
	if strings.Contains(page, "broken") {
		t.Errorf("a definition with a fault is in\n%s", page)
	}
}

// TestIntrospection compares the page of an introspection result with that of the same schema in SDL.
func TestIntrospection(t *testing.T) {
	result := `{"data": {"__schema": {"queryType": {"name": "Root"}, "mutationType": null, "types": [
		{"kind": "OBJECT", "name": "Root", "fields": [{"name": "pets", "description": "All pets.", "isDeprecated": true, "args": [
			{"name": "first", "type": {"kind": "SCALAR", "name": "Int"}, "defaultValue": "3"},
			{"name": "kinds", "type": {"kind": "NON_NULL", "ofType": {"kind": "LIST", "ofType": {"kind": "ENUM", "name": "Kind"}}}, "defaultValue": null}],
			"type": {"kind": "LIST", "name": null, "ofType": {"kind": "OBJECT", "name": "Pet"}}}]},
		{"kind": "OBJECT", "name": "Pet", "description": "An animal.", "fields": [{"name": "name", "args": [], "type": {"kind": "SCALAR", "name": "String"}}]},
		{"kind": "INPUT_OBJECT", "name": "Filter", "fields": null, "inputFields": [{"name": "kind", "type": {"kind": "ENUM", "name": "Kind"}}]},
		{"kind": "ENUM", "name": "Kind", "enumValues": [{"name": "CAT", "description": "It purrs."}]},
		{"kind": "OBJECT", "name": "__Type", "fields": []}]}}}`
	got, medium := convert(t, result)
	want, _ := convert(t, `schema { query: Root }
		type Root { "All pets." pets(first: Int = 3, kinds: [Kind]!): [Pet] @deprecated }
		"An animal." type Pet { name: String } input Filter { kind: Kind } enum Kind { "It purrs." CAT }`)
	if got != want || medium != vocab.GraphQL {
		t.Errorf("of the result (%v):\n%s\nof the schema:\n%s", medium, got, want)
	}
}
