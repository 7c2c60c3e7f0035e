package robots

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// A parser goes through the lines of one file. Consecutive User-agent lines start a group, and
// the group lasts until a User-agent line that follows a rule (RFC 9309 §2.2.1).
type parser struct {
	product  string
	everyone group // of "*"
	own      group // of our product token
	named    bool  // there is a group of our own
	sitemaps []string

	// What the lines in hand belong to.
	inEveryone, inOwn bool
	ruled             bool // a rule came since the last User-agent line
}

type group struct {
	rules []rule
	delay time.Duration
}

func (p *parser) read(text string) {
	text = skipMark(text)
	for text != "" {
		var line string
		if end := strings.IndexAny(text, "\r\n"); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			line, text = text, ""
		}
		if key, value, ok := splitLine(line); ok {
			p.line(key, value)
		}
	}
}

// decoded is the text of a file. The standard has UTF-8 alone, but some editors write UTF-16, with a
// mark or without: to read such a file as UTF-8 would be to find no rule in it, and allow everything.
func decoded(body []byte) string {
	order := utf16Order(body)
	if order == nil {
		return string(body)
	}
	units := make([]uint16, len(body)/2)
	for i := range units {
		units[i] = order.Uint16(body[2*i:])
	}
	return string(utf16.Decode(units))
}

// utf16Order is nil for files of single bytes: in those the second byte is not 0, nor the first.
func utf16Order(body []byte) binary.ByteOrder {
	if len(body) < 2 {
		return nil
	}
	switch a, b := body[0], body[1]; {
	case a == 0xFF && b == 0xFE, a != 0 && b == 0:
		return binary.LittleEndian
	case a == 0xFE && b == 0xFF, a == 0 && b != 0:
		return binary.BigEndian
	}
	return nil
}

// skipMark drops a byte order mark, whole or cut short.
func skipMark(text string) string {
	for i := 0; i < len("\xef\xbb\xbf"); i++ {
		if text == "" || text[0] != "\xef\xbb\xbf"[i] {
			break
		}
		text = text[1:]
	}
	return text
}

// splitLine takes a line apart: "key: value # comment". A colon that was left out is forgiven
// where the line is of two words.
func splitLine(line string) (key, value string, ok bool) {
	line, _, _ = strings.Cut(line, "#")
	line = strings.TrimSpace(line)
	if line == "" {
		return "", "", false
	}
	key, value, ok = strings.Cut(line, ":")
	if !ok {
		at := strings.IndexAny(line, " \t")
		if at < 0 {
			return "", "", false
		}
		key, value = line[:at], strings.TrimSpace(line[at:])
		if strings.ContainsAny(value, " \t") {
			return "", "", false
		}
		return key, value, true
	}
	return strings.TrimSpace(key), strings.TrimSpace(value), true
}

// line takes one line. The misspellings are those that Google's parser knows.
func (p *parser) line(key, value string) {
	switch strings.ToLower(key) {
	case "user-agent", "useragent", "user agent":
		p.agent(value)
	case "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw":
		p.rule(value, false)
	case "allow":
		p.rule(value, true)
	case "crawl-delay", "crawldelay":
		p.delay(value)
	case "sitemap", "site-map":
		if value != "" && len(p.sitemaps) < maxSitemaps {
			p.sitemaps = append(p.sitemaps, strings.Clone(value))
		}
	}
}

func (p *parser) agent(value string) {
	if p.ruled {
		p.inEveryone, p.inOwn, p.ruled = false, false, false
	}
	if value == "*" || strings.HasPrefix(value, "* ") || strings.HasPrefix(value, "*\t") {
		p.inEveryone = true
		return
	}
	if strings.EqualFold(productToken(value), p.product) && p.product != "" {
		p.inOwn, p.named = true, true
	}
}

// productToken is the leading run of letters, '_' and '-' (RFC 9309 §2.2.1): "Foobot" of
// "Foobot/1.0 (fast)".
func productToken(agent string) string {
	i := 0
	for i < len(agent) && (isLetter(agent[i]) || agent[i] == '-' || agent[i] == '_') {
		i++
	}
	return agent[:i]
}

func (p *parser) rule(value string, allow bool) {
	p.ruled = true
	if value == "" || !p.inEveryone && !p.inOwn {
		return // an empty pattern matches nothing
	}
	rules := makeRules(value, allow)
	if p.inEveryone {
		p.everyone.rules = append(p.everyone.rules, rules...)
	}
	if p.inOwn {
		p.own.rules = append(p.own.rules, rules...)
	}
}

// makeRules builds the rule of one line, and for "Allow: /dir/index.html" a second one that
// allows "/dir/", the name under which that page goes: an addition of Google's.
func makeRules(value string, allow bool) []rule {
	normal := normalise(value)
	r := rule{pattern: normal, allow: allow, length: len(normal)}
	if allow {
		r.pattern = escape(value)
	}
	r.pattern, r.end = strings.CutSuffix(r.pattern, "$")
	r.pattern = strings.Clone(r.pattern) // so that the file itself is not kept
	rules := []rule{r}
	slash := strings.LastIndexByte(r.pattern, '/')
	if allow && slash >= 0 && strings.HasPrefix(r.pattern[slash+1:], "index.htm") {
		dir := r.pattern[:slash+1]
		rules = append(rules, rule{pattern: dir, end: true, allow: true, length: len(dir) + len("$")})
	}
	return rules
}

// delay takes a Crawl-delay: seconds, with a fraction perhaps. RFC 9309 does not know it, so it
// ends no run of User-agent lines (§2.2.4).
func (p *parser) delay(value string) {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || !(seconds >= 0) {
		return
	}
	d := MaxCrawlDelay
	if seconds < MaxCrawlDelay.Seconds() {
		d = time.Duration(seconds * float64(time.Second))
	}
	if p.inEveryone {
		p.everyone.delay = d
	}
	if p.inOwn {
		p.own.delay = d
	}
}
