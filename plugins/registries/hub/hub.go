// Package hub is the registry type of Docker Hub.
package hub

import (
	"cmp"
	"net/url"

	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

const (
	// apiHost is where the API is: docker.io itself is a web site.
	apiHost = "registry-1.docker.io"
	// tokenHost is Docker Hub's token service, also for a cache in front of it.
	tokenHost = "auth.docker.io"
)

// Options configures one Docker Hub registry.
type Options struct {
	Login    string   `option:"login" help:"User name"`
	Password string   `option:"password,secret" help:"Password, or better an access token that may only read"`
	Token    string   `option:"token,secret" help:"Access token" deprecated:"use password, which accepts access tokens"`
	Auth     string   `option:"auth,secret,mask=none" help:"Base64 of user:password, as docker login stores it, instead of login and password"`
	URL      *url.URL `option:"url" help:"Pull-through cache or proxy to ask instead of Docker Hub"`

	WatchDigest bool `option:"watchdigest" help:"Accepted for configurations of What's Up Docker; has no effect" deprecated:"digests are watched wherever the tag is not a version, and by label elsewhere"`
	NoWarning   bool `option:"suppressdigestwatchwarning" help:"Accepted for configurations of What's Up Docker; has no effect" deprecated:"there is no such warning"`

	httpclient.Options
}

// Type returns the type; its instances use what shared knows.
func Type(shared *oci.Shared) registry.Type {
	return registry.Define("hub", "Docker Hub", func(env sdk.Env, o Options) (*oci.Registry, error) {
		password := cmp.Or(o.Token, o.Password)
		login, err := oci.PairOrAuth("login", o.Login, "password", password, o.Auth)
		if err != nil {
			return nil, err
		}
		mirror := o.URL
		if mirror == nil {
			mirror = &url.URL{Scheme: "https", Host: apiHost}
		}
		hosts, err := oci.Mirrored(mirror, "docker.io", "index.docker.io", apiHost)
		if err != nil {
			return nil, err
		}
		return shared.Open(env, o.Options, oci.Config{
			Hosts:      hosts,
			Login:      login,
			TokenHosts: []string{tokenHost},
			Keys:       "login and password",
		}, password, o.Auth)
	}, kind.Default("public"))
}
