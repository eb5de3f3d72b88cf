package update

import (
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/go-connections/nat"
)

// TestUpdateComparesPublishedPorts also where it does not know why one is missing.
func TestUpdateComparesPublishedPorts(t *testing.T) {
	is := func(wanted string, ports nat.PortMap) container.InspectResponse {
		host := &container.HostConfig{PortBindings: nat.PortMap{"80/tcp": {{HostPort: wanted}}}}
		settings := &container.NetworkSettings{}
		settings.Ports = ports
		base := &container.ContainerJSONBase{HostConfig: host}
		return container.InspectResponse{ContainerJSONBase: base, NetworkSettings: settings}
	}
	at := func(port string) nat.PortMap {
		return nat.PortMap{"80/tcp": {{HostIP: "0.0.0.0", HostPort: port}}, "81/tcp": {{HostPort: "1"}}}
	}
	for name, test := range map[string]struct {
		wanted      string
		before, now nat.PortMap
		missing     bool
	}{
		"same":              {"8080", at("8080"), at("8080"), false},
		"gone":              {"8080", at("8080"), nil, true},
		"another":           {"8080", at("8080"), at("8081"), true},
		"chosen anew":       {"", at("32768"), at("32769"), false},
		"chosen, gone":      {"", at("32768"), nil, true},
		"never published":   {"8080", nil, nil, false},
		"not set by a user": {"8080", nat.PortMap{"81/tcp": {{HostPort: "1"}}}, nil, false},
	} {
		if err := published(is(test.wanted, test.before), is(test.wanted, test.now)); (err != nil) != test.missing {
			t.Errorf("%s: %v", name, err)
		}
	}
}
