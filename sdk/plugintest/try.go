package plugintest

import (
	"context"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Try is Configure for options that may be wrong. Its error is the one that the operator would see.
func Try(ctx context.Context, c *pluginclient.Client, typ kind.Type, name string, options map[string]any) (pluginclient.Configured, error) {
	values, problems, unknown := typ.Options.Resolve(options)
	for _, name := range unknown {
		problems = append(problems, sdk.FieldError{Field: name, Detail: "unknown option"})
	}
	if len(problems) > 0 {
		return pluginclient.Configured{}, &sdk.InvalidError{Fields: problems}
	}
	return c.Configure(ctx, pluginclient.Instance{ID: ID(typ, name), Kind: typ.Kind, Type: typ.Name, Options: values})
}
