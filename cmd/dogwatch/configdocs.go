package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

//go:generate go run . config docs --output ../../docs/configuration.md
//go:generate go run . config docs --dir ../../docs/providers
//go:generate go run ../../internal/gallery/generate ../..

func newConfigDocs(g *global) *cobra.Command {
	var format, output, dir string
	write := map[string]func() (string, error){
		"markdown": func() (string, error) { return configurationPage(), nil },
		"yaml":     func() (string, error) { return config.Sample(allTypes(), hostOptions()) },
	}
	cmd := &cobra.Command{
		Use:   "docs [TYPE]",
		Short: "Print the documentation of everything that can be set",
		Long: `Prints the documentation of the settings, or of a type such as trigger.ntfy with
all its options, their variables and an example. Types of executables in plugins.dir
are known by their names, too; the pages of all are those that are built in.`,
		Example: `  # everything, page by page
  dogwatch config docs

  # one type, with an example to copy
  dogwatch config docs trigger.ntfy

  # a file to start from, in which everything is commented out
  dogwatch config docs --format yaml > dogwatch.yaml`,
		Args:              arguments(0, 1),
		ValidArgsFunction: first(typeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			document, known := write[format]
			switch {
			case !known:
				return usage(fmt.Errorf("unknown format %q: use markdown or yaml", format))
			case dir != "" && (output != "" || len(args) > 0):
				return usage(errors.New("--dir writes all pages: leave out --output and the type"))
			case dir != "":
				return writePages(dir)
			case len(args) > 0:
				document = func() (string, error) { return g.typePage(cmd.Context(), args[0]) }
			}
			text, err := document()
			if err != nil {
				return err
			}
			if output != "" {
				return os.WriteFile(output, []byte(text), 0o644)
			}
			_, err = fmt.Fprint(g.stdout, text)
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "markdown", "markdown, or yaml for a file with everything commented out")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this `file`")
	cmd.Flags().StringVar(&dir, "dir", "", "write a page for each type into this `folder`")
	_ = cmd.RegisterFlagCompletionFunc("format",
		cobra.FixedCompletions([]string{"markdown", "yaml"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// configurationPage returns the documentation of the settings and of the labels of containers.
func configurationPage() string {
	return config.Reference(allTypes(), hostOptions()) + label.Reference()
}

// typePage returns the documentation of a type, named as trigger.ntfy.
func (g *global) typePage(ctx context.Context, name string) (string, error) {
	k, typ := splitType(strings.ToLower(name))
	i := slices.IndexFunc(allTypes(), func(t kind.Type) bool { return t.Kind == k && t.Name == typ })
	if i >= 0 {
		pages, err := config.Pages(allTypes()[i : i+1])
		if err != nil {
			return "", err
		}
		return pages[len(pages)-1].Text, nil
	}
	found, err := g.findTypes(ctx, name)
	if err != nil {
		return "", usage(err)
	}
	var all []string
	for _, t := range found {
		text, err := config.PageOf(t.Type)
		if err != nil {
			return "", err
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n"), nil
}

// writePages writes the documentation of all types below a folder.
func writePages(dir string) error {
	pages, err := config.Pages(allTypes())
	if err != nil {
		return err
	}
	for _, p := range pages {
		name := filepath.Join(dir, filepath.FromSlash(p.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(p.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
