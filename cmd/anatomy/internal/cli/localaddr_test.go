package cli

import "testing"

func TestLocalAddr(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, "127.0.0.1": true, "nonsense": false, "::1": false,
		"192.0.2.1": false, // for documentation: no machine has it
	} {
		addr, err := LocalAddr(text)
		if (err == nil) != ok || ok && addr.IsValid() != (text != "") {
			t.Errorf("%q: %v, %v", text, addr, err)
		}
	}
}
