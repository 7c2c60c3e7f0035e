package servicetext

import (
	"cmp"
	"strings"
)

// isAsyncAPI reports whether a document is an AsyncAPI definition of version 2 or 3.
func isAsyncAPI(root *node) bool {
	version := root.str("asyncapi")
	known := strings.HasPrefix(version, "2") || strings.HasPrefix(version, "3")
	return known && root.get("info") != nil && (root.get("channels") != nil || root.get("operations") != nil)
}

// actions are the operations of a channel in version 2.
var actions = []string{"publish", "subscribe"}

// writeAsyncAPI writes a section for each operation: its channel, parameters and messages. In version 2
// operations are in their channels, in version 3 they refer to them.
func writeAsyncAPI(root *node, p *page) {
	d := &openAPI{page: p, root: root, written: map[*node]bool{}}
	info := root.get("info")
	first, protocol := "", ""
	if servers := root.get("servers").items(); len(servers) > 0 {
		s := d.resolve(servers[0])
		first, protocol = cmp.Or(s.str("url"), s.str("host")+s.str("pathname")), s.str("protocol")
	}
	p.title = cmp.Or(line(info.str("title")), line(first), "Web service")
	summary := p.paragraphs(info.str("description"))
	if len(summary) > 0 {
		p.description = strings.ToValidUTF8(summary[0][:min(len(summary[0]), maxDescription)], "")
	}
	p.about("Provider", info.get("contact").str("name"))
	p.about("Version", info.str("version"))
	p.about("Server", strings.TrimSpace(first+" "+protocol))
	for _, text := range summary {
		p.printf("<p>%s</p>\n", text)
	}
	for address, channel := range root.get("channels").pairs() {
		if d.full() {
			return
		}
		channel = d.resolve(channel)
		for _, action := range actions {
			if o := channel.get(action); o != nil && o.object {
				d.exchange(action, address, "", o, channel, d.alternatives(o.get("message")))
			}
		}
	}
	for id, o := range root.get("operations").pairs() {
		if d.full() {
			return
		}
		o = d.resolve(o)
		channel := d.resolve(o.get("channel"))
		messages := o.get("messages").first(maxFields)
		if len(messages) == 0 {
			messages = channel.get("messages").first(maxFields)
		}
		d.exchange(o.str("action"), channel.str("address"), id, o, channel, messages)
	}
}

// alternatives returns the messages that a message may be.
func (d *openAPI) alternatives(message *node) []*node {
	if message == nil {
		return nil
	}
	if one := d.resolve(message).get("oneOf"); one != nil {
		return one.first(maxFields)
	}
	return []*node{message}
}

// exchange writes an operation on a channel.
func (d *openAPI) exchange(action, address, id string, o, channel *node, messages []*node) {
	if d.operations >= maxOperations || d.full() {
		return
	}
	id, action, address = line(cmp.Or(o.str("operationId"), id)), line(action), line(address)
	d.operation(cmp.Or(id, action+"-"+address), cmp.Or(o.str("title"), o.str("summary"), id, action+" "+address))
	d.names(strings.ToUpper(action)+" "+address, id)
	if o.str("title") != "" { // else the summary is the heading
		d.prose(o.str("summary"))
	}
	d.prose(o.str("description"))
	d.prose(channel.str("description"))
	var fields []field
	parameters := channel.get("parameters")
	for i, n := range parameters.first(maxFields) {
		if n = d.resolve(n); parameters.object {
			fields = append(fields, field{parameters.keys[i], d.typeOf(n.get("schema"), 0), n.str("description")})
		}
	}
	d.fields("Parameters", fields)
	for _, message := range messages {
		if d.full() {
			return
		}
		d.message(d.resolve(message))
	}
	d.endOperation()
}

// message writes a message with the properties of its payload. One that was written before is only named.
func (d *openAPI) message(m *node) {
	name := cmp.Or(line(m.str("title")), line(m.str("name")), "message")
	d.about("Message", name)
	if d.written[m] {
		return
	}
	d.written[m] = true
	payload := d.resolve(m.get("payload"))
	if schema := payload.get("schema"); schema != nil && payload.str("schemaFormat") != "" {
		payload = schema // version 3
	}
	var fields []field
	d.properties(payload, 0, func(name string, property *node) {
		if len(fields) < maxFields {
			fields = append(fields, field{name, d.typeOf(property, 0), d.resolve(property).str("description")})
		}
	})
	d.prose(m.str("summary"))
	d.prose(m.str("description"))
	d.fields(name, fields)
}
