package main

import (
	"os"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/indexer/pdftext"
)

// newPDF returns the command that a crawl runs in a separate process for each PDF, so that a
// hostile file can exhaust only that process.
func newPDF() *cobra.Command {
	return &cobra.Command{
		Use:    "pdf",
		Hidden: true,
		Short:  "convert a PDF to HTML",
		Long: `Pdf reads a PDF from standard input and writes its text as an HTML page with title, headings, paragraphs and links.
It is limited to 20 s and 768 MB. A crawl runs it for each PDF.`,
		Example: "  anatomy pdf < paper.pdf > paper.html",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return pdftext.Serve(c.InOrStdin(), c.OutOrStdout())
		},
	}
}

// readPDF returns the converter of PDF to HTML, or nil if the path of this program is unknown.
func readPDF() func([]byte) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return (&pdftext.Converter{Command: []string{self, "pdf"}}).Convert
}
