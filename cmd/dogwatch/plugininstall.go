package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/stored"
	"github.com/dogwatch/dogwatch/core/plugin/install"
)

func newPluginInstall(g *global) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install NAME|REF",
		Short: "Install a plugin from the gallery, a registry, an address or a file",
		Long: `Fetches a plugin and puts it into plugins.dir. NAME is that of a plugin of the gallery,
which dogwatch plugin search lists. REF is an artifact in a registry, with the login that
the configuration has for it; an https:// address, with the SHA-256 of its file; or a
file. Of an artifact for several platforms the one for this system is taken.

Size, checksum and the publisher's signature are verified first, and what the plugin
is and wants is shown before it is installed. The publisher's key is remembered: from
then on nothing else is accepted under that name, and no version that is signed as the
same or an older one: --allow-downgrade accepts it. The file before is kept for
dogwatch plugin rollback. A type that is built in, or that another file holds, is refused.

A plugin has only those of the capabilities it asks for that you grant: you are asked
for each, or --grant names them. dogwatch plugin grants shows and changes them later.`,
		Example: `  # from the gallery
  dogwatch plugin install trigger-file

  # from a registry
  dogwatch plugin install ghcr.io/me/trigger-lamp:1.0.0

  # only if the publisher signed it with this key of minisign
  dogwatch plugin install ghcr.io/me/trigger-lamp:1.0.0 --key RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3

  # with the logins of registries, which it asks for
  dogwatch plugin install ghcr.io/me/trigger-pull:1.0.0 --grant credentials

  # from an address, and from a file
  dogwatch plugin install https://example.org/trigger-lamp --sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  dogwatch plugin install ./trigger-lamp`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := g.installRequest(cmd.Context(), f, args[0])
			if err != nil {
				return err
			}
			return g.withPlugins(cmd.Context(), f, func(ctx context.Context, p pluginFolder) error { return p.install(ctx, r) })
		},
	}
	f.common(cmd)
	cmd.Flags().StringVar(&f.name, "name", "", "`name` of the file in plugins.dir, instead of the artifact's own")
	cmd.Flags().StringVar(&f.digest, "digest", "", "the only `digest` of the artifact that is accepted, sha256:…")
	cmd.Flags().StringVar(&f.sha256, "sha256", "", "the only `checksum` of the file at an address that is accepted")
	cmd.Flags().StringVar(&f.key, "key", "",
		"the publisher's `key`, of minisign or cosign (ECDSA P-256), or its file: what it did not sign is refused")
	cmd.Flags().BoolVar(&f.newest, "newest", false, "look NAME up in the list of the newest release")
	cmd.Flags().BoolVar(&f.newKey, "new-key", false, "accept --key instead of the one that is remembered")
	cmd.Flags().BoolVar(&f.downgrade, "allow-downgrade", false,
		"accept a version that is not newer than the installed one")
	cmd.Flags().BoolVar(&f.replace, "replace", false, "replace a file that was put there by hand")
	return cmd
}

// install fetches, shows, asks and installs.
func (p pluginFolder) install(ctx context.Context, r install.Request) error {
	s, err := p.fetch(ctx, r)
	if err != nil {
		return err
	}
	if s.Current() {
		fmt.Fprintf(p.g.stdout, "%s is installed already (sha256 %s)\n", printable(s.Name), s.SHA256)
		if len(p.flags.grants) > 0 {
			if err := p.changeGrants(s.Name, p.flags.grants, nil); err != nil {
				return err
			}
		}
		return p.trust(ctx, s.Name, s.SHA256)
	}
	p.show(p.g.stdout, s)
	if err := p.mayHold(ctx, s.Name, s.Types); err != nil {
		return err
	}
	if err := p.g.agree(ctx, p.flags.yes, "Install "+printable(s.Name)+"?", " if this is what you want"); err != nil {
		return err
	}
	if err := p.verifyClaims(ctx, s); err != nil {
		return err
	}
	if err := p.grant(ctx, s); err != nil {
		return err
	}
	if err := p.Install(s); err != nil {
		return err
	}
	fmt.Fprintf(p.g.stdout, "installed %s\n", printable(s.Name))
	if err := p.trust(ctx, s.Name, s.SHA256); err != nil {
		return err
	}
	p.showNext(p.g.stdout, s)
	return nil
}

func (p pluginFolder) fetch(ctx context.Context, r install.Request) (*install.Staged, error) {
	timed, cancel := context.WithTimeout(ctx, p.flags.timeout)
	defer cancel()
	stop := spinner(p.g.stderr, func() string { return "Fetching " + r.Source.String() })
	defer stop()
	s, err := p.Fetch(timed, p.fetcher(), r)
	if err != nil && ctx.Err() == nil && errors.Is(timed.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("%s did not come within %s: --timeout gives it longer (%w)", r.Source, p.flags.timeout, err)
	}
	return s, err
}

