package engine

import (
	"crypto/tls"
	"fmt"
)

// Endpoint is where an engine is.
type Endpoint struct {
	Network string      // "unix" or "tcp"
	Address string      // path of the socket, or host:port
	Prefix  string      // path in front of the API: "", "/docker"
	TLS     *tls.Config // nil when the connection is plain
}

// String is the endpoint as an option holds it. It holds no secret.
func (e Endpoint) String() string {
	switch {
	case e.Network == "unix":
		return "unix://" + e.Address
	case e.TLS != nil:
		return "https://" + e.Address + e.Prefix
	}
	return "http://" + e.Address + e.Prefix
}

// DockerHost is the endpoint as DOCKER_HOST has it.
func (e Endpoint) DockerHost() (string, error) {
	switch {
	case e.Network == "unix":
		return "unix://" + e.Address, nil
	case e.TLS == nil && e.Prefix == "":
		return "tcp://" + e.Address, nil
	}
	return "", fmt.Errorf("compose is not called for an engine with TLS or a path (%s): use compose=edit", e)
}
