// Package ghcr is the registry type of the GitHub Container Registry.
package ghcr

import (
	"net/url"

	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

const host = "ghcr.io"

// Options configures one GitHub registry.
type Options struct {
	Username string   `option:"username" help:"GitHub user name"`
	Token    string   `option:"token,secret" help:"Personal access token (classic) with read:packages"`
	URL      *url.URL `option:"url" help:"Pull-through cache or proxy to ask instead of ghcr.io"`
	httpclient.Options
}

// Type returns the type; its instances use what shared knows.
func Type(shared *oci.Shared) registry.Type {
	return registry.Define("ghcr", "GitHub Container Registry", func(env sdk.Env, o Options) (*oci.Registry, error) {
		login, err := oci.Pair("username", o.Username, "token", o.Token)
		if err != nil {
			return nil, err
		}
		hosts, err := oci.Mirrored(o.URL, host, "*."+host)
		if err != nil {
			return nil, err
		}
		return shared.Open(env, o.Options, oci.Config{
			Hosts:      hosts,
			Login:      login,
			TokenHosts: []string{host},
			Keys:       "username and token",
		}, o.Token)
	}, kind.Default("public"))
}
