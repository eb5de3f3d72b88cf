// Package generic is the registry type that serves every public host for which
// nothing is configured.
package generic

import (
	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Options configures how hosts are asked.
type Options struct {
	httpclient.Options
}

// Type returns the type; its instances use what shared knows. Hosts are asked
// over https, those on this machine over http, as engines do.
func Type(shared *oci.Shared) registry.Type {
	return registry.Define("oci", "Any public registry, without configuration", func(env sdk.Env, o Options) (*oci.Registry, error) {
		return shared.Open(env, o.Options, oci.Config{Hosts: []registry.Host{{Pattern: "*"}}})
	}, kind.Default("public"))
}
