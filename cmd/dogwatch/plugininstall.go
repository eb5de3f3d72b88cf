package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/stored"
	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/core/plugin/install"
)

// fetchLimit is how long fetching a plugin may take unless the user says otherwise.
const fetchLimit = 5 * time.Minute

// lockLimit is how long to wait for another command that changes the folder.
const lockLimit = 30 * time.Second

// installFlags are the flags of install and update.
type installFlags struct {
	name, digest, sha256, key string
	grants                    []string
	newKey, replace, yes      bool
	downgrade                 bool
	maxSize                   int64 // MiB
	timeout                   time.Duration
}

func (f *installFlags) common(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "install without asking")
	cmd.Flags().StringSliceVar(&f.grants, "grant", nil,
		"`capabilities` to grant of those that it asks for: "+strings.Join(config.Grantable(), ", "))
	cmd.Flags().Int64Var(&f.maxSize, "max-size", artifact.MaxSize>>20, "largest size in `MiB`")
	cmd.Flags().DurationVar(&f.timeout, "timeout", fetchLimit, "longest `time` for fetching")
}

func newPluginInstall(g *global) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install REF",
		Short: "Install a plugin from a registry, an address or a file",
		Long: `Fetches a plugin and puts it into plugins.dir. REF is an artifact in a registry,
with the login that the configuration has for it; an https:// address, with the
SHA-256 of its file; or a file. Of an artifact for several platforms the one for
this system is taken.

Size, checksum and the publisher's signature are verified first, and what the plugin
is and wants is shown before it is installed. The publisher's key is remembered: from
then on nothing else is accepted under that name, and no version that is signed as the
same or an older one: --allow-downgrade accepts it. The file before is kept for
dogwatch plugin rollback. A type that is built in, or that another file holds, is refused.

A plugin has only those of the capabilities it asks for that you grant: you are asked
for each, or --grant names them. dogwatch plugin grants shows and changes them later.`,
		Example: `  # from a registry
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
			r, err := f.request(args[0])
			if err != nil {
				return usage(err)
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
	cmd.Flags().BoolVar(&f.newKey, "new-key", false, "accept --key instead of the one that is remembered")
	cmd.Flags().BoolVar(&f.downgrade, "allow-downgrade", false,
		"accept a version that is not newer than the installed one")
	cmd.Flags().BoolVar(&f.replace, "replace", false, "replace a file that was put there by hand")
	return cmd
}

// check refuses what no plugin could be installed with.
func (f *installFlags) check() error {
	if f.maxSize <= 0 || f.timeout <= 0 {
		return errors.New("--max-size and --timeout: want more than 0")
	}
	return grantable("--grant", f.grants)
}

// request reads what the flags say about a reference.
func (f *installFlags) request(ref string) (install.Request, error) {
	source, err := artifact.ParseSource(ref)
	if err != nil {
		return install.Request{}, err
	}
	r := install.Request{Source: source, Replace: f.replace, NewKey: f.newKey, Downgrade: f.downgrade,
		Renamed: f.name != "",
		Want:    artifact.Want{Name: f.name, Digest: f.digest}}
	switch {
	case f.sha256 != "" && f.digest != "":
		return r, errors.New("--sha256 and --digest exclude each other")
	case f.sha256 != "" && source.Image != nil:
		return r, errors.New("--sha256 is for addresses and files: an artifact in a registry has a --digest")
	case f.newKey && f.key == "":
		return r, errors.New("--new-key needs --key: the publisher's new key")
	}
	if err := f.check(); err != nil {
		return r, err
	}
	if f.sha256 != "" {
		r.Want.Digest = "sha256:" + strings.ToLower(strings.TrimPrefix(f.sha256, "sha256:"))
	}
	if f.key != "" {
		if r.Want.Key, err = artifact.ParseKey(f.key); err != nil {
			return r, fmt.Errorf("--key: %w", err)
		}
	}
	return r, nil
}

// pluginFolder is the folder of the plugins with what a command needs to change it.
type pluginFolder struct {
	*install.Folder
	g      *global
	cfg    *config.Config
	flags  installFlags
	logins *registryLogins
}

// withPlugins locks the folder of the plugins for a command. Errors show no secret.
func (g *global) withPlugins(ctx context.Context, f installFlags, use func(context.Context, pluginFolder) error) error {
	cfg, err := g.load(nil)
	if err != nil {
		return err
	}
	logins, err := g.registryLogins(cfg)
	if err != nil {
		return err
	}
	defer logins.Close()
	waiting, cancel := context.WithTimeout(ctx, lockLimit)
	folder, err := install.Open(waiting, cfg.Plugins.Dir)
	cancel()
	if err != nil {
		return err
	}
	defer folder.Close()
	err = use(ctx, pluginFolder{Folder: folder, g: g, cfg: cfg, flags: f, logins: logins})
	var code *exitError
	if err == nil || errors.As(err, &code) {
		return err
	}
	return errors.New(logins.redactor.String(err.Error()))
}

func (p pluginFolder) fetcher() artifact.Fetcher {
	return artifact.Fetcher{Logins: p.logins, Limit: p.flags.maxSize << 20, Platform: artifact.Here()}
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

// mayHold refuses types that are built in, or held by another file.
func (p pluginFolder) mayHold(ctx context.Context, name string, types []string) error {
	holders, err := p.g.typeHolders(ctx, p.cfg)
	if err == nil {
		err = holders.MayHold(name, types)
	}
	if err != nil {
		return fmt.Errorf("%s is not installed: %w", name, err)
	}
	return nil
}

// typeHolders reads who holds types, by the store and the folder of a configuration.
func (g *global) typeHolders(ctx context.Context, cfg *config.Config) (*plugin.Holders, error) {
	installed := wiring.InstalledPlugins(cfg, hclog.NewNullLogger())()
	return plugin.ReadHolders(ctx, stored.Records(cfg.StoreFile()), installed, builtins(), cfg.Plugins.Dir)
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
