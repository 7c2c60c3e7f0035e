package servicetext

import (
	"cmp"
	"encoding/xml"
	"slices"
	"strings"
	"unicode"

	"anatomy/vocab"
	"anatomy/xmlcharset"
)

// The namespaces of definitions and lists in XML.
const (
	wsdl1        = "http://schemas.xmlsoap.org/wsdl/"
	wsdl2        = "http://www.w3.org/ns/wsdl"
	wsInspection = "http://schemas.xmlsoap.org/ws/2001/10/inspection/"
)

// The bounds of a definition in XML.
const (
	maxXMLDepth = 100
	maxItems    = 20_000 // operations, messages, parts and names of types
)

// A definition is the content of a WSDL 1.1 or 2.0 document.
type definition struct {
	name       string
	text       []byte // documentation of the definition and its services
	services   []string
	address    string // of the first port or endpoint
	operations []*soapOperation
	parts      map[string][]field // by the name of the message
	types      []string           // names of types and elements
	items      int
}

// A soapOperation is an operation of a port type or interface.
type soapOperation struct {
	name, port    string
	text          []byte // documentation
	input, output string // names of messages, or of elements in WSDL 2.0
}

// convertXML writes the definition or list in an XML document.
func convertXML(text []byte, p *page) vocab.Medium {
	d := xmlcharset.NewUTF8Decoder(text)
	var path []xml.StartElement
	w := definition{parts: map[string][]field{}}
	for len(path) < maxXMLDepth && w.items < maxItems {
		token, err := d.RawToken()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(path) == 0 && !isRoot(t) {
				return vocab.OtherMedium
			}
			path = append(path, t.Copy())
			if path[0].Name.Local == "inspection" {
				writeInspection(t, p)
			} else {
				w.start(path)
			}
		case xml.CharData:
			w.addText(path, t)
		case xml.EndElement:
			if n := lastOf(path, t.Name.Local); n >= 0 {
				path = path[:n]
			}
		}
	}
	switch {
	case p.list:
		return vocab.XML
	case len(w.operations) == 0 && len(w.services) == 0:
		return vocab.OtherMedium // a part that another definition imports, or nothing
	}
	w.write(p)
	return vocab.WSDL
}

// isRoot reports whether an element is the root of a definition or a list.
func isRoot(t xml.StartElement) bool {
	has := func(namespace string) bool {
		return slices.ContainsFunc(t.Attr, func(a xml.Attr) bool { return a.Value == namespace })
	}
	switch t.Name.Local {
	case "definitions":
		return has(wsdl1)
	case "description":
		return has(wsdl2)
	case "inspection":
		return has(wsInspection)
	}
	return false
}

// lastOf returns the index of the innermost open element of a name, -1 if there is none.
func lastOf(path []xml.StartElement, name string) int {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Name.Local == name {
			return i
		}
	}
	return -1
}

// writeInspection writes the links of WS-Inspection, to definitions and to further lists.
func writeInspection(t xml.StartElement, p *page) {
	p.title, p.list = "List of web services", true
	if name := t.Name.Local; (name == "description" || name == "link") && p.operations < maxEntries {
		p.entry(attribute(t, "location"), "")
	}
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name && a.Name.Space != "xmlns" {
			return a.Value
		}
	}
	return ""
}

