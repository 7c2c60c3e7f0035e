package main

import (
	"bytes"
	"net"
	"regexp"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// nameServer knows www.test and its IPv6 address six.test, refuses bad.test, and nothing else exists.
func nameServer(t *testing.T) string {
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, r *dns.Msg) {
		m := new(dns.Msg).SetReply(r)
		switch name, qtype := strings.ToLower(r.Question[0].Name), r.Question[0].Qtype; {
		case name == "www.test." && qtype == dns.TypeA:
			for i := range byte(2) {
				m.Answer = append(m.Answer, &dns.A{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60}, A: net.IPv4(192, 0, 2, i+1)})
			}
		case name == "xn--bcher-kva.test." && qtype == dns.TypeAAAA:
			m.Answer = append(m.Answer, &dns.AAAA{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeAAAA, Class: dns.ClassINET, Ttl: 7200}, AAAA: net.ParseIP("2001:db8::6")})
		case name == "xn--bcher-kva.test.":
		case name == "bad.test.":
			m.Rcode = dns.RcodeRefused
		default:
			m.Rcode = dns.RcodeNameError
		}
		_ = w.WriteMsg(m)
	})}
	up := make(chan struct{})
	s.NotifyStartedFunc = func() { close(up) }
	go func() { _ = s.ActivateAndServe() }()
	<-up
	t.Cleanup(func() { _ = s.Shutdown() })
	return conn.LocalAddr().String()
}

func TestDNS(t *testing.T) {
	addr := nameServer(t)
	at := regexp.QuoteMeta(addr)
	long := strings.Repeat("x", 300) + ".test"
	cases := []struct {
		args   string
		status int
		want   []string // a pattern for each line, or for what a line begins with
		stderr string
	}{
		{"www.test WWW.test", 0, []string{`www\.test  192\.0\.2\.1 192\.0\.2\.2  \d+\.\d ms  kept 30 minutes  answered by ` + at, `WWW\.test  192\.0\.2\.1 .* ms  kept .*  cache, answered by ` + at}, ""},
		{"--min-ttl 0 www.test", 0, []string{`www\.test .* kept (1 minute|59 seconds)  answered by`}, ""},
		{"bücher.test", 0, []string{`bücher\.test  2001:db8::6  .* kept 2 hours`}, ""},
		{"127.0.0.1 [::1] localhost", 0, []string{`127\.0\.0\.1  127\.0\.0\.1 .*no query needed`, `\[::1\]  ::1 `, `localhost  127\.0\.0\.1 ::1 `}, ""},
		{"nosuch.test www.test", 1, []string{`nosuch\.test  - \(no such name\)  .* kept 5 minutes  answered by`, `www\.test  192`}, "error: dns: 1 of 2 names not resolved\nhint: "},
		{"bad.test", 1, []string{`bad\.test  - \(name servers failed\)`}, "error: "},
		{long, 1, []string{`xxx.*  - \(no such name\)`}, "error: "},
		{"--stats www.test www.test", 0, []string{`www`, `www`, ``, `1 from cache, 1 not, 1 packets sent, 0 of them retries, 1 answers`, ` *server  queries`, ` *` + at + `  +1 `}, ""},
		{"", statusUsage, nil, "takes names to resolve"},
		{"--timeout 0s www.test", statusUsage, nil, "--timeout must be above 0"},
		{"--resolver nonsense www.test", statusUsage, nil, "is not an address"},
	}
	for _, c := range cases {
		args := append([]string{"dns", "--resolver", addr}, strings.Fields(c.args)...)
		var stdout, stderr bytes.Buffer
		status := run(args, strings.NewReader(""), &stdout, &stderr)
		lines := strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
		if stdout.Len() == 0 {
			lines = nil
		}
		if status != c.status || len(lines) != len(c.want) || !strings.Contains(stderr.String(), c.stderr) || (c.stderr == "") != (stderr.Len() == 0) {
			t.Errorf("%.40s: status %d, %d lines\n%s%s", c.args, status, len(lines), &stdout, &stderr)
			continue
		}
		for i, want := range c.want {
			if !regexp.MustCompile("^" + want).MatchString(lines[i]) {
				t.Errorf("%.40s: line %d is %q, want %s", c.args, i, lines[i], want)
			}
		}
	}
}
