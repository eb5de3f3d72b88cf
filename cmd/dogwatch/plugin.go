package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func newPlugin(g *global) *cobra.Command {
	return newGroup("plugin", "Look after plugins",
		`Watchers, registries and triggers are plugins: processes of their own, three of
them built in. Executables in plugins.dir are plugins, too; one whose file changes
does not run until somebody trusts it.`,
		`  # what there is, and in which state
  dogwatch plugin list

  # what a type can, and whether a component works
  dogwatch plugin describe trigger.smtp
  dogwatch plugin test trigger.smtp.main`,
		newPluginList(g), newPluginDescribe(g), newPluginTest(g), newPluginTrust(g), newPluginChecksum(g),
		newPluginRestart(g), newPluginNew(g), newPluginVerify(g),
		newPluginInstall(g), newPluginRemove(g), newPluginRollback(g), newPluginPackage(g), newPluginUpdate(g),
		newPluginOutdated(g), newPluginGrants(g), newPluginSearch(g))
}

func newPluginList(g *global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List plugins and their state",
		Long: `Lists the built-in plugins and the executables in plugins.dir with their state, as
the Dogwatch that is serving sees them. When none is, those that may run are
started for a moment to learn what they hold, unless that is known; one that says
nothing for a second or two is listed as starting.`,
		Example: `  # a table
  dogwatch plugin list

  # with processes, checksums and restarts, for a script
  dogwatch plugin list --json`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			all, err := g.plugins(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(g.stdout, all)
			}
			if err := writePlugins(g.stdout, all); err != nil {
				return err
			}
			return writeFolder(g.stdout, cfg.Plugins.Dir)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as the API does")
	return cmd
}

// plugins fetches the plugins from the Dogwatch that is serving, or discovers them when there is none.
func (g *global) plugins(ctx context.Context, cfg *config.Config) ([]plugin.Status, error) {
	var all []plugin.Status
	c, err := newTrustedClient(cfg)
	if err == nil {
		err = c.call(ctx, http.MethodGet, "/api/plugins", &all)
	}
	if !errors.Is(err, errNotServing) {
		return all, err
	}
	instance, _, err := g.newOneShotWith(cfg, kind.Kinds()...)
	if err != nil {
		return nil, err
	}
	defer instance.Close()
	return instance.Plugins(ctx, true)
}

// writeFolder writes where executables are looked for, as the configuration of this command has it.
func writeFolder(w io.Writer, dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	text := "plugins.dir is " + abs
	if _, err := os.Stat(abs); errors.Is(err, fs.ErrNotExist) {
		text += ", which does not exist"
	}
	_, err = fmt.Fprintf(w, "\n%s\n", printable(text))
	return err
}

func writePlugins(w io.Writer, all []plugin.Status) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tSTATE\tVERSION\tTYPES")
	for _, p := range all {
		var types []string
		for _, held := range p.Types {
			types = append(types, string(held.Kind)+"."+held.Type)
		}
		name, origin := p.Name, p.Version
		if p.Builtin {
			origin = "built in"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", printable(name), p.State.Word(), printable(origin),
			printable(strings.Join(types, " ")))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, p := range all {
		if p.Error != "" {
			fmt.Fprintf(w, "\n%s: %s\n", printable(p.Name), printable(p.Error))
		}
		if p.Note != "" {
			fmt.Fprintf(w, "\n%s: %s\n", printable(p.Name), printable(p.Note))
		}
		writeIsolation(w, p)
	}
	return nil
}

func newPluginTrust(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "trust NAME SHA256",
		Short: "Accept an executable in plugins.dir after its file was changed",
		Long: `Accepts an executable in plugins.dir after its file was changed: the one with the
checksum that dogwatch plugin list shows. If the file is another one by now it is
refused. The Dogwatch that is serving starts it at once; when none is, the next one
does. Where people have to log in this is for them, and for who may write the store.`,
		Example: `  # why it does not run, and the checksum of its file
  dogwatch plugin list

  # after an upgrade of the file plugins/trigger-file
  dogwatch plugin trust trigger-file 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`,
		Args:              exactly(2),
		ValidArgsFunction: first(g.bundleNames(false)),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			where, err := trustPlugin(cmd.Context(), cfg, args[0], args[1])
			if err != nil {
				return err
			}
			fmt.Fprintf(g.stdout, "%s is trusted %s\n", printable(args[0]), printable(where))
			return nil
		},
	}
}

func newPluginRestart(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "restart NAME",
		Short: "Start a plugin again, one that died too often too",
		Long: `Asks the Dogwatch that is serving to start a plugin again: one of those built in
(watcher, registry, trigger) or an executable in plugins.dir.`,
		Example: `  # all built-in triggers
  dogwatch plugin restart trigger

  # an executable in plugins.dir
  dogwatch plugin restart trigger-file`,
		Args:              exactly(1),
		ValidArgsFunction: first(g.bundleNames(true)),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			c, err := newTrustedClient(cfg)
			if err == nil {
				err = c.call(cmd.Context(), http.MethodPost, pluginPath(args[0], "restart"), nil)
			}
			if errors.Is(err, errNotServing) {
				return fmt.Errorf("%w; plugins run only while one is", err)
			}
			if err == nil {
				fmt.Fprintf(g.stdout, "%s is being started again\n", args[0])
			}
			return err
		},
	}
}

func newPluginChecksum(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "checksum FILE",
		Short: "Print the entry of plugins.checksums that pins an executable",
		Long: `Prints the entry of plugins.checksums that pins an executable to its content. With
plugins.trust: pinned nothing else runs.`,
		Example: `  # a file that is about to be installed
  dogwatch plugin checksum ./trigger-file

  # one that is
  dogwatch plugin checksum /store/plugins/trigger-file`,
		Args: exactly(1),
		RunE: func(_ *cobra.Command, args []string) error {
			sum, err := plugin.Checksum(args[0])
			if err != nil {
				return err
			}
			name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
			_, err = fmt.Fprintf(g.stdout, "%s=%s\n", name, hex.EncodeToString(sum))
			return err
		},
	}
}
