package docker

import (
	"net/url"
	"os"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/swarm"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Connection says where an engine is, see Options.
type Connection struct {
	Socket   string `option:"socket" default:"/var/run/docker.sock" help:"Path of the engine's socket, or its address as unix://, ssh://user@host, tcp://, http://, https:// or docker-context:NAME; DOCKER_HOST replaces the default when it is set"`
	Host     string `option:"host" help:"Name or address of an engine on the network, ssh://user@host, or docker-context:NAME; replaces socket" example:"engine"`
	Port     int    `option:"port" default:"2375" min:"1" max:"65535" help:"Port on host; with TLS the default is 2376, with ssh:// 22"`
	CAFile   string `option:"cafile" help:"File with the CA that signed the engine's certificate (PEM); turns TLS on"`
	CertFile string `option:"certfile" help:"File with the client certificate for the engine (PEM); turns TLS on, needs keyfile"`
	KeyFile  string `option:"keyfile" help:"File with the key of certfile (PEM)"`
	SSH      SSH    `option:"ssh"`

	Proxy *url.URL `option:"proxy,secret,mask=url" help:"Proxy to an engine on the network, http://, https:// or socks5://, with user:password@ when it asks for them; those of the environment are for registries"`
}

// SwarmOptions says where a manager of a swarm is and which of its services to list.
type SwarmOptions struct {
	Connection
	Stacks []string `option:"stacks" help:"Names of the stacks whose services are listed; all services without any" example:"media,web"`
	Update bool     `option:"update" default:"false" help:"Let Dogwatch update services, as their own update settings say; the engine, or the socket proxy before it, must allow changes"`
}

// SwarmType is the watcher of services, as a bundle lists it.
func SwarmType() watcher.Type {
	return watcher.Define("swarm", "Services of a Docker Swarm", NewSwarm,
		kind.Docs("https://docs.docker.com/engine/swarm/"),
		watcher.AttributesLabels())
}

// NewSwarm makes a watcher of the services of the swarm that the engine which o names manages. It does not connect.
func NewSwarm(env sdk.Env, o SwarmOptions) (*swarm.Swarm, error) {
	endpoint, warnings, err := locate(Options{
		Socket: o.Socket, Host: o.Host, Port: o.Port, CAFile: o.CAFile, CertFile: o.CertFile, KeyFile: o.KeyFile,
		SSH: o.SSH, Proxy: o.Proxy,
	}, os.Getenv("DOCKER_HOST"))
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		env.Warn(w)
	}
	return swarm.New(engine.New(endpoint, env.UserAgent, o.Update), env.Log, o.Stacks), nil
}
