package rules

import (
	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/config"
	"anatomy/searcher/reload"
	"anatomy/web"
)

// A Site is what the anatomy.toml of a data folder says of the pages of its collection, of pages
// elsewhere that may have its search box, and of its crawler.
type Site struct {
	Name    string // "" for none
	Look    web.Look
	Origins []string
	Agent   string // that the crawl has instead of the usual User-Agent, or ""
	Contact string // of the crawl, or ""
}

// ReadSite reads what the anatomy.toml of a data folder says.
func ReadSite(dir string) (Site, error) {
	c, err := readOrNew(dir)
	key := ""
	s := Site{}
	if err == nil {
		s = Site{c.Search.Name, web.Look{Accent: c.Search.Accent}, c.Search.Origins, flagOf(c, "user-agent"), flagOf(c, "contact")}
		key, err = "name", c.Search.CheckName()
	}
	if err == nil {
		key, err = "accent", c.Search.CheckAccent()
	}
	if err == nil {
		key, err = originsKey, web.CheckAccess(nil, s.Origins)
	}
	if err == nil {
		key = "logo"
		s.Look.Logo, s.Look.LogoType, err = c.ReadLogo()
	}
	if err == nil {
		return s, nil
	}
	if key != "" {
		err = c.Problem(err, "search", key)
	}
	at := cli.GlobalFlags{Data: dir}
	return Site{}, cli.WithHint(err, "to see all that is wrong: "+at.Command("config check"))
}

// flagOf returns the one value that a file has for a flag, or "".
func flagOf(c *config.Config, name string) string {
	values, ok, err := c.Flag(name)
	if !ok || err != nil || len(values) != 1 {
		return ""
	}
	return values[0]
}

// OpenLogin opens what the anatomy.toml of a data folder says of logins, see [open]: true if readers have to
// log in. On a node of a cluster the file comes with the first copy.
func OpenLogin(dir string, onError func(error)) (*reload.File[bool], error) {
	return open(dir, func(c *config.Config) (bool, error) { return c.Search.Login, nil }, onError)
}
