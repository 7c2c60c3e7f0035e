package servicetext

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// isOpenAPI reports whether a document is an OpenAPI definition of version 2 or 3.
func isOpenAPI(root *node) bool {
	version := root.str("openapi") + root.str("swagger")
	known := strings.HasPrefix(version, "2") || strings.HasPrefix(version, "3")
	content := root.get("paths") != nil || root.get("webhooks") != nil || root.get("components") != nil
	return known && content && root.get("info") != nil
}

// An openAPI is a definition that is being written.
type openAPI struct {
	*page
	root    *node
	server  string         // URL of the service without "/" at its end
	written map[*node]bool // messages
}

func writeOpenAPI(root *node, p *page) {
	d := &openAPI{page: p, root: root, server: serverOf(root, p.url)}
	info := root.get("info")
	p.title = cmp.Or(line(info.str("title")), hostOf(d.server), "Web service")
	summary := append(p.paragraphs(info.str("summary")), p.paragraphs(info.str("description"))...)
	if len(summary) > 0 {
		p.description = strings.ToValidUTF8(summary[0][:min(len(summary[0]), maxDescription)], "")
	}
	p.about("Provider", cmp.Or(info.str("x-providerName"), info.get("contact").str("name"), hostOf(d.server)))
	p.about("Version", info.str("version"))
	p.about("Server", d.server)
	for _, text := range summary {
		p.printf("<p>%s</p>\n", text)
	}
	for _, tag := range root.get("tags").items() {
		p.about(tag.str("name"), strings.Join(p.paragraphs(tag.str("description")), " "))
	}
	for _, table := range []string{"paths", "webhooks"} {
		for path, item := range root.get(table).pairs() {
			if d.full() {
				return
			}
			d.path(path, item)
		}
	}
}

// serverOf returns the URL of the first server, that of the document's host if there is none.
func serverOf(root *node, document string) string {
	at, err := url.Parse(document)
	if err != nil {
		return ""
	}
	to := root.str("basePath")
	if host := root.str("host"); host != "" {
		scheme := at.Scheme
		if schemes := root.get("schemes").items(); len(schemes) > 0 {
			scheme = schemes[0].text
		}
		to = scheme + "://" + host + to
	}
	if servers := root.get("servers").items(); len(servers) > 0 {
		to = line(servers[0].str("url"))
		variables := servers[0].get("variables")
		for i, v := range variables.first(maxFields) {
			if variables.object && len(to) < maxText {
				to = strings.ReplaceAll(to, "{"+line(variables.keys[i])+"}", line(v.str("default")))
			}
		}
	}
	server, err := at.Parse(to[:min(len(to), 1000)])
	if err != nil || server.Scheme != "http" && server.Scheme != "https" {
		return ""
	}
	server.RawQuery, server.Fragment = "", ""
	return strings.TrimSuffix(server.String(), "/")
}

func hostOf(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}

// path writes the operations of a path.
func (d *openAPI) path(path string, item *node) {
	path, item = line(path), d.resolve(item)
	shared := item.get("parameters").first(maxFields)
	for method, o := range item.pairs() {
		if d.steps++; d.full() {
			return
		}
		if slices.Contains(methods, method) && o != nil && o.object && d.operations < maxOperations {
			d.write(strings.ToUpper(method), path, o, shared)
		}
	}
}

// write writes an operation.
func (d *openAPI) write(method, path string, o *node, shared []*node) {
	id := line(o.str("operationId"))
	d.operation(cmp.Or(id, method+"-"+path), cmp.Or(o.str("summary"), id, method+" "+path))
	d.names(method+" "+path, id)
	if o.isTrue("deprecated") {
		d.printf("<p>Deprecated</p>\n")
	}
	d.prose(o.str("description"))
	r := request{method: method, url: d.server + path}
	var fields []field
	for _, parameter := range slices.Concat(shared, o.get("parameters").first(maxFields)) {
		if f, ok := d.parameter(d.resolve(parameter), &r); ok {
			fields = append(fields, f)
		}
	}
	d.fields("Parameters", fields)
	d.body(o, &r)
	if d.server != "" {
		d.request(r.words())
	}
	d.endOperation()
}

// parameter returns the field of a parameter, false for one without name or for a body.
func (d *openAPI) parameter(n *node, r *request) (field, bool) {
	name, in := line(n.str("name")), line(n.str("in"))
	if name == "" || in == "body" {
		return field{}, false
	}
	schema := n.get("schema")
	if schema == nil {
		schema = n
	}
	kind := d.typeOf(schema, 0)
	required := n.isTrue("required")
	if required {
		kind += ", required"
		r.add(in, name)
	}
	return field{name, strings.TrimPrefix(kind+", in "+in, ", "), n.str("description")}, true
}

