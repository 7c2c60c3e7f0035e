// Package serving reads the flags of the command serve that have a syntax of their own. Errors name the flag.
package serving

import (
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"strings"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/disk/shards"
	"anatomy/weburl"
)

// minKey is the minimum length of an API key.
const minKey = 16

// ReadKeys reads API keys, one per line. Empty lines and comments after # are skipped.
func ReadKeys(file string) ([]string, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--api-keys: %w", err)
	}
	var keys []string
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		key, _, _ := strings.Cut(line, "#")
		if key = strings.TrimSpace(key); key == "" {
			continue
		}
		if len(key) < minKey {
			return nil, cli.WithHint(fmt.Errorf("--api-keys: %s:%d: the key has %d characters; the minimum is %d", file, number, len(key), minKey),
				"to make one: openssl rand -hex 16")
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("--api-keys: %s holds no key; leave the flag out for an open API", file)
	}
	return keys, nil
}

// ParseProxies parses addresses and networks.
func ParseProxies(texts []string) (all []netip.Prefix, err error) {
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			var address netip.Addr
			if address, err = netip.ParseAddr(text); err == nil {
				network, err = address.Prefix(address.BitLen())
			}
		}
		if err != nil {
			return nil, cli.UsageErrorf("--trusted-proxy %q is not an address or network, such as 127.0.0.1 or 10.0.0.0/8", text)
		}
		all = append(all, network)
	}
	return all, nil
}

// ParseSiteSets parses NAME=SITE,SITE.
func ParseSiteSets(texts []string) (map[string][]string, error) {
	sets := map[string][]string{}
	for _, text := range texts {
		name, list, ok := strings.Cut(text, "=")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, cli.UsageErrorf("--site-set %q is not NAME=SITE,SITE, such as docs=docs.example.org,example.org/help", text)
		}
		for site := range strings.SplitSeq(list, ",") {
			site = strings.TrimSpace(site)
			if _, _, ok := weburl.SiteKeys(site); !ok {
				return nil, cli.UsageErrorf("--site-set %s: %q is not a site: give a host, or a host and a path", name, site)
			}
			sets[strings.TrimSpace(name)] = append(sets[strings.TrimSpace(name)], site)
		}
	}
	return sets, nil
}

// maxCollections bounds the collections of a server: a search of all searches each of them.
const maxCollections = 32

// collectionName is the form of a name in --collection, which becomes part of addresses.
var collectionName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// A Collection is a data folder that is served below the path /NAME/.
type Collection struct{ Name, Dir string }

// ParseCollections parses NAME=FOLDER.
func ParseCollections(texts []string) (all []Collection, err error) {
	if len(texts) >= maxCollections {
		return nil, cli.UsageErrorf("--collection: a server has at most %d collections", maxCollections)
	}
	for _, text := range texts {
		name, dir, ok := strings.Cut(text, "=")
		if !ok || dir == "" || !collectionName.MatchString(name) {
			return nil, cli.UsageErrorf("--collection %q is not NAME=FOLDER, such as wiki=wiki-data: the name is a part of addresses, with at most 32 of the letters a to z, digits, and hyphens", text)
		}
		if err := shards.CheckCopied(dir); err != nil {
			return nil, fmt.Errorf("--collection %s: %w", name, err)
		}
		all = append(all, Collection{name, dir})
	}
	return all, nil
}
