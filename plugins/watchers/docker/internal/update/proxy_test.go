package update

import (
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/go-connections/nat"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/sshdial"
)

// updaterOf is an updater of the engine at an address, which it does not connect to.
func updaterOf(address string) *Updater {
	scheme, address, _ := strings.Cut(address, "://")
	endpoint := engine.Endpoint{Network: scheme, Address: address}
	if scheme == "ssh" {
		hop := sshdial.Hop{User: "pi", Address: address}
		endpoint = engine.Endpoint{
			Network: "unix", Address: "/run/engine.sock", SSH: sshdial.New([]sshdial.Hop{hop}, sshdial.Identity{}, ""),
		}
	}
	return &Updater{
		engine:        engine.New(endpoint, "", false),
		HelperCommand: func() ([]string, error) { return []string{"dogwatch"}, nil },
	}
}

// placed is a container in a network.
func placed(id, name string, mode container.NetworkMode, e *network.EndpointSettings) replace.Container {
	c := replace.Container{InspectResponse: container.InspectResponse{
		ContainerJSONBase: &container.ContainerJSONBase{
			ID: strings.Repeat(id, 64), Name: "/" + name, HostConfig: &container.HostConfig{NetworkMode: mode},
		},
		Config: &container.Config{}, NetworkSettings: &container.NetworkSettings{},
	}, Image: &replace.Image{}}
	if e != nil {
		c.NetworkSettings.Networks = map[string]*network.EndpointSettings{"engine": e}
	}
	return c
}

func TestProxiesFindTheSocketProxy(t *testing.T) {
	proxy := placed("a", "p-engine-1", "engine", &network.EndpointSettings{
		Aliases: []string{"engine"}, IPAddress: "10.7.0.2",
	})
	inside := placed("b", "sidecar", container.NetworkMode("container:"+strings.Repeat("d", 64)), nil)
	published := placed("c", "published", "bridge", &network.EndpointSettings{IPAddress: "10.7.0.3"})
	published.HostConfig.PortBindings = nat.PortMap{"2375/tcp": {{HostPort: "12375"}}}
	dog := placed("d", "dog", "engine", &network.EndpointSettings{IPAddress: "10.7.0.4"})
	f := replace.Facts{Target: dog, Others: []replace.Container{proxy, inside, published}, Self: dog.ID}
	for host, want := range map[string][]string{
		"tcp://p-engine-1:2375":        {"p-engine-1"},
		"tcp://engine:2375":            {"p-engine-1"},
		"tcp://10.7.0.2:2375":          {"p-engine-1"},
		"tcp://192.0.2.1:12375":        {"published"},
		"tcp://127.0.0.1:2375":         {"sidecar"},
		"tcp://192.0.2.1:2375":         nil,
		"unix:///var/run/docker.sock2": nil,
	} {
		var got []string
		found := updaterOf(host).proxies(t.Context(), f)
		for _, c := range append([]replace.Container{dog}, f.Others...) {
			if found[c.ID] {
				got = append(got, c.Name())
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", host, got, want)
		}
	}
}

func TestNoHelperSaysWhy(t *testing.T) {
	dog := placed("d", "dog", "bridge", nil)
	gone := dog
	gone.Image = nil
	host := placed("d", "dog", "host", nil)
	for name, c := range map[string]struct {
		target   replace.Container
		at, self string
		want     string
	}{
		"a socket":             {dog, "unix:///run/engine.sock", dog.ID, ""},
		"a proxy":              {dog, "tcp://engine:2375", dog.ID, ""},
		"another container":    {gone, "tcp://127.0.0.1:2375", "", ""},
		"its image is gone":    {gone, "unix:///run/engine.sock", dog.ID, "image"},
		"loopback":             {dog, "tcp://127.0.0.1:2375", dog.ID, "127.0.0.1"},
		"loopback of the host": {host, "tcp://localhost:2375", dog.ID, ""},
		"ssh":                  {dog, "ssh://nas:22", dog.ID, "by ssh"},
	} {
		if got := updaterOf(c.at).noHelper(replace.Facts{Target: c.target, Self: c.self}); (got == "") != (c.want == "") ||
			!strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
