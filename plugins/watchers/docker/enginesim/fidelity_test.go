package enginesim_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	dockerspec "github.com/moby/docker-image-spec/specs-go/v1"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
)

// TestFidelity sends the same requests to a real engine and a simulated one: every
// field of the simulation is in the real response too, with a value of the same type.
func TestFidelity(t *testing.T) {
	genuine := dockertest.Start(t)
	realImage := genuine.Image(t, "app:1")
	genuine.Image(t, "") // listed in a form of its own
	realID := genuine.Run(t, "web", "app:1", map[string]string{"a": "b"})

	simulated := enginesim.New(enginesim.Config{APIVersion: "1.41"})
	image := simulated.AddImage(enginesim.Image{Tags: []string{"app:1"}})
	simulated.AddImage(enginesim.Image{})
	id, err := simulated.Create(enginesim.Container{Name: "web", Image: "app:1", Labels: map[string]string{"a": "b"}})
	check(t, err)
	server, err := simulated.Listen("")
	check(t, err)
	t.Cleanup(func() { check(t, server.Close()) })

	for name, paths := range map[string][2]string{
		"containers":   {"/containers/json?all=1", "/containers/json?all=1"},
		"container":    {"/containers/" + realID + "/json", "/containers/" + id + "/json"},
		"images":       {"/images/json", "/images/json"},
		"image":        {"/images/" + realImage + "/json", "/images/" + image + "/json"},
		"version":      {"/version", "/version"},
		"no container": {"/containers/none/json", "/containers/none/json"},
		"no image":     {"/images/none/json", "/images/none/json"},
		"events": {"/events?since=0&filters=" + url.QueryEscape(`{"type":["container"],"event":["create"]}`),
			"/events?since=0"},
		"sized":         {"/containers/web/json?size=1", "/containers/web/json?size=1"},
		"networks":      {"/networks", "/networks"},
		"changes":       {"/containers/web/changes", "/containers/web/changes"},
		"ping":          {"/_ping", "/_ping"},
		"unknown route": {"/nothing", "/nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			wantStatus, want := fetch(t, genuine.Host, http.MethodGet, paths[0], "")
			gotStatus, got := fetch(t, server.Address, http.MethodGet, paths[1], "")
			if gotStatus != wantStatus {
				t.Errorf("status %d, want %d", gotStatus, wantStatus)
			}
			compare(t, name, got, want)
		})
	}
	for _, version := range []string{"1.99", "1.1"} {
		wantStatus, _ := fetch(t, genuine.Host, http.MethodGet, "/v"+version+"/containers/json", "")
		gotStatus, _ := fetch(t, server.Address, http.MethodGet, "/v"+version+"/containers/json", "")
		if gotStatus != wantStatus {
			t.Errorf("version %s: status %d, want %d", version, gotStatus, wantStatus)
		}
	}
}

// TestChangesFidelity has a real engine and a simulated one replace a container in the same way:
// each response has the same status, and of the new container both say the same.
func TestChangesFidelity(t *testing.T) {
	genuine := dockertest.Start(t)
	changes := []string{
		"ENV A=1", "ENV B=2", "USER 7:7", "EXPOSE 80", "VOLUME /data", "WORKDIR /tmp", "LABEL of=image",
		`HEALTHCHECK --interval=1h --retries=4 CMD ["/main", "health", "h"]`,
	}
	realImage := genuine.Image(t, "app:1", changes...)
	genuine.Run(t, "web", "app:1", nil)

	simulated := enginesim.New(enginesim.Config{APIVersion: "1.41", Writable: true})
	image := simulated.AddImage(enginesim.Image{
		Tags: []string{"app:1"}, Labels: map[string]string{"of": "image"}, Config: configOf(t, genuine.Host, "app:1"),
	})
	_, err := simulated.Create(enginesim.Container{Name: "web", Image: "app:1"})
	check(t, err)
	server, err := simulated.Listen("")
	check(t, err)
	t.Cleanup(func() { check(t, server.Close()) })

	const body = `{"Image": "docker.io/library/app:1", "Env": ["B=3", "C=4"], "Labels": {"of": "user"},
		"Healthcheck": {"Retries": 9}, "Volumes": {"/more": {}},
		"HostConfig": {"NetworkMode": "none", "RestartPolicy": {"Name": "always"},
			"Binds": ["named:/named:ro"], "VolumesFrom": ["web"]}}`
	for _, step := range []struct{ method, path, body string }{
		{"POST", "/containers/create?name=new", body},
		{"POST", "/containers/create?name=new", body},
		{"POST", "/containers/create?name=newer", `{"Image": "none:1"}`},
		{"POST", "/containers/create?name=newer", `{"Image": "app:1", "HostConfig": {"NetworkMode": "nowhere"}}`},
		{"POST", "/containers/newer/start", ""},
		{"DELETE", "/containers/newer", ""},
		{"POST", "/containers/web/rename?name=old", ""},
		{"POST", "/containers/new/rename?name=old", ""},
		{"POST", "/containers/new/rename?name=web", ""},
		{"POST", "/containers/old/update", `{"RestartPolicy": {"Name": "no"}}`},
		{"POST", "/containers/old/stop?t=5", ""},
		{"POST", "/containers/old/stop?t=5", ""},
		{"POST", "/containers/old/kill?signal=SIGINT", ""},
		{"POST", "/containers/old/pause", ""},
		{"POST", "/containers/web/start", ""},
		{"POST", "/containers/web/start", ""},
		{"GET", "/containers/web/json?size=1", ""},
		{"GET", "/containers/web/logs?stdout=1&stderr=1&tail=3", ""},
		{"POST", "/containers/web/restart?t=5", ""},
		{"DELETE", "/containers/web", ""},
		{"DELETE", "/containers/old", ""},
		{"DELETE", "/containers/old", ""},
		{"POST", "/images/IMAGE/tag?repo=docker.io/library/app&tag=2", ""},
		{"POST", "/containers/none/start", ""},
		{"DELETE", "/images/IMAGE?force=1", ""},
		{"DELETE", "/containers/web?force=1&v=1", ""},
		{"DELETE", "/images/IMAGE?force=1", ""},
		{"DELETE", "/images/none", ""},
	} {
		path := func(id string) string { return strings.Replace(step.path, "IMAGE", id, 1) }
		wantStatus, want := fetch(t, genuine.Host, step.method, path(realImage), step.body)
		gotStatus, got := fetch(t, server.Address, step.method, path(image), step.body)
		if gotStatus != wantStatus {
			t.Errorf("%s %s: status %d, really %d: %v, really %v",
				step.method, step.path, gotStatus, wantStatus, got, want)
		}
		if step.method == "GET" && wantStatus == http.StatusOK && strings.Contains(step.path, "/json") {
			compare(t, step.path, got, want)
			same(t, got, want)
		}
	}
}

