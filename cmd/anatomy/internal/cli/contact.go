package cli

import (
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// AddContactFlag adds --contact. servers names whom the User-Agent addresses: "sites".
func AddContactFlag(c *cobra.Command, contact *string, servers string) {
	c.Flags().StringVar(contact, "contact", os.Getenv("ANATOMY_CONTACT"), "mail or web `ADDRESS` at which operators of "+
		servers+" reach you, for the User-Agent (default: $ANATOMY_CONTACT)")
}

// CheckContact returns a UsageError if the value of --contact is neither a mail address nor a URL.
func CheckContact(contact string) error {
	switch {
	case !IsLine(contact):
		return UsageErrorf("--contact takes one line of text")
	case contact != "" && !strings.ContainsAny(contact, "@/"):
		return UsageErrorf("--contact or $ANATOMY_CONTACT: %q is neither a mail address nor a URL; "+
			"use one like crawl@example.org or https://example.org/crawler", contact)
	}
	return nil
}

// IsLine reports whether s can be the value of a header field.
func IsLine(s string) bool { return !strings.ContainsFunc(s, unicode.IsControl) }