// body writes the properties of the body of an operation's request.
func (d *openAPI) body(o *node, r *request) {
	var schema *node
	for _, parameter := range o.get("parameters").first(maxFields) {
		if parameter = d.resolve(parameter); parameter.str("in") == "body" {
			schema, r.media = parameter.get("schema"), "application/json"
		}
	}
	content := d.resolve(o.get("requestBody")).get("content")
	if content != nil && len(content.keys) > 0 {
		schema, r.media = content.kids[0].get("schema"), line(content.keys[0])
	}
	if schema == nil {
		return
	}
	var fields []field
	d.properties(schema, 0, func(name string, property *node) {
		if len(fields) < maxFields {
			fields = append(fields, field{name, d.typeOf(property, 0), d.resolve(property).str("description")})
			r.properties = append(r.properties, line(name))
		}
	})
	if d.fields("Body: "+cmp.Or(d.typeOf(schema, 0), r.media), fields); len(fields) == 0 {
		d.about("Body", cmp.Or(d.typeOf(schema, 0), r.media))
	}
}

// resolve returns the target of n if n is a $ref, and otherwise n. It returns nil if the reference
// leads nowhere, to another document or through more than maxChain others, or if the page is full.
func (d *openAPI) resolve(n *node) *node {
	for range maxChain {
		d.steps++
		ref := n.str("$ref")
		if n == nil || ref == "" {
			return n
		}
		n = d.at(ref)
	}
	return nil
}

// pointerEscapes are the escapes of a JSON pointer, and those of URLs that paths need.
var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~", "%7B", "{", "%7D", "}")

// at returns the value at a JSON pointer in a fragment (RFC 6901 §6), nil if there is none or the page
// is full.
func (d *openAPI) at(ref string) *node {
	pointer, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	n := d.root
	for step := range strings.SplitSeq(pointer, "/") {
		if d.steps += 1 + len(step)/maxName; d.full() || n == nil {
			return nil
		}
		n = n.get(pointerEscapes.Replace(step))
	}
	return n
}

// properties calls do for the properties of a schema and of the schemas it is composed of.
func (d *openAPI) properties(schema *node, depth int, do func(string, *node)) {
	schema = d.resolve(schema)
	if properties := schema.get("properties"); properties != nil && properties.object {
		for i, property := range properties.first(maxFields) {
			d.steps++
			do(properties.keys[i], property)
		}
	}
	if depth >= 2 {
		return
	}
	for _, part := range schema.get("allOf").first(maxChain) {
		d.properties(part, depth+1, do)
	}
}

// typeOf returns the type of a schema: "array of Pet", "string (date-time)".
func (d *openAPI) typeOf(schema *node, depth int) string {
	if ref := schema.str("$ref"); ref != "" {
		ref = ref[max(len(ref)-4*maxName, 0):]
		return line(ref[strings.LastIndexByte(ref, '/')+1:])
	}
	kind := line(schema.str("type"))
	for _, choice := range []string{"oneOf", "anyOf"} {
		if all := schema.get(choice).items(); len(all) > 0 && kind == "" && depth < 3 {
			return d.typeOf(all[0], depth+1)
		}
	}
	if kind == "array" && depth < 3 {
		return strings.TrimSpace("array of " + d.typeOf(schema.get("items"), depth+1))
	}
	var values []string
	for _, v := range schema.get("enum").first(10) {
		values = append(values, line(v.text))
	}
	if len(values) > 0 {
		return kind + ": " + strings.Join(values, ", ")
	}
	if format := line(schema.str("format")); format != "" {
		kind += " (" + format + ")"
	}
	return kind
}

// A request is an example of a request.
type request struct {
	method, url string
	query       []string // NAME=VALUE
	headers     []string
	media       string
	properties  []string
}

// add adds a required parameter.
func (r *request) add(in, name string) {
	if value := strings.ToUpper(name); in == "query" {
		r.query = append(r.query, url.QueryEscape(name)+"="+url.QueryEscape(value))
	} else if in == "header" {
		r.headers = append(r.headers, name+": "+value)
	}
}

// words returns the words of a command line.
func (r *request) words() []string {
	to := r.url
	if len(r.query) > 0 {
		to += "?" + strings.Join(r.query, "&")
	}
	words := []string{"curl", "--globoff", "-X", r.method, to}
	for _, h := range r.headers {
		words = append(words, "-H", h)
	}
	if r.media != "" {
		words = append(words, "-H", "Content-Type: "+r.media)
	}
	if strings.HasSuffix(r.media, "json") {
		var fields []string
		for _, name := range r.properties {
			fields = append(fields, fmt.Sprintf("%q: …", name))
		}
		words = append(words, "--data-raw", "{"+strings.Join(fields, ", ")+"}")
	}
	return words
}
