package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	"github.com/dogwatch/dogwatch/sdk/option"
)

// installFlags are the flags of install and update.
type installFlags struct {
	name, digest, sha256, key string
	grants                    []string
	newKey, replace, yes      bool
	newest                    bool
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
	// releases is the key that signs the plugins of the gallery; zero where none is built in.
	releases artifact.Key
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
	shop, err := newGallery(cfg)
	if err != nil {
		return err
	}
	err = use(ctx, pluginFolder{Folder: folder, g: g, cfg: cfg, flags: f, logins: logins, releases: shop.Key})
	var code *exitError
	if err == nil || errors.As(err, &code) {
		return err
	}
	return errors.New(logins.redactor.String(err.Error()))
}

func (p pluginFolder) fetcher() artifact.Fetcher {
	f := fetcher(p.logins)
	f.Limit = p.flags.maxSize << 20
	return f
}

// fetcher returns what gets plugins for this machine.
func fetcher(logins artifact.Logins) artifact.Fetcher {
	return artifact.Fetcher{Logins: logins, UserAgent: userAgent(), Platform: artifact.Here()}
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

// grantable refuses names that are no capabilities.
func grantable(flag string, names []string) error {
	for _, name := range names {
		if slices.Contains(config.Grantable(), name) {
			continue
		}
		hint := "the capabilities are " + strings.Join(config.Grantable(), ", ")
		if near := option.Suggest(name, config.Grantable()); near != "" {
			hint = "did you mean " + near + "?"
		}
		return fmt.Errorf("%s: %q is no capability: %s", flag, name, hint)
	}
	return nil
}

// fetchLimit is how long fetching a plugin may take unless the user says otherwise.
const fetchLimit = 5 * time.Minute

// lockLimit is how long to wait for another command that changes the folder.
const lockLimit = 30 * time.Second
