package replace

import (
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/go-connections/nat"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// running is a container that runs, on networks.
func running(id, name string, mode container.NetworkMode, networks ...string) Container {
	c := Container{InspectResponse: container.InspectResponse{
		ContainerJSONBase: &container.ContainerJSONBase{
			ID: strings.Repeat(id, 64), Name: "/" + name, Image: "sha256:" + name,
			State: &container.State{Running: true}, HostConfig: &container.HostConfig{NetworkMode: mode},
		},
		Config:          &container.Config{Image: name + ":1"},
		NetworkSettings: &container.NetworkSettings{Networks: map[string]*network.EndpointSettings{}},
	}, Image: &Image{ID: "sha256:" + name, Tags: []string{name + ":1"}, Platform: "linux/amd64"}}
	for _, n := range networks {
		c.NetworkSettings.Networks[n] = &network.EndpointSettings{
			Aliases: []string{name}, IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: "10.0.0.7"},
		}
	}
	return c
}

func TestPlanOfOwnContainerHandsOver(t *testing.T) {
	vpn := running("a", "vpn", "front", "front")
	dog := running("b", "dog", container.NetworkMode("container:"+vpn.ID))
	web := running("c", "web", "front", "front")
	req := watcher.UpdateRequest{Image: watcher.TargetImage{Reference: "dog:2", Digest: "sha256:new"}}
	for name, c := range map[string]struct {
		facts Facts
		want  string
		block string
	}{
		"itself":             {Facts{Target: dog, Others: []Container{vpn, web}, Self: dog.ID}, "pull handover:dog", ""},
		"what it depends on": {Facts{Target: vpn, Others: []Container{dog, web}, Self: dog.ID}, "pull handover:vpn", ""},
		"another one": {Facts{Target: web, Others: []Container{dog, vpn}, Self: dog.ID},
			"pull rename:web create:web stop:web start:web health:web remove:web", ""},
		"for the helper": {Facts{Target: dog, Others: []Container{vpn, web}},
			"pull rename:dog create:dog stop:dog start:dog health:dog remove:dog", ""},
		"the socket proxy": {Facts{
			Target: web, Others: []Container{dog, vpn}, Self: dog.ID, Proxies: map[string]bool{web.ID: true},
		}, "", BlockPath},
		"below its proxy": {Facts{
			Target: vpn, Others: []Container{dog, web}, Self: web.ID, Proxies: map[string]bool{dog.ID: true},
		}, "", BlockPath},
		"no helper is possible": {Facts{
			Target: dog, Others: []Container{vpn, web}, Self: dog.ID, NoHelper: "it has no image",
		}, "", BlockSelf},
	} {
		p := Plan(c.facts, req)
		var ids, blocks []string
		for _, s := range p.Steps {
			ids = append(ids, s.ID)
		}
		for _, b := range p.Blocks {
			blocks = append(blocks, b.Code)
		}
		if got := strings.Join(ids, " "); c.want != "" && got != c.want {
			t.Errorf("%s: steps %s, want %s", name, got, c.want)
		}
		if got := strings.Join(blocks, " "); got != c.block {
			t.Errorf("%s: blocks %q, want %q", name, got, c.block)
		}
	}
	req.Rules.DryRun = true
	if p := Plan(Facts{Target: dog, Others: []Container{vpn}, Self: dog.ID}, req); len(p.Steps) != 1 ||
		p.Steps[0].Code != watcher.StepPull {
		t.Errorf("a dry run takes %v", p.Steps)
	}
}

func TestPlanDoesNotRestartDogwatch(t *testing.T) {
	db, dog := running("a", "db", "front", "front"), running("b", "dog", "front", "front")
	db.Labels = map[string]string{composeProject: "p", composeService: "db"}
	dog.Labels = map[string]string{
		composeProject: "p", composeService: "dog", composeDependsOn: "db:service_started:true",
	}
	for self, want := range map[string]int{"": 1, dog.ID: 0} {
		if p := Plan(Facts{Target: db, Others: []Container{dog}, Self: self},
			watcher.UpdateRequest{}); len(p.Dependents) != want {
			t.Errorf("as %.4q: dependents %v", self, p.Dependents)
		}
	}
}

func TestHelperReachesTheEngineAndNothingElse(t *testing.T) {
	vpn := running("a", "vpn", "front", "front", "back")
	dog := running("b", "dog", container.NetworkMode("container:"+vpn.ID))
	dog.Config.Env = []string{"DOGWATCH_TOKEN=secret", "DOCKER_CONFIG=/c", "PATH=/own"}
	dog.Config.User, dog.Config.Hostname = "1000:1000", "dog"
	dog.Config.Labels = map[string]string{composeProject: "p"}
	dog.HostConfig.Binds = []string{"/var/run/docker.sock:/var/run/docker.sock"}
	dog.HostConfig.GroupAdd = []string{"999"}
	dog.HostConfig.PidMode = container.PidMode("container:" + vpn.ID)
	dog.HostConfig.ReadonlyRootfs = true
	dog.HostConfig.PortBindings = nat.PortMap{"3000/tcp": {{HostPort: "3000"}}}
	dog.HostConfig.RestartPolicy.Name = "always"
	f := Facts{Target: dog, Others: []Container{vpn}, Self: dog.ID}
	s := Helper(f, dog, HelperName("dog", "op1"), "op1", []string{"/bin/dogwatch", "plugin", "handover"}, "JOB=x")
	if s.Name != "dog-dogwatch-op1-helper" {
		t.Errorf("name %s", s.Name)
	}
	if want := []string{"DOCKER_CONFIG=/c", "PATH=/own", "JOB=x"}; !slices.Equal(s.Config.Env, want) {
		t.Errorf("environment %v", s.Config.Env)
	}
	if s.Config.User != "1000:1000" || s.Config.Hostname != "" || s.Config.Labels[composeProject] != "" ||
		s.Config.Image != "sha256:dog" || len(s.Config.Cmd) > 0 {
		t.Errorf("%+v", s.Config)
	}
	h := s.Host
	if h.PidMode != "" || h.PortBindings != nil || !h.ReadonlyRootfs || !slices.Equal(h.Binds, dog.HostConfig.Binds) ||
		!slices.Equal(h.GroupAdd, []string{"999"}) || h.RestartPolicy.Name != "unless-stopped" {
		t.Errorf("%+v", h)
	}
	if h.NetworkMode != "front" || len(s.Create) != 1 || s.Create[0].Name != "front" || len(s.Connect) != 1 ||
		s.Connect[0].Name != "back" || s.Create[0].Settings.IPAMConfig != nil || len(s.Create[0].Settings.Aliases) > 0 {
		t.Errorf("networks %s %+v %+v", h.NetworkMode, s.Create, s.Connect)
	}
}
