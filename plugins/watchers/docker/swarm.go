package docker

import (
	"os"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/swarm"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// SwarmOptions says where a manager of a swarm is and which of its services to list.
type SwarmOptions struct {
	Connection
	Logs   bool     `option:"logs" default:"false" help:"Show the last lines that the tasks of a service wrote on its page, to whoever may write; the engine, or the socket proxy before it, must allow reading them"`
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
	endpoint, warnings, err := locate(o.Connection, os.Getenv("DOCKER_HOST"))
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		env.Warn(w)
	}
	e := engine.New(endpoint, env.UserAgent, o.Update)
	return swarm.New(e, env.Log, swarm.Options{Stacks: o.Stacks, Logs: o.Logs}), nil
}
