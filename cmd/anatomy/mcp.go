package main

import (
	"context"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"anatomy/disk/datadir"
)

func newMCP(s *shared) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "tools for language models, over standard input and output",
		Long: `Mcp speaks the Model Context Protocol on standard input and output, for programs that start their tools
themselves: a model can search the data folder, read its pages and ask what it holds. It follows the folder as
serve does. Programs that reach their tools over HTTP find the same ones at /mcp of "anatomy serve".`,
		Example: `  anatomy mcp --data /srv/anatomy-data
  claude mcp add docs -- anatomy mcp --data /srv/anatomy-data`,
		Args: exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := datadir.CheckVersion(s.data); err != nil {
				return err
			}
			collection, err := openCollection(s.data, serveOptions{log: s.logger(c.ErrOrStderr(), true)})
			if err != nil {
				return err
			}
			defer collection.Close()
			return collection.run(c.Context(), func(ctx context.Context) error {
				return collection.server.Tools().Run(ctx, &mcp.IOTransport{
					Reader: io.NopCloser(c.InOrStdin()), Writer: unclosed{c.OutOrStdout()},
				})
			})
		},
	}
}

// unclosed is a writer that the transport may close, and the command goes on with.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
