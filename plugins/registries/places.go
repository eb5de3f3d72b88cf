package registries

import (
	"net/url"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// fixed is a place whose hosts are those of the row.
type fixed struct {
	Mirror *url.URL `option:"mirror,alias=url" help:"Mirror or pull-through cache to use instead; it receives the credentials if it asks for them. For a mirror with projects, end with /v2/PROJECT"`
}

func (f fixed) place(r row) (place, error) { return f.serve(r, r.hosts) }

func (f fixed) serve(r row, patterns []string) (place, error) {
	if f.Mirror == nil {
		return place{hosts: oci.At(r.api, patterns...)}, nil
	}
	hosts, err := oci.Mirrored(f.Mirror, patterns...)
	return place{hosts: hosts}, err
}

// known is a place of which the operator may name the hosts.
type known struct {
	Hosts []string `option:"hosts" help:"Serve only these hosts, each a name with optional port, or *.suffix for all below it; without it, all that the type is known by. Tells several instances of a type apart"`
	fixed
}

func (k known) place(r row) (place, error) {
	patterns := r.hosts
	if len(k.Hosts) > 0 {
		patterns = make([]string, len(k.Hosts))
		for i, h := range k.Hosts {
			patterns[i] = strings.ToLower(h)
			if !reference.IsPattern(patterns[i]) {
				return place{},
					sdk.Invalid("hosts", "%q is no host: write registry.example.com, registry.example.com:5000 or *.example.com", h)
			}
		}
	}
	if k.Mirror != nil && slices.Contains(patterns, reference.AnyHost) {
		return place{}, sdk.Invalid("mirror", "stands for which registries? Name them in hosts")
	}
	return k.serve(r, patterns)
}

// addressKey is the option of a place that holds its address.
const addressKey = "url"

// own is the place of one registry at an address that the operator gives.
type own struct {
	URL       *url.URL `option:"url" help:"Address of the registry, such as https://registry.example.com:5000" example:"https://registry.example.com"`
	AuthHosts []string `option:"authhosts" help:"Hosts of token services that may receive the credentials, besides those of the registry's own domain"`
	Mirror    *url.URL `option:"mirror" help:"Mirror or pull-through cache to use instead; it receives the credentials if it asks for them. For a mirror with projects, end with /v2/PROJECT"`
}

func (o own) place(r row) (place, error) {
	hosts, err := addressed(r, o.URL, o.Mirror)
	return place{hosts: hosts, tokenHosts: lower(o.AuthHosts), tokenHostsKey: "authhosts"}, err
}

// gitlab is own with the words of What's Up Docker.
type gitlab struct {
	URL     *url.URL `option:"url" help:"Address of the registry, such as https://registry.example.com"`
	AuthURL *url.URL `option:"authurl" help:"Address of GitLab itself, which receives the token; only needed where it is of another domain than the registry"`
	Mirror  *url.URL `option:"mirror" help:"Mirror or pull-through cache to use instead; it receives the token if it asks for it. For a mirror with projects, end with /v2/PROJECT"`
}

func (g gitlab) place(r row) (place, error) {
	hosts, err := addressed(r, g.URL, g.Mirror)
	where := place{hosts: hosts, tokenHostsKey: "authurl"}
	if g.AuthURL != nil {
		where.tokenHosts = lower([]string{g.AuthURL.Host})
	}
	return where, err
}

// addressed returns the hosts of the registry at an address, with the API there or at the mirror.
func addressed(r row, address, mirror *url.URL) ([]registry.Host, error) {
	if address == nil && r.address == "" {
		return nil, sdk.Invalid(addressKey, "is required: the address of the registry")
	}
	if address == nil {
		var err error
		if address, err = url.Parse(r.address); err != nil {
			return nil, err
		}
	}
	base, err := oci.Base(addressKey, address)
	if err != nil {
		return nil, err
	}
	if mirror != nil {
		return oci.Mirrored(mirror, names(address)...)
	}
	return oci.At(base, names(address)...), nil
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

func lower(hosts []string) []string {
	all := make([]string, len(hosts))
	for i, h := range hosts {
		all[i] = strings.ToLower(h)
	}
	return all
}