// show writes what is about to be installed.
func (p pluginFolder) show(w io.Writer, s *install.Staged) {
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-14s %s\n", what, printable(text))
		}
	}
	line("plugin", strings.TrimSpace(s.Name+" "+s.Version))
	line("from", s.Ref)
	if s.Digest != "sha256:"+s.SHA256 {
		line("digest", s.Digest)
	}
	line("sha256", s.SHA256)
	line("size", fmt.Sprintf("%.2f MB", float64(s.Size)/1e6))
	line("platform", cmp.Or(s.Platform, "any"))
	line("sdk", s.SDK)
	switch {
	case s.Key.IsZero():
		line("signature", "none that could be verified: whoever could change the artifact could change the plugin")
	case s.Key.Equal(p.releases):
		line("signature", "holds, by the key "+s.Key.String()+", which is that of Dogwatch's releases")
	case s.FirstKey() && s.Carried:
		line("signature", "holds, by the key "+s.Key.String()+", which came with the plugin and is seen for the first time")
	case s.FirstKey():
		line("signature", "holds, by the key "+s.Key.String()+" that was given")
	default:
		line("signature", "holds, by the key "+s.Key.String()+" that was remembered")
	}
	line("key", s.Key.Text())
	if len(s.Types) > 0 {
		line("types", strings.Join(s.Types, " "))
		line("asks for", p.requested(s))
	}
	if s.Before != nil {
		line("replaces", cmp.Or(s.Before.Version, s.Before.Ref))
	}
}

// trust has the Dogwatch that serves accept the new file, where another one was trusted.
func (p pluginFolder) trust(ctx context.Context, name, sum string) error {
	if p.cfg.Plugins.Trust == "pinned" || p.cfg.Plugins.Checksums()[name] != "" {
		if p.cfg.Plugins.Checksums()[name] != sum {
			fmt.Fprintf(p.g.stdout,
				"\nplugins.checksums decides what runs: set\n  plugins:\n    checksums: { %s: %s }\n", printable(name), sum)
		}
		return nil
	}
	known, seen, err := stored.TrustStore(p.cfg.StoreFile()).Checksum(ctx, name)
	if err != nil || !seen || fmt.Sprintf("%x", known) == sum {
		return err // a file that is seen for the first time is trusted when it starts
	}
	if _, err := trustPlugin(ctx, p.cfg, name, sum); err != nil {
		return fmt.Errorf("%s is installed and not trusted yet: %w; run: %s plugin trust %s %s", name, err,
			p.cfg.Command(), name, sum)
	}
	return nil
}

// showNext says what is left to do.
func (p pluginFolder) showNext(w io.Writer, s *install.Staged) {
	if s.Before != nil {
		return
	}
	for _, t := range s.Types {
		fmt.Fprintf(w, "\nits options: dogwatch plugin describe %s\n", printable(t))
	}
	fmt.Fprintln(w, "\nconfigure what it offers, and run dogwatch reload")
}

func newPluginRemove(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a plugin that was installed",
		Long: `Removes a plugin that dogwatch plugin install put into plugins.dir, and the version
before it, and forgets its publisher's key. A Dogwatch that serves notices within two
seconds that it is gone.`,
		Example: `  # what was installed
  dogwatch plugin outdated

  # away with it
  dogwatch plugin remove trigger-lamp`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.withPlugins(cmd.Context(), installFlags{}, func(_ context.Context, p pluginFolder) error {
				if err := p.Remove(args[0]); err != nil {
					return err
				}
				fmt.Fprintf(g.stdout, "removed %s\n", printable(args[0]))
				return nil
			})
		},
	}
}

func newPluginRollback(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "rollback NAME",
		Short: "Go back to the version of a plugin before",
		Long: `Exchanges a plugin with the version that the last installation or update replaced. A
second rollback takes it back.`,
		Example: `  # after an update that does not work
  dogwatch plugin rollback trigger-lamp

  # and which state it is in now
  dogwatch plugin list`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.withPlugins(cmd.Context(), installFlags{}, func(ctx context.Context, p pluginFolder) error {
				pin, err := p.Rollback(args[0])
				if err != nil {
					return err
				}
				fmt.Fprintf(g.stdout, "%s is %s again\n", printable(args[0]), printable(cmp.Or(pin.Version, pin.Ref, pin.SHA256)))
				return p.trust(ctx, args[0], pin.SHA256)
			})
		},
	}
}
