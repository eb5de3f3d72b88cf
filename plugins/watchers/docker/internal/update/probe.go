package update

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/go-connections/nat"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
)

const (
	here         = "127.0.0.1"
	probeTimeout = 5 * time.Second
)

// machine is where Dogwatch reaches the ports that the engine publishes. By ssh it connects from the engine's machine.
func (u *Updater) machine(f replace.Facts) string {
	for _, c := range append([]replace.Container{f.Target}, f.Others...) {
		if c.ID != f.Self || c.HostConfig.NetworkMode.IsHost() || c.NetworkSettings == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(c.NetworkSettings.Networks)) {
			if e := c.NetworkSettings.Networks[name]; e != nil && e.Gateway != "" {
				return e.Gateway
			}
		}
	}
	if host := u.engine.Endpoint.Host(); host != "" && u.engine.Endpoint.SSH == nil && f.Self == "" && len(f.Proxies) == 0 {
		return host
	}
	return here
}

// targets returns where a port of a container may be reached: its addresses, or those of
// the container whose network it has, and where the port is published.
func (r *replacement) targets(ctx context.Context, c container.InspectResponse, port string) ([]string, error) {
	if c.HostConfig != nil && c.HostConfig.NetworkMode.IsContainer() {
		var err error
		if c, err = r.engine.Container(ctx, c.HostConfig.NetworkMode.ConnectedContainer()); err != nil {
			return nil, err
		}
	}
	var all []string
	add := func(host, port string) {
		if host != "" && port != "" {
			all = append(all, net.JoinHostPort(host, port))
		}
	}
	if c.HostConfig != nil && c.HostConfig.NetworkMode.IsHost() {
		add(r.machine, port)
	}
	if c.NetworkSettings != nil {
		for _, name := range slices.Sorted(maps.Keys(c.NetworkSettings.Networks)) {
			if e := c.NetworkSettings.Networks[name]; e != nil {
				add(e.IPAddress, port)
				add(e.GlobalIPv6Address, port)
			}
		}
		for _, b := range c.NetworkSettings.Ports[nat.Port(port+"/tcp")] {
			switch address, err := netip.ParseAddr(b.HostIP); {
			case err != nil, address.IsUnspecified():
				add(r.machine, b.HostPort)
			case !address.IsLoopback() || r.machine == here: // another loopback interface is not this one
				add(b.HostIP, b.HostPort)
			}
		}
	}
	if len(all) == 0 {
		return nil, errors.New("it has no address at which the probe could reach it: use a command as the probe")
	}
	return slices.Compact(all), nil
}

// tryAny tries a probe at each place where a port may be reached until it succeeds. The
// error is that of the first.
func (r *replacement) tryAny(
	ctx context.Context, c container.InspectResponse, port string, try func(ctx context.Context, address string) error,
) error {
	targets, err := r.targets(ctx, c, port)
	if err != nil {
		return err
	}
	var first error
	for _, target := range targets {
		limited, cancel := context.WithTimeout(ctx, probeTimeout/time.Duration(len(targets)))
		err := try(limited, target)
		cancel()
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (r *replacement) probeHTTP(ctx context.Context, text string, c container.InspectResponse) error {
	to, err := url.Parse(text)
	if err != nil {
		return fmt.Errorf("the probe's address is not one: %w", err)
	}
	if to.Hostname() != "" {
		return r.get(ctx, *to, (&net.Dialer{}).DialContext)
	}
	port := to.Port()
	switch {
	case port != "":
	case to.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return r.tryAny(ctx, c, port, func(ctx context.Context, address string) error {
		there := *to
		there.Host = address
		return r.get(ctx, there, r.engine.Endpoint.Dial)
	})
}

// dialer makes a connection.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func (r *replacement) get(ctx context.Context, to url.URL, connect dialer) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", r.engine.UserAgent)
	transport := &http.Transport{DisableKeepAlives: true, DialContext: connect}
	response, err := (&http.Client{
		Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("it responds with %s", response.Status)
	}
	return nil
}

func (r *replacement) probeTCP(ctx context.Context, text string, c container.InspectResponse) error {
	if port, found := strings.CutPrefix(text, ":"); found {
		return r.tryAny(ctx, c, port, func(ctx context.Context, address string) error {
			return dial(ctx, r.engine.Endpoint.Dial, address)
		})
	}
	return dial(ctx, (&net.Dialer{}).DialContext, text)
}

func dial(ctx context.Context, connect dialer, address string) error {
	conn, err := connect(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}
