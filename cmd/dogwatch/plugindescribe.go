package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/oneshot"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// writeIsolation says what a third-party plugin may not do, and which capabilities it asks for in vain.
func writeIsolation(w io.Writer, p plugin.Status) {
	if p.Builtin {
		return
	}
	if p.Isolation != nil {
		fmt.Fprintf(w, "\n%s: %s\n", printable(p.Name), printable(p.Isolation.String()))
	}
	for _, capability := range p.Requested {
		if !slices.Contains(p.Grants, capability) {
			fmt.Fprintf(w, "\n%s: asks for %s; to grant it, run: dogwatch plugin grants %s --grant %s\n",
				printable(p.Name), capability, printable(p.Name), capability)
		}
	}
}

func newPluginDescribe(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "describe TYPE",
		Short: "Print what a type does and its options",
		Long: `Prints what a type of watcher, registry or trigger does, and its options with
their defaults. The kind in front may be left out. Types of executables in
plugins.dir are known, too; config docs prints a page with an example.`,
		Example: `  # a trigger
  dogwatch plugin describe trigger.smtp

  # the kind may be left out
  dogwatch plugin describe docker`,
		Args:              exactly(1),
		ValidArgsFunction: first(typeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := g.findTypes(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			for i, t := range found {
				if i > 0 {
					fmt.Fprintln(g.stdout)
				}
				if err := writeType(g.stdout, t.Type); err != nil {
					return err
				}
				writeHolder(g.stdout, t.holder)
			}
			return nil
		},
	}
}

// heldType is a type and the plugin that holds it.
type heldType struct {
	kind.Type
	holder plugin.Status
}

// writeHolder tells of the third-party plugin that holds a type; of a built-in one there is nothing to tell.
func writeHolder(w io.Writer, p plugin.Status) {
	if p.Builtin {
		return
	}
	fmt.Fprintf(w, "\nPlugin %s, version %s, SDK %s\n", printable(p.Name), printable(cmp.Or(p.Version, "not known")),
		printable(cmp.Or(p.SDK, "not known")))
	if p.Note != "" {
		fmt.Fprintf(w, "It was %s\n", printable(p.Note))
	}
	writeIsolation(w, p)
}

// findTypes returns the types of a name, of the built-in ones and, when there
// is none, of those in plugins.dir.
func (g *global) findTypes(ctx context.Context, name string) ([]heldType, error) {
	instance, _, err := g.newOneShot(kind.Kinds()...)
	if err != nil {
		return nil, err
	}
	defer instance.Close()
	k, typ := splitType(name)
	if found, _ := typesNamed(instance, k, typ); len(found) > 0 {
		return found, nil
	}
	err = instance.DiscoverUntil(ctx, func() bool {
		found, _ := typesNamed(instance, k, typ)
		return len(found) > 0
	})
	if err != nil {
		return nil, err
	}
	found, known := typesNamed(instance, k, typ)
	if len(found) > 0 {
		return found, nil
	}
	message := fmt.Sprintf("unknown type %q%s (types: %s)", name, nearest(typ, known), strings.Join(known, ", "))
	if why := instance.UnusablePlugins(); why != "" {
		message += "; " + why
	}
	return nil, errors.New(message)
}

// typesNamed returns the types of a name, and the names of all.
func typesNamed(instance *oneshot.Instance, k kind.Kind, typ string) (found []heldType, known []string) {
	for _, which := range kind.Kinds() {
		for _, t := range instance.Types(which) {
			if k != "" && k != which {
				continue
			}
			known = append(known, t.Name)
			if t.Name == strings.ToLower(typ) {
				holder, _ := instance.Holder(which, t.Name)
				found = append(found, heldType{t, holder})
			}
		}
	}
	slices.Sort(known)
	return found, slices.Compact(known)
}

func writeType(w io.Writer, t kind.Type) error {
	path := string(t.Kind) + "." + t.Name + ".NAME."
	fmt.Fprintf(w, "%s.%s: %s\n", t.Kind, t.Name, t.Summary)
	if t.DocsURL != "" {
		fmt.Fprintln(w, t.DocsURL)
	}
	fmt.Fprintf(w, "\nIn a file: %sOPTION. In the environment: %sOPTION.\n", path, config.ShortEnvName(path))
	if t.DefaultName != "" {
		fmt.Fprintf(w, "Without configuration there is one called %s.\n", t.DefaultName)
	}
	if t.Kind == kind.Trigger && t.Guarantee == kind.AtMostOnce {
		fmt.Fprintln(w, "A run whose outcome is lost is not repeated.")
	}
	if err := writeSchema(w, "Options", t.Options); err != nil {
		return err
	}
	return writeSchema(w, "Options of every "+string(t.Kind), component.HostOptions(t.Kind))
}

// longDefault is the length from which a default would push the help out of sight.
const longDefault = 24

func writeSchema(w io.Writer, title string, schema option.Schema) error {
	if len(schema) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n%s\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, o := range schema {
		value, help := "", o.Help
		switch {
		case o.Required:
			value = "required"
		case o.Default != nil && len(*o.Default) > longDefault:
			help += "; default: " + strings.ReplaceAll(*o.Default, "\n", `\n`)
		case o.Default != nil:
			value = *o.Default
		}
		if len(o.Choices) > 0 {
			help += " (" + strings.Join(o.Choices, ", ") + ")"
		}
		if o.Secret {
			help += " (secret)"
		}
		if o.Deprecated != "" {
			help += " (deprecated: " + o.Deprecated + ")"
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", o.Name, o.Type, value, help)
	}
	return t.Flush()
}
