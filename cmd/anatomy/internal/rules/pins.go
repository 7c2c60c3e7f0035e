package rules

import (
	"anatomy/config"
	"anatomy/searcher/pins"
)

// openPins opens the pins of the anatomy.toml of a data folder, see [open].
func openPins(dir string, onError func(error)) (*pins.File, error) {
	return open(dir, func(c *config.Config) (*pins.Table, error) {
		t, wrong := pinsOf(c)
		if len(wrong) > 0 {
			return nil, c.PinProblem(wrong[0].Reason, wrong[0].Pin, wrong[0].Key)
		}
		return t, nil
	}, onError)
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
