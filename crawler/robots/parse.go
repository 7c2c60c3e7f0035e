package robots

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// MaxBytes is the number of bytes of a file that are read (RFC 9309 §2.5: at least 500 KiB). The rest
// is ignored.
const MaxBytes = 500 << 10

// MaxCrawlDelay is the maximum Crawl-delay; larger values are reduced to it.
const MaxCrawlDelay = 24 * time.Hour

// maxSitemaps bounds the sitemaps that one file can name.
const maxSitemaps = 1000

// Parse reads a robots.txt for the crawler with that product token ("anatomy"). It never fails:
// lines that are not valid are skipped.
func Parse(body []byte, product string) *Rules {
	if len(body) > MaxBytes {
		body = body[:MaxBytes]
	}
	p := parser{product: product}
	p.read(decoded(body))
	group := &p.everyone
	if p.named { // an own group, even an empty one, replaces that of everyone (§2.2.1)
		group = &p.own
	}
	slices.SortStableFunc(group.rules, moreSpecific)
	return &Rules{CrawlDelay: group.delay, Sitemaps: p.sitemaps, rules: group.rules}
}

func moreSpecific(a, b rule) int {
	switch {
	case a.length != b.length:
		return b.length - a.length
	case a.allow == b.allow:
		return 0
	case a.allow:
		return -1
	}
	return 1
}

// A parser reads the lines of one file. Consecutive User-agent lines start a group, which ends at a
// User-agent line after a rule (RFC 9309 §2.2.1).
type parser struct {
	product  string
	everyone group // of "*"
	own      group // of our product token
	named    bool  // there is a group of our own
	sitemaps []string

	// The groups that the current lines belong to.
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

// decoded returns the text of a file. The standard allows only UTF-8, but some editors write
// UTF-16, with or without a byte order mark. Read as UTF-8, such a file would have no rule, and
// allow everything.
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

// utf16Order returns nil for files of single bytes: neither the first nor the second byte of those
// is 0.
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

// skipMark drops a byte order mark, complete or truncated.
func skipMark(text string) string {
	for i := 0; i < len("\xef\xbb\xbf"); i++ {
		if text == "" || text[0] != "\xef\xbb\xbf"[i] {
			break
		}
		text = text[1:]
	}
	return text
}

// splitLine splits a line as "key: value # comment". The colon may be missing if the line has two
// words.
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

// line applies one line. The misspellings are those of Google's parser.
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

// productToken returns the leading run of letters, '_' and '-' (RFC 9309 §2.2.1): "Foobot" of
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

// makeRules returns the rule of one line, and for "Allow: /dir/index.html" a second one that allows
// "/dir/", the usual URL of that page: an extension of Google's.
func makeRules(value string, allow bool) []rule {
	normal := normalize(value)
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

// delay applies a Crawl-delay in seconds, with an optional fraction. It is not in RFC 9309, so it
// does not end a run of User-agent lines (§2.2.4).
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
