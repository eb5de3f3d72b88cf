// Package registries lists the registry types that Dogwatch brings along.
//
// A type says which hosts it serves and how to log in; how a registry is asked
// is the same for all and lies in internal/oci. To add one, copy the package of
// the type that is most like it, and list it here.
package registries

import (
	"github.com/dogwatch/dogwatch/plugins/registries/custom"
	"github.com/dogwatch/dogwatch/plugins/registries/ecr"
	"github.com/dogwatch/dogwatch/plugins/registries/generic"
	"github.com/dogwatch/dogwatch/plugins/registries/ghcr"
	"github.com/dogwatch/dogwatch/plugins/registries/hub"
	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/plugins/registries/quay"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Types returns all types. Instances of types that one call returned share
// their tokens and the bound on requests in flight.
func Types() []registry.Type {
	shared := oci.NewShared()
	return []registry.Type{
		custom.Type(shared),
		ecr.Type(shared),
		generic.Type(shared),
		ghcr.Type(shared),
		hub.Type(shared),
		quay.Type(shared),
	}
}
