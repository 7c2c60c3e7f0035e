package main

import (
	"os"

	"github.com/spf13/cobra"

	"anatomy/indexer/pdftext"
)

// newPDF is the command that this program runs itself by for each PDF, so that one that is broken on
// purpose breaks no more than that.
func newPDF() *cobra.Command {
	return &cobra.Command{
		Use:    "pdf",
		Hidden: true,
		Short:  "make HTML of a PDF",
		Long: `Pdf reads a PDF from standard input and writes its text as a page of HTML: title, headings, paragraphs by page, and
links. It takes no more than 20 s and 768 MB. A crawl runs it for each PDF.`,
		Example: "  anatomy pdf < paper.pdf > paper.html",
		Args:    exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return pdftext.Serve(c.InOrStdin(), c.OutOrStdout())
		},
	}
}

// readPDF is what makes pages of PDF; nil where the system does not tell which program this is.
func readPDF() func([]byte) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return (&pdftext.Converter{Command: []string{self, "pdf"}}).Convert
}
