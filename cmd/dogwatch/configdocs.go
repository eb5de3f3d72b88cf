package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/label"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
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
all its options, their variables and an example. The types are those that are built
in; plugin describe knows those of executables in plugins.dir, too.`,
		Example: `  # everything, page by page
  dogwatch config docs

  # one type, with an example to copy
  dogwatch config docs trigger.ntfy

  # a file to start from, in which everything is commented out
  dogwatch config docs --format yaml > dogwatch.yaml`,
		Args:              arguments(0, 1),
		ValidArgsFunction: first(typeNames),
		RunE: func(_ *cobra.Command, args []string) error {
			document, known := write[format]
			switch {
			case !known:
				return usage(fmt.Errorf("unknown format %q: use markdown or yaml", format))
			case dir != "" && (output != "" || len(args) > 0):
				return usage(errors.New("--dir writes all pages: leave out --output and the type"))
			case dir != "":
				return writePages(dir)
			case len(args) > 0:
				document = func() (string, error) { return typePage(args[0]) }
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
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"markdown", "yaml"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// configurationPage returns the documentation of the settings and of the labels of containers.
func configurationPage() string {
	return config.Reference(allTypes(), hostOptions()) + label.Reference()
}

// typePage returns the documentation of a type, named as trigger.ntfy.
func typePage(name string) (string, error) {
	var names []string
	for _, t := range allTypes() {
		if id := string(t.Kind) + "." + t.Name; id != strings.ToLower(name) {
			names = append(names, id)
			continue
		}
		pages, err := config.Pages([]kind.Type{t})
		if err != nil {
			return "", err
		}
		return pages[len(pages)-1].Text, nil
	}
	err := fmt.Errorf("there is no built-in type %q", name)
	if near := option.Suggest(strings.ToLower(name), names); near != "" {
		err = fmt.Errorf("%w: did you mean %s?", err, near)
	}
	if k, typ := splitType(name); k != "" && typ != "" {
		return "", usage(fmt.Errorf("%w (of a type in plugins.dir: dogwatch plugin describe %s)", err, name))
	}
	return "", usage(err)
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
