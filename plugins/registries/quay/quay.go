// Package quay is the registry type of Quay.io.
package quay

import (
	"net/url"

	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

const host = "quay.io"

// Options configures one Quay registry. Its credentials are those of a robot
// account, whose full name is namespace+account.
type Options struct {
	Namespace string   `option:"namespace" help:"User or organization that owns the robot account"`
	Account   string   `option:"account" help:"Name of the robot account, without its namespace"`
	Token     string   `option:"token,secret" help:"Token of the robot account"`
	URL       *url.URL `option:"url" help:"Pull-through cache or proxy to ask instead of quay.io"`
	httpclient.Options
}

// Type returns the type; its instances use what shared knows.
func Type(shared *oci.Shared) registry.Type {
	return registry.Define("quay", "Quay.io", func(env sdk.Env, o Options) (*oci.Registry, error) {
		login, err := robot(o)
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
			Keys:       "namespace, account and token",
		}, o.Token)
	}, kind.Default("public"))
}

func robot(o Options) (oci.Login, error) {
	if o.Namespace == "" && o.Account == "" && o.Token == "" {
		return nil, nil
	}
	var missing []sdk.FieldError
	for _, option := range []struct{ name, value string }{{"namespace", o.Namespace}, {"account", o.Account}, {"token", o.Token}} {
		if option.value == "" {
			missing = append(missing, sdk.FieldError{Field: option.name, Detail: "is required: a robot account has a namespace, an account and a token"})
		}
	}
	if missing != nil {
		return nil, &sdk.InvalidError{Fields: missing}
	}
	return oci.Static(o.Namespace+"+"+o.Account, o.Token), nil
}