// configOf is what an image of an engine gives to containers.
func configOf(t *testing.T, host, image string) (c dockerspec.DockerOCIImageConfig) {
	t.Helper()
	_, document := fetch(t, host, http.MethodGet, "/images/"+image+"/json", "")
	text, err := json.Marshal(document.(map[string]any)["Config"])
	check(t, err)
	check(t, json.Unmarshal(text, &c))
	return c
}

// same checks that two engines made the same of a container.
func same(t *testing.T, got, want any) {
	t.Helper()
	a, b := got.(map[string]any), want.(map[string]any)
	sorted := func(list any) string {
		var texts []string
		for _, v := range list.([]any) {
			text, err := json.Marshal(v)
			check(t, err)
			texts = append(texts, string(text))
		}
		slices.Sort(texts)
		return strings.Join(texts, " ")
	}
	for _, name := range []string{
		"Entrypoint", "Cmd", "User", "ExposedPorts", "Volumes", "WorkingDir", "Labels", "Healthcheck", "Image",
	} {
		x, y := a["Config"].(map[string]any)[name], b["Config"].(map[string]any)[name]
		if !reflect.DeepEqual(x, y) {
			t.Errorf("Config.%s is %v, really %v", name, x, y)
		}
	}
	if x, y := sorted(a["Config"].(map[string]any)["Env"]), sorted(b["Config"].(map[string]any)["Env"]); x != y {
		t.Errorf("Config.Env is %v, really %v", x, y)
	}
	mounts := func(document map[string]any) (all []string) {
		for _, m := range document["Mounts"].([]any) {
			m := m.(map[string]any)
			name := m["Name"].(string)
			if len(name) == 64 {
				name = "unnamed"
			}
			all = append(all, fmt.Sprint(m["Type"], " ", name, " ", m["Destination"], " ", m["RW"]))
		}
		slices.Sort(all)
		return all
	}
	if x, y := mounts(a), mounts(b); !slices.Equal(x, y) {
		t.Errorf("Mounts are %q, really %q", x, y)
	}
	for _, name := range []string{"Status", "Running", "ExitCode", "FinishedAt"} {
		x, y := a["State"].(map[string]any)[name], b["State"].(map[string]any)[name]
		if x != y {
			t.Errorf("State.%s is %v, really %v", name, x, y)
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fetch returns the status and the first document of the response.
func fetch(t *testing.T, host, method, path, body string) (int, any) {
	t.Helper()
	network, address, _ := strings.Cut(host, "://")
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	defer transport.CloseIdleConnections()
	if !strings.HasPrefix(path, "/v") {
		path = "/v1.41" + path
	}
	request, err := http.NewRequestWithContext(t.Context(), method, "http://engine"+path, strings.NewReader(body))
	check(t, err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	check(t, err)
	defer response.Body.Close()
	line, err := bufio.NewReader(response.Body).ReadString('\n')
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	var document any
	if json.Unmarshal([]byte(line), &document) != nil {
		document = line
	}
	return response.StatusCode, document
}

// compare checks that got has nothing that want has not, except in maps whose keys are data.
func compare(t *testing.T, path string, got, want any) {
	t.Helper()
	if got == nil || want == nil {
		return // either may be empty
	}
	if reflect.TypeOf(got) != reflect.TypeOf(want) {
		t.Errorf("%s is a %T, really a %T", path, got, want)
		return
	}
	switch got := got.(type) {
	case map[string]any:
		if strings.HasSuffix(path, "Labels") || strings.HasSuffix(path, "Attributes") {
			return
		}
		for key, value := range got {
			really, found := want.(map[string]any)[key]
			if !found {
				t.Errorf("%s.%s does not exist", path, key)
				continue
			}
			compare(t, path+"."+key, value, really)
		}
	case []any:
		if others := want.([]any); len(got) > 0 && len(others) > 0 {
			for i, value := range got {
				compare(t, fmt.Sprintf("%s[%d]", path, i), value, others[min(i, len(others)-1)])
			}
		}
	}
}
