package config

import (
	"strings"

	"github.com/dogwatch/dogwatch/sdk/option"
)

// Replacement returns the option of a schema that is to be used in the place of a deprecated
// one, which says so: "use NAME". It is false where nothing takes its place.
func Replacement(schema option.Schema, deprecated option.Option) (option.Option, bool) {
	name, _, _ := strings.Cut(strings.TrimPrefix(deprecated.Deprecated, "use "), ",")
	o, has := schema.Find(name)
	return o, has && o.Deprecated == "" && o.Type == deprecated.Type
}
