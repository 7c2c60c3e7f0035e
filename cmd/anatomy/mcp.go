package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/disk/shards"
)

func newMCP(s *cli.GlobalFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "serve tools for language models on standard input and output",
		Long: `Mcp serves the Model Context Protocol on standard input and output, for programs that start their tool servers
themselves. A model can search the data folder, read its pages and see what it holds. New pages of a running
crawl are found as with serve. The same tools are served over HTTP at /mcp of "anatomy serve".`,
		Example: `  anatomy mcp --data /srv/anatomy-data
  claude mcp add docs -- anatomy mcp --data /srv/anatomy-data`,
		Args: cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := shards.Check(s.Data); err != nil {
				return err
			}
			f, err := openFolder(s.Data, "", nil, serveOptions{log: s.Logger(c.ErrOrStderr(), true)})
			if err != nil {
				return err
			}
			defer f.Close()
			err = runTasks(c.Context(), []*folder{f}, func(ctx context.Context) error {
				return f.server.Tools().Run(ctx, &mcp.IOTransport{
					Reader: io.NopCloser(c.InOrStdin()), Writer: unclosed{c.OutOrStdout()},
				})
			})
			if err != nil && !cli.IsInterrupted(err) && !errors.As(err, new(*fs.PathError)) {
				err = cli.WithHint(fmt.Errorf("standard input is not JSON of the Model Context Protocol: %w", err),
					"a client of the protocol starts this command, see its --help")
			}
			return err
		},
	}
}

// unclosed is a writer with a Close that does nothing: the transport closes what it writes to.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
