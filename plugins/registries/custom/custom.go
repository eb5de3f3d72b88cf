// Package custom is the registry type of any registry at a known address, such
// as one that the operator runs.
package custom

import (
	"net/url"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Options configures one registry.
type Options struct {
	URL       *url.URL `option:"url,required" help:"Address of the registry, such as https://registry.example.com:5000"`
	Login     string   `option:"login" help:"User name"`
	Password  string   `option:"password,secret" help:"Password or access token"`
	Auth      string   `option:"auth,secret" help:"Base64 of user:password, as docker login stores it, instead of login and password"`
	AuthHosts []string `option:"authhosts" help:"Hosts of token services that may receive the credentials, besides those of the registry's own domain"`
	httpclient.Options
}

// Type returns the type; its instances use what shared knows.
func Type(shared *oci.Shared) registry.Type {
	return registry.Define("custom", "A registry at an address of your own", func(env sdk.Env, o Options) (*oci.Registry, error) {
		login, err := oci.PairOrAuth("login", o.Login, "password", o.Password, o.Auth)
		if err != nil {
			return nil, err
		}
		hosts, err := oci.Mirrored(o.URL, names(o.URL)...)
		if err != nil {
			return nil, err
		}
		tokenHosts := make([]string, len(o.AuthHosts))
		for i, h := range o.AuthHosts {
			tokenHosts[i] = strings.ToLower(h)
		}
		return shared.Open(env, o.Options, oci.Config{
			Hosts:         hosts,
			Login:         login,
			TokenHosts:    tokenHosts,
			TokenHostsKey: "authhosts",
			Keys:          "login and password",
		}, o.Password, o.Auth)
	})
}

// names returns how image references may write the host of u: with or without
// the port that its scheme implies.
func names(u *url.URL) []string {
	host := strings.ToLower(u.Host)
	implied := ":443"
	if u.Scheme == "http" {
		implied = ":80"
	}
	switch {
	case u.Port() == "":
		return []string{host, host + implied}
	case strings.HasSuffix(host, implied):
		return []string{host, strings.TrimSuffix(host, implied)}
	}
	return []string{host}
}
