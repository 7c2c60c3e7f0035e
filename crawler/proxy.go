package crawler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/proxy"

	"anatomy/internal/secret"
	"anatomy/weburl"
)

// A Proxy is a server that all connections of a crawler go through.
//
// Over HTTP and HTTPS proxies and over socks5h the proxy resolves the names of hosts. The crawler
// then does not know their addresses: it refuses only special addresses in URLs, and localhost;
// other addresses are the responsibility of the proxy. Over socks5 the crawler resolves names
// itself and checks all addresses, as it does without a proxy.
type Proxy struct {
	url *url.URL // with user and password
}

// proxyPorts are the ports of proxies whose URL has none.
var proxyPorts = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}

// ParseProxy parses the URL of a proxy: http, https, socks5 or socks5h, with an optional user. A
// password in the URL is an error, because URLs are displayed and stored in files that others may
// read.
func ParseProxy(text string) (*Proxy, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("it is not a valid URL") // err has the text, and so a password
	}
	port := proxyPorts[u.Scheme]
	switch _, hasPassword := u.User.Password(); {
	case hasPassword:
		return nil, errors.New("its password belongs in a file of its own, see --proxy-password")
	case port == "":
		return nil, errors.New("it must begin with http://, https://, socks5:// or socks5h://")
	case u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("it must have the form http://proxy.example.org, optionally with a user and a port: http://user@proxy.example.org:3128")
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), port)
	}
	u.Path = ""
	return &Proxy{u}, nil
}

const maxPassword = 255 // bytes, of SOCKS (RFC 1929)

// ReadPassword sets the password of the proxy to the first line of a file, which [secret.Open] opens.
func (p *Proxy) ReadPassword(name string) error {
	file, err := secret.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxPassword+2))
	if err != nil {
		return err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	line = bytes.TrimRight(line, "\r")
	if len(line) == 0 || len(line) > maxPassword || p.url.User.Username() == "" {
		return fmt.Errorf("%s: a password has 1 to %d bytes, and the proxy's URL names its user", name, maxPassword)
	}
	p.url.User = url.UserPassword(p.url.User.Username(), string(line))
	return nil
}

// isSOCKS reports whether connections are opened by SOCKS; http.Transport handles the other proxies.
func (p *Proxy) isSOCKS() bool { return p != nil && strings.HasPrefix(p.url.Scheme, "socks") }

// resolves reports whether the proxy resolves the names of hosts.
func (p *Proxy) resolves() bool { return p != nil && p.url.Scheme != "socks5" }

// dial opens a connection by SOCKS to an address or, if the proxy resolves names, to a host.
func (p *Proxy) dial(ctx context.Context, network *net.Dialer, hostPort string) (net.Conn, error) {
	var auth *proxy.Auth
	if user := p.url.User; user != nil {
		password, _ := user.Password()
		auth = &proxy.Auth{User: user.Username(), Password: password}
	}
	d, err := proxy.SOCKS5("tcp", p.url.Host, auth, network)
	if err != nil {
		return nil, err
	}
	return d.(proxy.ContextDialer).DialContext(ctx, "tcp", hostPort)
}

// checkStated refuses a URL that contains a special address. No other check is possible if the
// proxy resolves names.
func (o *Options) checkStated(u *weburl.URL) error {
	if o.AllowPrivate || !o.Proxy.resolves() {
		return nil
	}
	host := u.Hostname()
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	switch {
	case host == "localhost" || strings.HasSuffix(host, ".localhost"):
		return &dialError{host, netip.IPv6Loopback(), &specialError{"loopback"}}
	case err != nil:
		return nil
	}
	if kind := special(addr); kind != "" {
		return &dialError{host, addr, &specialError{kind}}
	}
	return nil
}
