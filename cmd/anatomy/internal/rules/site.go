package rules

import "anatomy/cmd/anatomy/internal/cli"

// A Look is what the pages of a collection have of their own, as web.Look.
type Look struct {
	Accent   string
	Logo     []byte
	LogoType string
}

// ReadSite returns the name and the look that the anatomy.toml of a data folder gives to the collection;
// "" for no name.
func ReadSite(dir string) (name string, look Look, err error) {
	c, err := readOrNew(dir)
	key := ""
	if err == nil {
		key, err = "name", c.Search.CheckName()
	}
	if err == nil {
		key, err = "accent", c.Search.CheckAccent()
	}
	if err == nil {
		key = "logo"
		look.Logo, look.LogoType, err = c.ReadLogo()
	}
	if err == nil {
		look.Accent = c.Search.Accent
		return c.Search.Name, look, nil
	}
	if key != "" {
		err = c.Problem(err, "search", key)
	}
	at := cli.GlobalFlags{Data: dir}
	return "", Look{}, cli.WithHint(err, "to see all that is wrong: "+at.Command("config check"))
}
