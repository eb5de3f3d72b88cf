package registries

import (
	"slices"

	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// row is what is particular to a type.
type row struct {
	name, summary, docs string
	// hosts are what a type serves whose registries have known names: hosts, or
	// "*.suffix". Only their owner may be able to register names below a suffix.
	hosts []string
	// api is the address of the API of all hosts, when that is not at themselves.
	api string
	// address is the default of the option url.
	address string
	// tokenHosts may receive the credentials besides hosts of the registry's own domain.
	tokenHosts []string
	// public makes an instance of that name exist without configuration.
	public bool
	// image is one of the hosts that all clients may read.
	image string
	// help and example replace those of options, by name.
	help, example map[string]string
}

// options are what a user can set of a type: an embedded login, place and
// connection bring the methods along.
type options interface {
	// login returns the credentials, or nil for none.
	login() (oci.Login, error)
	// secrets returns what no error may hold.
	secrets() []string
	// keys names the options that hold the credentials, for remedies.
	keys() string
	place(row) (place, error)
	client() httpclient.Options
}

// place is where an instance finds its registries.
type place struct {
	hosts []registry.Host
	// tokenHosts may receive the credentials by the will of the operator; their option is tokenHostsKey.
	tokenHosts    []string
	tokenHostsKey string
}

// connection are the options of the HTTP client.
type connection struct{ httpclient.Options }

func (c connection) client() httpclient.Options { return c.Options }

// define makes a type of a row whose options are O.
func define[O options](shared *oci.Shared, r row) registry.Type {
	return registry.Define(r.name, r.summary, func(env sdk.Env, o O) (*oci.Registry, error) {
		return open(shared, r, env, o)
	}, r.settings()...)
}

// defineHub is define for Docker Hub, which has an API beside that of its registry.
func defineHub(shared *oci.Shared, r row) registry.Type {
	return registry.Define(r.name, r.summary, func(env sdk.Env, o hubOptions) (*oci.Hub, error) {
		client, err := open(shared, r, env, o)
		if err != nil {
			return nil, err
		}
		return &oci.Hub{Registry: client}, nil
	}, r.settings()...)
}

func open(shared *oci.Shared, r row, env sdk.Env, o options) (*oci.Registry, error) {
	login, err := o.login()
	if err != nil {
		return nil, err
	}
	where, err := o.place(r)
	if err != nil {
		return nil, err
	}
	return shared.Open(env, o.client(), oci.Config{
		Hosts:         where.hosts,
		Login:         login,
		TokenHosts:    slices.Concat(r.tokenHosts, where.tokenHosts),
		TokenHostsKey: where.tokenHostsKey,
		Keys:          o.keys(),
		PublicImage:   r.image,
	}, o.secrets()...)
}

func (r row) settings() []kind.Setting {
	settings := []kind.Setting{kind.Docs(r.docs), r.describe}
	if r.public {
		settings = append(settings, kind.Default("public"))
	}
	return settings
}

// describe fits the options to the row.
func (r row) describe(t *kind.Type) {
	for i := range t.Options {
		o := &t.Options[i]
		if text, has := r.help[o.Name]; has {
			o.Help = text
		}
		if text, has := r.example[o.Name]; has {
			o.Example = text
		}
		if o.Name == addressKey {
			if o.Required = r.address == ""; !o.Required {
				o.Default = &r.address
			}
		}
	}
}
