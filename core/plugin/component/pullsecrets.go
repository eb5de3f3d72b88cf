package component

import (
	"context"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// optionPullSecrets is the option of watchers that has what their engine pulls images with used, see
// watcher.CredentialProvider.
const optionPullSecrets = "pullsecrets"

// PullCredentials returns what the engine pulls the images of containers with, by id, where the operator lets that be
// used; nil otherwise.
func (w *Watcher) PullCredentials(ctx context.Context, ids []string) (map[string]watcher.PullCredentials, error) {
	if may, _ := w.Options[optionPullSecrets].(bool); !may || !w.Can(kind.CapPullSecrets) || len(ids) == 0 {
		return nil, nil
	}
	return w.WatcherHandle.PullCredentials(ctx, ids)
}

// PullCredentialsOf returns what the engine of a container's watcher pulls its image with. They are zero where there is
// none, or it is for another host, or cannot be read.
func (m *Manager) PullCredentialsOf(ctx context.Context, c sdk.Container) sdk.Credentials {
	w, known := m.WatcherNamed(c.Watcher)
	if !known {
		return sdk.Credentials{}
	}
	all, err := w.PullCredentials(ctx, []string{c.ID})
	if found := all[c.ID]; err == nil && found.Host == c.Image.Registry.Host {
		return found.Credentials
	}
	return sdk.Credentials{}
}
