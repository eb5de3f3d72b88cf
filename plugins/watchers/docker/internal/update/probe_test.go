package update

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
)

func TestProbeTargets(t *testing.T) {
	for name, test := range map[string]struct {
		machine, inspect string
		want             []string
	}{
		"network": {here,
			`{"NetworkSettings":{"Networks":{"b":{"IPAddress":"10.0.0.2","GlobalIPv6Address":"fd00::2"},"a":{"IPAddress":"10.1.0.2"}}}}`, []string{"10.1.0.2:80", "10.0.0.2:80", "[fd00::2]:80"}},
		"published": {here,
			`{"NetworkSettings":{"Networks":{"a":{}},"Ports":{"80/tcp":[{"HostIp":"0.0.0.0","HostPort":"8080"}],"81/tcp":[{"HostPort":"8081"}]}}}`, []string{"127.0.0.1:8080"}},
		"published, inside": {"172.17.0.1",
			`{"NetworkSettings":{"Ports":{"80/tcp":[{"HostIp":"::","HostPort":"8080"}]}}}`, []string{"172.17.0.1:8080"}},
		"published at home": {here,
			`{"NetworkSettings":{"Ports":{"80/tcp":[{"HostIp":"127.0.0.1","HostPort":"8080"}]}}}`, []string{"127.0.0.1:8080"}},
		"published, but not": {"172.17.0.1",
			`{"NetworkSettings":{"Ports":{"80/tcp":[{"HostIp":"127.0.0.1","HostPort":"8080"}]}}}`, nil},
		"host": {"192.0.2.1", `{"HostConfig":{"NetworkMode":"host"}}`, []string{"192.0.2.1:80"}},
		"none": {here, `{"HostConfig":{"NetworkMode":"none"}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var c container.InspectResponse
			check(t, json.Unmarshal([]byte(`{"Id":"new","HostConfig":{}}`), &c))
			check(t, json.Unmarshal([]byte(test.inspect), &c))
			got, err := (&replacement{machine: test.machine}).targets(t.Context(), c, "80")
			if !slices.Equal(got, test.want) || (err == nil) != (test.want != nil) {
				t.Errorf("got %v, %v, want %v", got, err, test.want)
			}
		})
	}
}

func TestMachineOfPublishedPorts(t *testing.T) {
	local, remote := updaterOf("unix:///engine.sock"), updaterOf("tcp://192.0.2.7:2375")
	var self, host replace.Container
	check(t,
		json.Unmarshal([]byte(`{"Id":"self","HostConfig":{"NetworkMode":"front"},"NetworkSettings":{"Networks":{"front":{"Gateway":"172.18.0.1"}}}}`), &self.InspectResponse))
	check(t,
		json.Unmarshal([]byte(`{"Id":"self","HostConfig":{"NetworkMode":"host"},"NetworkSettings":{"Networks":{"host":{}}}}`), &host.InspectResponse))
	for name, test := range map[string]struct {
		updater *Updater
		facts   replace.Facts
		want    string
	}{
		"on the machine": {local, replace.Facts{Target: host}, here},
		"in a container": {local, replace.Facts{Target: host, Others: []replace.Container{self}, Self: "self"},
			"172.18.0.1"},
		"in the network of the host": {local, replace.Facts{Target: host, Self: "self"}, here},
		"on another machine":         {remote, replace.Facts{Target: host}, "192.0.2.7"},
	} {
		if got := test.updater.machine(test.facts); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

func TestProbeSaysWhoAsks(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.UserAgent() != "dogwatch/1.2.3" {
			http.Error(w, "who are you?", http.StatusForbidden)
		}
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	r := &replacement{Updater: &Updater{engine: &engine.Engine{UserAgent: "dogwatch/1.2.3"}}}
	if err := r.get(t.Context(), *at, r.engine.Endpoint.Dial); err != nil {
		t.Error(err)
	}
}
