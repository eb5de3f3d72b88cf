package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin/install"
)

// sensitive returns the capabilities that are only given to plugins that a user grants them to.
func sensitive(capabilities []string) []string {
	return slices.DeleteFunc(slices.Clone(capabilities), func(c string) bool {
		return !slices.Contains(config.Grantable(), c)
	})
}

// requested names the capabilities that a plugin asks for, and which of them it has already.
func (p pluginFolder) requested(s *install.Staged) string {
	var all []string
	for _, c := range sensitive(s.Capabilities) {
		switch {
		case slices.Contains(p.cfg.Plugins.Grants()[s.Name], c):
			c += " (granted by the configuration)"
		case slices.Contains(s.KeptGrants(), c):
			c += " (granted before)"
		}
		all = append(all, c)
	}
	return cmp.Or(strings.Join(all, ", "), "no capabilities")
}

// grant settles what a plugin that is about to be installed is granted: what it was
// before, what the flags name, and what a user agrees to. The rest is held back.
func (p pluginFolder) grant(ctx context.Context, s *install.Staged) error {
	wanted := sensitive(s.Capabilities)
	for _, c := range p.flags.grants {
		if !slices.Contains(wanted, c) {
			return usage(fmt.Errorf("--grant: %s does not ask for the capability %s, and is not installed (it asks for %s)", s.Name, c, cmp.Or(strings.Join(wanted, ", "), "none")))
		}
	}
	s.Grants = s.KeptGrants()
	var held []string
	for _, c := range wanted {
		switch {
		case slices.Contains(s.Grants, c) || slices.Contains(p.cfg.Plugins.Grants()[s.Name], c):
		case slices.Contains(p.flags.grants, c),
			!p.flags.yes && len(p.flags.grants) == 0 && interactive() &&
				p.g.says(ctx, fmt.Sprintf("Grant it %s (%s)?", c, config.Gives(c))):
			s.Grants = append(s.Grants, c)
		default:
			held = append(held, c)
		}
	}
	if ctx.Err() != nil {
		return errors.New("nothing was changed")
	}
	if len(s.Grants) > 0 {
		fmt.Fprintf(p.g.stdout, "%-14s %s\n", "granted", strings.Join(s.Grants, ", "))
	}
	if len(held) > 0 {
		fmt.Fprintf(p.g.stdout, "%-14s %s: to grant it, run dogwatch plugin grants %s --grant %s\n", "not granted",
			strings.Join(held, ", "), printable(s.Name), strings.Join(held, ","))
	}
	return nil
}

func newPluginGrants(g *global) *cobra.Command {
	var grant, revoke []string
	cmd := &cobra.Command{
		Use:   "grants [NAME]",
		Short: "Show, grant and revoke the capabilities of installed plugins",
		Long: `Shows which capabilities installed plugins ask for and have, or grants and revokes
those of one. A plugin has no capability that it is not granted. A Dogwatch that serves
starts the plugin again within two seconds with what it is granted then. What
plugins.grants and plugins.install grant is changed there.

The capabilities: credentials, the logins of registries; engine, the container engine
and with it the machine; operate, to have containers updated; run, to have other
triggers run; decide, to decide about updates for its users.`,
		Example: `  # who may do what
  dogwatch plugin grants

  # grant, and revoke
  dogwatch plugin grants trigger-pull --grant credentials
  dogwatch plugin grants trigger-pull --revoke credentials`,
		Args:              arguments(0, 1),
		ValidArgsFunction: first(g.bundleNames(false)),
		RunE: func(cmd *cobra.Command, args []string) error {
			changes := len(grant)+len(revoke) > 0
			switch {
			case changes && len(args) == 0:
				return usage(errors.New("say of which plugin: dogwatch plugin grants NAME --grant …"))
			case slices.ContainsFunc(grant, func(c string) bool { return slices.Contains(revoke, c) }):
				return usage(errors.New("--grant and --revoke name the same capability"))
			}
			if err := errors.Join(grantable("--grant", grant), grantable("--revoke", revoke)); err != nil {
				return usage(err)
			}
			if !changes {
				return g.showGrants(args)
			}
			return g.withPlugins(cmd.Context(), installFlags{}, func(_ context.Context, p pluginFolder) error {
				return p.changeGrants(args[0], grant, revoke)
			})
		},
	}
	cmd.Flags().StringSliceVar(&grant, "grant", nil, "`capabilities` to grant")
	cmd.Flags().StringSliceVar(&revoke, "revoke", nil, "`capabilities` to take away")
	return cmd
}

