// Package stored reads and changes what Dogwatch has stored, from
// a command: whether or not a Dogwatch is serving from that store. Every
// user who may read or write the file of the database may do so.
package stored

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/automatic"
	"github.com/dogwatch/dogwatch/sdk"
)

// WithAuth opens the database and calls use with what makes and revokes tokens. A
// database of an older version is not migrated.
func WithAuth(ctx context.Context, settings *config.Config, use func(*auth.Auth) error) error {
	s, err := store.Open(ctx, settings.StoreFile(), store.Options{AsIs: true})
	if err != nil {
		return err
	}
	a := auth.New(auth.Options{
		Config: settings,
		Store:  s,
		Log:    hclog.NewNullLogger(),
	})
	return errors.Join(use(a), s.Close())
}

// Tokens returns the tokens, the newest first, without changing anything. Without
// a database there are none.
func Tokens(ctx context.Context, settings *config.Config) (all []store.Token, err error) {
	err = read(ctx, settings.StoreFile(), func(r *store.Reader) error {
		all, err = r.Tokens(ctx)
		return err
	})
	return all, err
}

// Containers returns the containers that were recorded, without changing
// anything. Without a database there are none.
func Containers(ctx context.Context, settings *config.Config) (all []sdk.Container, err error) {
	err = read(ctx, settings.StoreFile(), func(r *store.Reader) error {
		all, err = r.Containers(ctx)
		return err
	})
	return all, err
}

// Decided is what updates are decided with, as it is stored.
type Decided struct {
	Containers []sdk.Container
	// Found are the versions that the last checks found, by subject.
	Found map[string]candidate.Found
	// Choices are what users decided.
	Choices []choice.Choice
	// Stops are the updates that stopped the stacks of containers, by subject; see policy.Facts.
	Stops map[string]policy.Stop
}

// Updates returns what updates are decided with, without changing anything. Without a
// database there is nothing.
func Updates(ctx context.Context, settings *config.Config) (d Decided, err error) {
	err = read(ctx, settings.StoreFile(), func(r *store.Reader) error {
		if d.Containers, err = r.Containers(ctx); err != nil {
			return err
		}
		if d.Found, err = r.Candidates(ctx); err != nil {
			return err
		}
		if d.Choices, err = r.Choices(ctx); err != nil {
			return err
		}
		d.Stops, err = stops(ctx, r, d.Containers)
		return err
	})
	return d, err
}

func stops(ctx context.Context, r *store.Reader, containers []sdk.Container) (map[string]policy.Stop, error) {
	all := make([]*sdk.Container, len(containers))
	for i := range containers {
		all[i] = &containers[i]
	}
	stops := map[string]policy.Stop{}
	for _, c := range all {
		if !c.UpdateAvailable {
			continue
		}
		stop, err := automatic.StoppedBy(ctx, r, all, c)
		if err != nil {
			return nil, err
		}
		if stop.Name != "" {
			stops[event.Subject(*c)] = stop
		}
	}
	return stops, nil
}

// read opens a database read-only; without one nothing is read, and that is no error.
func read(ctx context.Context, path string, use func(*store.Reader) error) error {
	r, err := store.Read(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(use(r), r.Close())
}

// TrustPlugin records that an executable in plugins.dir is trusted, if its SHA-256
// is the given one. A Dogwatch that serves from the same store honours that when
// it starts the plugin next.
func TrustPlugin(ctx context.Context, settings *config.Config, name, sha256 string) error {
	if settings.Plugins.Trust == "pinned" || settings.Plugins.Checksums()[name] != "" {
		return fmt.Errorf("trust plugin %s: its checksum is pinned by the configuration: change plugins.checksums (dogwatch plugin checksum prints the entry)", name)
	}
	if filepath.Base(name) != name {
		return fmt.Errorf("trust plugin %s: want the name of a file in plugins.dir", name)
	}
	sum, err := plugin.Confirm(filepath.Join(settings.Plugins.Dir, name), sha256)
	if err != nil {
		return fmt.Errorf("trust plugin %s: %w", name, err)
	}
	s, err := store.Open(ctx, settings.StoreFile(), store.Options{AsIs: true})
	if err != nil {
		return err
	}
	return errors.Join(s.Trust(ctx, name, sum), s.Close())
}

// TrustStore is a plugin.TrustStore that knows which executables an installation
// trusts and records nothing: to trust one that is seen for the first time is for
// the Dogwatch that serves. It is the path of the database.
type TrustStore string

// Checksum implements plugin.TrustStore.
func (path TrustStore) Checksum(ctx context.Context, name string) (sum []byte, trusted bool, err error) {
	err = read(ctx, string(path), func(r *store.Reader) error {
		sum, trusted, err = r.Checksum(ctx, name)
		return err
	})
	return sum, trusted, err
}

// Trust implements plugin.TrustStore.
func (TrustStore) Trust(context.Context, string, []byte) error { return nil }

// Records is a plugin.Records that knows what an installation has recorded and records
// nothing, as TrustStore does. It is the path of the database.
type Records string

var _ plugin.Records = Records("")

// TypeOwners implements plugin.Records.
func (path Records) TypeOwners(ctx context.Context, each func(typ, bundle, key string)) error {
	return read(ctx, string(path), func(r *store.Reader) error { return r.TypeOwners(ctx, each) })
}

// PluginDescription implements plugin.Records.
func (path Records) PluginDescription(ctx context.Context, sha256 []byte, build string) (doc []byte, err error) {
	err = read(ctx, string(path), func(r *store.Reader) error {
		doc, err = r.PluginDescription(ctx, sha256, build)
		return err
	})
	return doc, err
}

// SetTypeOwner implements plugin.Records.
func (Records) SetTypeOwner(context.Context, string, string, string) error { return nil }

// SavePluginDescription implements plugin.Records.
func (Records) SavePluginDescription(context.Context, []byte, string, []byte) error { return nil }
