package engine

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/sshdial"
)

// Endpoint is where an engine is.
type Endpoint struct {
	Network string      // "unix" or "tcp"
	Address string      // path of the socket, or host:port
	Prefix  string      // path in front of the API: "", "/docker"
	TLS     *tls.Config // nil when the connection is plain
	// Proxy is what connections over TCP go through; nil for none.
	Proxy *url.URL
	// SSH connects to the machine where the socket is; nil when that is this one.
	SSH *sshdial.Dialer
}

// String is the endpoint as an option holds it. It holds no secret.
func (e Endpoint) String() string {
	switch {
	case e.SSH != nil:
		return "ssh://" + e.SSH.Target().String() + e.Address
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
	case e.SSH != nil:
		return "", fmt.Errorf("compose is not called for an engine on another machine (%s)", e)
	case e.Network == "unix":
		return "unix://" + e.Address, nil
	case e.TLS == nil && e.Prefix == "":
		return "tcp://" + e.Address, nil
	}
	return "", fmt.Errorf("compose is not called for an engine with TLS or a path (%s): use compose=edit", e)
}

// Host is the name or address of the engine's machine; "" for this one.
func (e Endpoint) Host() string {
	address := e.Address
	switch {
	case e.SSH != nil:
		address = e.SSH.Target().Address
	case e.Network == "unix":
		return ""
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	return host
}

// Dial connects to an address as the engine's machine sees it, if that is reached by ssh, and else from here.
func (e Endpoint) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if e.SSH != nil {
		return e.SSH.DialContext(ctx, network, address)
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}