// local returns a name without its prefix.
func local(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// start handles the innermost element of path.
func (w *definition) start(path []xml.StartElement) {
	t := path[len(path)-1]
	var parent xml.StartElement
	if len(path) > 1 {
		parent = path[len(path)-2]
	}
	name, within := line(attribute(t, "name")), line(attribute(parent, "name"))
	switch t.Name.Local {
	case "definitions", "description":
		w.name = cmp.Or(w.name, name)
	case "service":
		w.services = append(w.services, name)
	case "address":
		w.address = cmp.Or(w.address, attribute(t, "location"))
	case "endpoint":
		w.address = cmp.Or(w.address, attribute(t, "address"))
	case "part":
		kind := local(cmp.Or(attribute(t, "element"), attribute(t, "type")))
		w.parts[within] = append(w.parts[within], field{name: name, kind: line(kind)})
	case "operation":
		if isInterface(parent) {
			w.operations = append(w.operations, &soapOperation{name: name, port: within})
		}
	case "input", "output":
		if len(path) > 2 && isInterface(path[len(path)-3]) && len(w.operations) > 0 {
			message := local(cmp.Or(attribute(t, "message"), attribute(t, "element")))
			w.operations[len(w.operations)-1].set(t.Name.Local, line(message))
		}
	case "element", "complexType", "simpleType":
		w.types = append(w.types, name)
	default:
		return
	}
	w.items++
}

// isInterface reports whether an element declares operations: a port type of WSDL 1.1, or an interface.
func isInterface(t xml.StartElement) bool {
	return t.Name.Local == "portType" || t.Name.Local == "interface"
}

// set sets the message of an input or output.
func (o *soapOperation) set(direction, message string) {
	if direction == "input" {
		o.input = message
	} else {
		o.output = message
	}
}

// addText adds documentation to the operation or definition that has it.
func (w *definition) addText(path []xml.StartElement, text []byte) {
	at := lastOf(path, "documentation")
	if at < 1 {
		return
	}
	to := &w.text
	if isInterface(path[max(at-2, 0)]) && len(w.operations) > 0 {
		to = &w.operations[len(w.operations)-1].text
	}
	*to = append(*to, text[:min(len(text), max(maxText-len(*to), 0))]...)
}

// write writes the definition.
func (w *definition) write(p *page) {
	service := ""
	if len(w.services) > 0 {
		service = w.services[0]
	}
	p.title = cmp.Or(service, w.name, "Web service")
	all := p.paragraphs(string(w.text))
	if len(all) > 0 {
		p.description = strings.ToValidUTF8(all[0][:min(len(all[0]), maxDescription)], "")
	}
	p.about("Provider", hostOf(cmp.Or(w.address, p.url)))
	for _, name := range w.services {
		p.about("Service", name)
	}
	p.about("Address", w.address)
	for _, text := range all {
		p.printf("<p>%s</p>\n", text)
	}
	slices.Sort(w.types)
	for _, o := range w.operations[:min(len(w.operations), maxOperations)] {
		if !p.full() {
			w.writeOperation(o, p)
		}
	}
	if types := strings.Join(slices.Compact(w.types), ", "); strings.Trim(types, ", ") != "" {
		p.printf("<h2>Types</h2>\n<p>%s</p>\n", strings.Trim(types, ", "))
	}
}

func (w *definition) writeOperation(o *soapOperation, p *page) {
	p.operation(o.port+"."+o.name, o.name)
	p.about("Port type", o.port)
	p.prose(string(o.text))
	p.about(words(o.name), w.wordsOf(o.input)+" → "+w.wordsOf(o.output))
	p.fields("Input: "+o.input, w.partsOf(o.input))
	p.fields("Output: "+o.output, w.partsOf(o.output))
	if at := w.address; strings.HasPrefix(at, "http://") || strings.HasPrefix(at, "https://") {
		p.request([]string{"curl", "--globoff", "-H", "Content-Type: text/xml", "--data-raw", w.envelope(o), at})
	}
	p.endOperation()
}

// words returns the words of an identifier: "get taxed price" of get_TAXEDPrice.
func words(name string) string {
	var b strings.Builder
	last := ' '
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		case unicode.IsUpper(r) && unicode.IsLower(last):
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		last = r
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// wordsOf returns the words of the names and types of parts.
func wordsOf(parts []field) string {
	var all []string
	for _, part := range parts[:min(len(parts), maxFields)] {
		all = append(all, words(cmp.Or(part.name, part.kind)))
	}
	return strings.Join(all, ", ")
}

// wordsOf returns the words of the parts of a message, with those of the types that the definition
// declares: TaxedPriceType has the words of a part _TAXEDPRICE. Types must be sorted.
func (w *definition) wordsOf(message string) string {
	var all []field
	for _, part := range w.parts[message][:min(len(w.parts[message]), maxFields)] {
		if _, declared := slices.BinarySearch(w.types, part.kind); declared && words(part.name) != words(part.kind) {
			part.name += " " + part.kind
		}
		all = append(all, part)
	}
	return wordsOf(all)
}

// partsOf returns the parts of a message, or the element that is the message.
func (w *definition) partsOf(message string) []field {
	if parts, ok := w.parts[message]; ok || message == "" {
		return parts
	}
	return []field{{name: message, kind: "element"}}
}

// envelope returns the message of a request (SOAP 1.1 §4).
func (w *definition) envelope(o *soapOperation) string {
	var b strings.Builder
	b.WriteString(`<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body>`)
	for _, part := range w.partsOf(o.input) {
		if b.Len() < maxText {
			b.WriteString("<" + part.name + ">…</" + part.name + ">")
		}
	}
	b.WriteString("</Body></Envelope>")
	return b.String()
}
