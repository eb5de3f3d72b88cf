package app

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/core/plugin/install"
)

// installLimit bounds the installation of all plugins of plugins.install together:
// the components of those that are there wait for it.
const installLimit = 2 * time.Minute

// RegistryLogins find the logins of registries, until they are closed.
type RegistryLogins interface {
	artifact.Logins
	Close()
}

// installer installs what plugins.install names. Problems may be called concurrently.
type installer struct {
	config *config.Config
	trust  plugin.TrustStore
	agent  string
	logins func() RegistryLogins
	// gallery is what can be installed by its name, may who may hold a type, and start has what was installed run.
	gallery install.Gallery
	may     install.MayHold
	start   func(ctx context.Context, name, sum string) error

	mu       sync.Mutex
	problems []config.Problem
}

// Problems returns what could not be installed.
func (i *installer) Problems() []config.Problem {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.problems
}

// Installed returns what is installed, by name.
func (i *installer) Installed() []install.Status {
	all, err := install.Read(i.config.Plugins.Dir)
	if err != nil {
		return nil // plugins.install, or the next command, reports it
	}
	return all
}

// grantLimit is how long a change of what is granted waits for a command that installs.
const grantLimit = 10 * time.Second

// Grant implements service.Installs. The plugin is started again once the folder is read anew.
func (i *installer) Grant(ctx context.Context, name, capability string, granted bool) error {
	ctx, cancel := context.WithTimeout(ctx, grantLimit)
	defer cancel()
	folder, err := install.Open(ctx, i.config.Plugins.Dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	var has []string
	for _, st := range folder.Installed() {
		if st.Name == name {
			has = slices.DeleteFunc(slices.Clone(st.Granted), func(c string) bool { return c == capability })
		}
	}
	if granted {
		has = append(has, capability)
	}
	return folder.Grant(name, has)
}

func (i *installer) fail(name string, err error) {
	p := config.Problem{Key: "plugins.install", Message: err.Error(), Level: config.Error}
	if name != "" {
		p.Message = name + " is not installed as it says: " + p.Message
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.problems = append(i.problems, p)
}

// installPlugins installs what is missing of plugins.install. What fails leaves what is there as it is.
func (a *App) installPlugins(ctx context.Context) {
	i := a.installer
	declared := i.config.Plugins.Declared()
	if len(declared) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	folder, err := install.Open(ctx, i.config.Plugins.Dir)
	if err != nil {
		i.fail("", err)
		a.report(i.Problems())
		return
	}
	defer folder.Close()
	fetcher := artifact.Fetcher{UserAgent: i.agent, Platform: artifact.Here()}
	if i.logins != nil {
		logins := i.logins()
		defer logins.Close()
		fetcher.Logins = logins
	}
	for _, d := range declared {
		w := install.Wanted{Name: d.Name, Ref: d.Ref, Digest: d.Digest, Key: d.Key}
		sum, changed, err := folder.Ensure(ctx, fetcher, w, a.mayHold(ctx))
		if changed {
			a.log.Info("plugin installed", "name", d.Name, "ref", d.Ref, "sha256", sum)
		}
		if err == nil || sum != "" {
			err = errors.Join(err, i.accept(ctx, d.Name, sum))
		}
		if err != nil {
			i.fail(d.Name, err)
		}
	}
	a.report(i.Problems())
}

// mayHold says why a plugin may not hold types, by what is stored and installed now.
func (a *App) mayHold(ctx context.Context) install.MayHold {
	return func(name string, types []string) error {
		installed := wiring.InstalledPlugins(a.opt.Config, a.log)()
		holders, err := plugin.ReadHolders(ctx, a.store, installed, a.opt.Builtins, a.opt.Config.Plugins.Dir)
		if err != nil {
			return err
		}
		return holders.MayHold(name, types)
	}
}

// accept trusts an installed file: the configuration asks for it.
func (i *installer) accept(ctx context.Context, name, sum string) error {
	want, err := hex.DecodeString(sum)
	if err != nil {
		return err
	}
	known, seen, err := i.trust.Checksum(ctx, name)
	if err == nil && (!seen || !bytes.Equal(known, want)) {
		err = i.trust.Trust(ctx, name, want)
	}
	if err != nil {
		return fmt.Errorf("trust it: %w", err)
	}
	return nil
}