// changeGrants grants and revokes capabilities of an installed plugin.
func (p pluginFolder) changeGrants(name string, grant, revoke []string) error {
	var granted []string
	for _, st := range p.Installed() {
		if st.Name == name {
			granted = st.Granted
		}
	}
	if !slices.ContainsFunc(p.Installed(), func(st install.Status) bool { return st.Name == name }) {
		return placedByHand(p.cfg, name, grant)
	}
	granted = slices.DeleteFunc(append(slices.Clone(granted), grant...), func(c string) bool {
		return slices.Contains(revoke, c)
	})
	slices.Sort(granted)
	granted = slices.Compact(granted)
	if err := p.Grant(name, granted); err != nil {
		return err
	}
	fmt.Fprintf(p.g.stdout, "%s is granted %s\n", printable(name), cmp.Or(strings.Join(granted, ", "), "nothing"))
	if kept := overlap(p.cfg.Plugins.Grants()[name], revoke); len(kept) > 0 {
		return fmt.Errorf("the configuration grants %s to %s: take it out of plugins.grants or plugins.install, and run dogwatch reload", strings.Join(kept, ", "), name)
	}
	return nil
}

// placedByHand says where a plugin is granted capabilities that was not installed by a command.
func placedByHand(cfg *config.Config, name string, capabilities []string) error {
	if _, err := os.Stat(filepath.Join(cfg.Plugins.Dir, name)); err != nil {
		return fmt.Errorf("there is no plugin %s in %s", printable(name),
			cmp.Or(cfg.Plugins.Dir, "plugins.dir, which is not set"))
	}
	has := cfg.Plugins.Grants()[name]
	if len(capabilities) == 0 {
		return fmt.Errorf("%s was put into plugins.dir by hand: plugins.grants grants it what it may (now: %s); "+
			"dogwatch plugin list shows what it asks for",
			printable(name), cmp.Or(strings.Join(has, ", "), "nothing"))
	}
	var all []string
	for _, c := range append(has, capabilities...) {
		all = append(all, name+"="+c)
	}
	return fmt.Errorf("%s was put into plugins.dir by hand, so the configuration grants it what it may: set "+
		"plugins.grants: [%s] (%s), and run dogwatch reload",
		printable(name), strings.Join(all, ", "), "DOGWATCH_PLUGINS_GRANTS="+strings.Join(all, ","))
}

// overlap returns what is in both lists.
func overlap(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(c string) bool { return !slices.Contains(b, c) })
}

// showGrants changes nothing, and waits for no command that does.
func (g *global) showGrants(names []string) error {
	cfg, err := g.load(nil)
	if err != nil {
		return err
	}
	all, err := install.Read(cfg.Plugins.Dir)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		all = slices.DeleteFunc(all, func(st install.Status) bool { return st.Name != names[0] })
		if len(all) == 0 {
			return placedByHand(cfg, names[0], nil)
		}
	}
	return writeGrants(g.stdout, all, cfg.Plugins.Grants())
}

func writeGrants(w io.Writer, all []install.Status, configured map[string][]string) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "no plugin was installed by dogwatch plugin install or plugins.install")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tASKS FOR\tGRANTED\tBY THE CONFIGURATION")
	dash := func(list []string) string { return printable(cmp.Or(strings.Join(list, ", "), "-")) }
	for _, st := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", printable(st.Name), dash(sensitive(st.Capabilities)), dash(st.Granted),
			dash(configured[st.Name]))
	}
	return t.Flush()
}
