package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/internal/secret"
	"anatomy/web"
	"anatomy/web/admin"
)

// doorFlags configure the names under which the search page answers, the sites that may use it, and
// its tokens.
type doorFlags struct {
	hosts     []string // --allow-host
	origins   []string // --cors
	public    bool     // --public-only
	token     string   // file of --token
	readToken string   // file of --read-token
}

func (f *doorFlags) add(flags *pflag.FlagSet, with string) {
	flags.StringArrayVar(&f.hosts, "allow-host", nil,
		"answer under the host name `NAME`, too, or *.NAME for all below it"+with+" (repeatable)")
	flags.StringArrayVar(&f.origins, "cors", nil,
		"let scripts of `ORIGIN`, such as https://app.example.org, read answers; * for all"+with+
			" (repeatable)")
	flags.BoolVar(&f.public, "public-only", false,
		"need no login, and refuse a data folder with pages fetched with credentials"+with)
	flags.StringVar(&f.token, "token", "", "token for signing in to the admin page, in `FILE`, "+
		"which must be readable by you alone (default: $ANATOMY_TOKEN)"+with)
	flags.StringVar(&f.readToken, "read-token", "",
		"token for reading pages fetched with credentials, and for nothing else, in `FILE`"+with)
}

// tokens returns the tokens of --token and --read-token.
func (f *doorFlags) tokens() (admin, read string, err error) {
	if admin, err = readToken("--token", f.token, os.Getenv("ANATOMY_TOKEN")); err != nil {
		return "", "", err
	}
	if read, err = readToken("--read-token", f.readToken, ""); err != nil {
		return "", "", err
	}
	if read != "" && read == admin {
		return "", "", cli.WithHint(errors.New("--read-token: this is the token of the admin page"),
			"to make one: openssl rand -hex 16")
	}
	return admin, read, nil
}

// readToken reads the token of a flag: the first line of a file, which secret.Open opens. Without a
// file it is the value of ANATOMY_TOKEN, which may be empty.
func readToken(flag, file, token string) (string, error) {
	from := "ANATOMY_TOKEN"
	if file != "" {
		f, err := secret.Open(file)
		if err != nil {
			return "", exposed(fmt.Errorf("%s: %w", flag, err), file)
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		if err != nil {
			return "", fmt.Errorf("%s: %w", flag, err)
		}
		token, _, _ = strings.Cut(string(text), "\n")
		from = file
	} else if token == "" {
		return "", nil
	}
	if token = strings.TrimSpace(token); len(token) < admin.MinToken {
		return "", cli.WithHint(fmt.Errorf("%s: the token of %s has %d characters; the minimum is %d",
			flag, from, len(token), admin.MinToken), "to make one: openssl rand -hex 16")
	}
	return token, nil
}

// exposed adds a hint to an error of a file with a secret that others can read.
func exposed(err error, file string) error {
	if errors.Is(err, secret.ErrExposed) {
		return cli.WithHint(err, "chmod 600 "+cli.ShellQuote(file))
	}
	return err
}

// check returns a UsageError for an invalid name or origin.
func (f *doorFlags) check() error {
	if err := web.CheckAccess(f.hosts, nil); err != nil {
		return cli.UsageErrorf("--allow-host: %w", err)
	}
	if err := web.CheckAccess(nil, f.origins); err != nil {
		return cli.UsageErrorf("--cors: %w", err)
	}
	return nil
}

// names returns the names under which a server that listens at an address answers.
func (f *doorFlags) names(listen string, more ...string) []string {
	host, _, _ := net.SplitHostPort(listen) // listening fails where it cannot be split
	return append(slices.Concat(f.hosts, more), host)
}
