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
	"time"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/core/plugin/install"
)

func newPluginOutdated(g *global) *cobra.Command {
	var asJSON bool
	timeout := time.Minute
	cmd := &cobra.Command{
		Use:   "outdated",
		Short: "List installed plugins, and newer versions of them",
		Long: `Lists the plugins that dogwatch plugin install or plugins.install put into plugins.dir,
where they come from, whose key signed them, and what is newer: a newer tag of the
same form, or another artifact under the same tag. What dogwatch plugin update would
refuse is passed over, and said. Plugins from addresses and files have no newer versions
that could be found.`,
		Example: `  # a table
  dogwatch plugin outdated

  # for a script
  dogwatch plugin outdated --json`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if timeout <= 0 {
				return usage(errors.New("--timeout: want more than 0"))
			}
			return g.outdated(cmd.Context(), timeout, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	cmd.Flags().DurationVar(&timeout, "timeout", timeout, "longest `time` for looking")
	return cmd
}

// outdated changes nothing, and waits for no command that does.
func (g *global) outdated(ctx context.Context, timeout time.Duration, asJSON bool) error {
	cfg, err := g.load(nil)
	if err != nil {
		return err
	}
	all, err := install.Read(cfg.Plugins.Dir)
	if err != nil {
		return err
	}
	install.FindChanged(cfg.Plugins.Dir, all)
	logins, err := g.registryLogins(cfg)
	if err != nil {
		return err
	}
	defer logins.Close()
	holders, err := g.typeHolders(ctx, cfg)
	if err != nil {
		return err
	}
	timed, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stop := spinner(g.stderr, func() string { return "Looking for newer versions of " + phrase.Count(len(all), "plugin").String() })
	failed := install.FindNewer(timed, fetcher(logins), time.Now(), all, holders.MayHold)
	stop()
	if asJSON {
		err = printJSON(g.stdout, append([]install.Status{}, all...))
	} else {
		err = writeInstalled(g.stdout, all)
	}
	if failed != nil {
		err = errors.Join(err, errors.New(logins.redactor.String(failed.Error())))
	}
	return err
}

func writeInstalled(w io.Writer, all []install.Status) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "no plugin was installed by dogwatch plugin install or plugins.install")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tVERSION\tNEWER\tKEY\tFROM")
	for _, st := range all {
		newer := cmp.Or(st.Available, "-")
		if st.Changed {
			newer = "file changed or missing: install it again"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", printable(st.Name), printable(cmp.Or(st.Version, "-")), printable(newer),
			cmp.Or(st.KeyName, "unsigned"), printable(st.Ref))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, st := range all {
		if st.Refused != "" {
			fmt.Fprintf(w, "\n%s: passed over: %s\n", printable(st.Name), printable(st.Refused))
		}
	}
	return nil
}

func newPluginUpdate(g *global) *cobra.Command {
	var f installFlags
	var all bool
	cmd := &cobra.Command{
		Use:   "update [NAME…]",
		Short: "Update installed plugins to newer versions",
		Long: `Installs the newer version that dogwatch plugin outdated shows, of the named plugins
or with --all of each that has one. The signature has to be by the key that is
remembered. What was granted stays granted; if the newer version asks for more, you
are asked, or --grant names it: otherwise it does not get it. One that plugins.install
names is updated there. What fails is said at the end and stops none of the others.`,
		Example: `  # one
  dogwatch plugin update trigger-lamp

  # all of them, without asking
  dogwatch plugin update --all --yes`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return usage(errors.New("--all and names exclude each other"))
			case !all && len(args) == 0:
				return usage(errors.New("say which plugins, or --all"))
			}
			if err := f.check(); err != nil {
				return usage(err)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.withPlugins(cmd.Context(), f, func(ctx context.Context, p pluginFolder) error {
				return p.update(ctx, args)
			})
		},
	}
	f.common(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "update every plugin that has a newer version")
	return cmd
}

// update updates the named plugins, or all when none is named.
func (p pluginFolder) update(ctx context.Context, names []string) error {
	installed := p.Installed()
	var wrong []error
	for _, name := range names {
		if !slices.ContainsFunc(installed, func(st install.Status) bool { return st.Name == name }) {
			wrong = append(wrong,
				fmt.Errorf("%s was not installed by dogwatch plugin install (dogwatch plugin outdated shows what was)", name))
		}
	}
	chosen := slices.DeleteFunc(installed, func(st install.Status) bool {
		return len(names) > 0 && !slices.Contains(names, st.Name)
	})
	holders, err := p.g.typeHolders(ctx, p.cfg)
	if err != nil {
		return err
	}
	timed, cancel := context.WithTimeout(ctx, p.flags.timeout)
	wrong = append(wrong, install.FindNewer(timed, fetcher(p.logins), time.Now(), chosen, holders.MayHold))
	cancel()
	updated := false
	for _, st := range chosen {
		switch passed := fmt.Errorf("update %s: passed over: %s", st.Name, st.Refused); {
		case st.Refused != "" && st.Available == "" && len(names) > 0:
			wrong = append(wrong, passed)
		case st.Refused != "":
			fmt.Fprintln(p.g.stderr, printable(p.logins.redactor.String(passed.Error())))
		}
		if st.Available == "" {
			continue
		}
		updated = true
		if err := p.updateOne(ctx, st); err != nil {
			wrong = append(wrong, fmt.Errorf("update %s: %w", st.Name, err))
		}
	}
	if !updated && errors.Join(wrong...) == nil {
		fmt.Fprintln(p.g.stdout, "nothing to update")
	}
	return errors.Join(wrong...)
}

func (p pluginFolder) updateOne(ctx context.Context, st install.Status) error {
	if slices.ContainsFunc(p.cfg.Plugins.Declared(), func(i config.Install) bool { return i.Name == st.Name }) {
		return fmt.Errorf("plugins.install names it: write %s there, and run dogwatch reload",
			strings.TrimSpace(st.Available))
	}
	source, err := artifact.ParseSource("oci://" + st.Available)
	if err != nil {
		return err
	}
	return p.install(ctx, install.Request{Source: source, Want: artifact.Want{Name: st.Name}})
}
