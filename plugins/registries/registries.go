// Package registries lists the built-in registry types.
//
// Most types are "these hosts, and this is how to log in": a row in types.go
// that joins one of the places of places.go with one of the logins of
// logins.go. Only what has a flow of its own is a package. The client of
// registries is the same for all: internal/oci.
package registries

import (
	"cmp"
	"os"
	"slices"

	"github.com/dogwatch/dogwatch/plugins/registries/ecr"
	"github.com/dogwatch/dogwatch/plugins/registries/internal/dockerconfig"
	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Types returns all types by name. Instances of types that one call returned
// share their tokens and the bound on requests in flight.
func Types() []registry.Type {
	shared := oci.NewShared()
	if path := os.Getenv(dockerConfigVariable); path != "" {
		shared.SetDefaultLogin(dockerconfig.New(path))
	}
	types := append(rows(shared), ecr.Type(shared))
	slices.SortFunc(types, func(a, b registry.Type) int { return cmp.Compare(a.Name, b.Name) })
	return types
}

// dockerConfigVariable is where the host says which config.json of Docker's
// client to read: the setting registries.dockerconfig.
const dockerConfigVariable = "DOGWATCH_REGISTRIES_DOCKERCONFIG"

// Env are the variables that the types read besides those that every plugin
// sees. Credential helpers look for Docker's file themselves.
func Env() []string { return append(ecr.Env(), "DOCKER_CONFIG") }
