package rules

import (
	"errors"
	"io/fs"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/config"
	"anatomy/searcher/pins"
)

// OpenPins opens the pins of the anatomy.toml of a data folder. onError receives the errors of later
// versions, whose pins are not used.
func OpenPins(dir string, onError func(error)) (*pins.File, error) {
	at := cli.GlobalFlags{Data: dir}
	file, err := pins.Open(config.Path(dir), readPins, onError)
	if err != nil {
		return nil, cli.WithHint(err, "to see all that is wrong: "+at.Command("config check"))
	}
	return file, nil
}

// readPins reads the pins of a file, which may be missing.
func readPins(path string) (*pins.Table, error) {
	c, err := config.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t, wrong := pinsOf(c)
	if len(wrong) > 0 {
		return nil, c.PinProblem(wrong[0].Reason, wrong[0].Pin, wrong[0].Key)
	}
	return t, nil
}

// pinsOf returns the pins of a config.
func pinsOf(c *config.Config) (*pins.Table, []pins.Problem) {
	var all []pins.Pin
	for _, p := range c.Search.Pins {
		all = append(all, pins.Pin(p))
	}
	return pins.New(all)
}

// AddPin adds a pin to the anatomy.toml of a data folder.
func AddPin(dir string, pin config.Pin) error {
	c, err := readOrNew(dir)
	if err != nil {
		return err
	}
	c.Search.Pins = append(c.Search.Pins, pin)
	if _, wrong := pinsOf(c); len(wrong) > 0 {
		return wrong[len(wrong)-1].Reason
	}
	return c.Write()
}
