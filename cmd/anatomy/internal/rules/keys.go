package rules

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"anatomy/cmd/anatomy/internal/cli"
)

// Flags are the flags of crawl that anatomy.toml keeps. They decide what is fetched and how.
var Flags = []string{
	"url", "scope", "include", "exclude", "policy", "topic", "delay", "max-pages", "max-pages-per-host",
	"max-depth", "max-repeats", "max-urls-per-site", "max-mb-per-site", "max-parsing-per-site",
	"per-site", "per-address", "delay-for", "connections-for", "connections", "resolver",
	"allow-private", "no-index", "no-icons", "keep-headers", "contact", "user-agent", "credentials", "http-port", "https-port",
	"bind", "proxy", "proxy-password", "max-rate", "render", "chromium", "schedule",
}

// ownerKeys are the flags that name files and programs of the machine, or its ways to other machines.
// Who can only reach the admin page cannot change them.
var ownerKeys = []string{
	"topic", "credentials", "chromium", "resolver", "allow-private", "bind", "proxy", "proxy-password", "http-port", "https-port",
}

// searchKeys are the keys of [search].
var searchKeys = []string{"name", "accent", "logo", "login", originsKey, "ranking", "languages", "labels", "synonyms", "pins"}

// followed are the keys of [search] that a running server follows. It follows the others from its next start.
var followed = []string{"login", "ranking", "languages", "labels", "pins"}

// originsKey is the key of [search] with the origins of pages that may have the search box.
const originsKey = "allow_origins"

// searchKey returns the key of [search] that a misspelt one is likely meant to be, or "".
func searchKey(key string) string { return cli.Nearest(strings.ReplaceAll(key, "-", "_"), searchKeys) }

// Settable are the keys of [search] that the command line can set, all but pins.
var Settable = slices.DeleteFunc(slices.Clone(searchKeys), func(key string) bool { return key == "pins" })

// SettableKey returns the key of [search] that a name of the command line means, such as search.login, or "".
func SettableKey(name string) string {
	key := strings.ReplaceAll(strings.TrimPrefix(name, "search."), "-", "_")
	if slices.Contains(Settable, key) {
		return key
	}
	return ""
}

// Followed returns who follows a change of a key in a data folder, as a sentence.
func Followed(key, dir string) string {
	switch {
	case slices.Contains(followed, key):
		return "A running server of " + dir + " follows this within a second."
	case slices.Contains(searchKeys, key):
		return "A server of " + dir + " follows this from its next start."
	}
	return "The next crawl of " + dir + " follows this."
}

// urlKey is the flag of start URLs. Those that are given are added to the kept ones.
const urlKey = "url"

// CheckKey returns an error if a key is not kept. isFlag: the key is a flag of crawl.
func CheckKey(name string, isFlag bool) error {
	if slices.Contains(Flags, name) {
		return nil
	}
	if isFlag {
		return fmt.Errorf("unknown key; --%s is for one crawl and is not kept", name)
	}
	name = strings.TrimPrefix(name, "search.")
	if meant := searchKey(name); meant == strings.ReplaceAll(name, "-", "_") {
		return fmt.Errorf("unknown key; %s belongs below [search] of anatomy.toml, edit the file", meant)
	}
	if meant := cli.Nearest(strings.ReplaceAll(name, "_", "-"), Flags); meant != "" {
		return fmt.Errorf("unknown key; did you mean %s?", meant)
	}
	if meant := searchKey(name); meant != "" {
		return fmt.Errorf("unknown key; did you mean %s of [search]?", meant)
	}
	return errors.New("unknown key")
}

// fileKeys are the keys with names of files.
var fileKeys = []string{"credentials", "topic", "proxy-password", "logo", "synonyms"}

// KeptValue returns a value of a key as it is kept: the name of a file does not depend on the current
// folder.
func KeptValue(key, value string) (string, error) {
	if !slices.Contains(fileKeys, key) || value == "" {
		return value, nil
	}
	return filepath.Abs(value)
}
