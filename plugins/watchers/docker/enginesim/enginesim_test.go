package enginesim

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func serve(t *testing.T, e *Engine) string {
	t.Helper()
	s, err := e.Listen("")
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	return strings.Replace(s.Address, "tcp://", "http://", 1)
}

func get(t *testing.T, address string) (int, string) {
	t.Helper()
	response, err := http.Get(address)
	check(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	check(t, err)
	return response.StatusCode, string(body)
}

func names(t *testing.T, address string) []string {
	t.Helper()
	status, body := get(t, address)
	var list []struct{ Names []string }
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	var out []string
	for _, c := range list {
		out = append(out, strings.Join(c.Names, " "))
	}
	return out
}

func example(t *testing.T) *Engine {
	t.Helper()
	e := New(Config{APIVersion: "1.44", MinAPIVersion: "1.40"})
	e.AddImage(Image{Tags: []string{"app"}})
	for _, c := range []Container{
		{Name: "a", Image: "app", Labels: map[string]string{"x": "1"}},
		{Name: "b", Aliases: []string{"web/b"}, Image: "app:latest", State: Exited, Labels: map[string]string{"x": "2"}},
		{Name: "c", Image: "app", State: Paused},
	} {
		if _, err := e.Create(c); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func TestListContainers(t *testing.T) {
	e := example(t)
	at := serve(t, e)
	for query, want := range map[string][]string{
		"":                                      {"/c", "/a"},
		"?all=1":                                {"/c", "/web/b /b", "/a"},
		"?all=true":                             {"/c", "/web/b /b", "/a"},
		`?filters={"label":{"x":true}}`:         {"/a"},
		`?filters={"label":{"x=2":true}}`:       nil,
		`?all=1&filters={"label":{"x=2":true}}`: {"/web/b /b"},
		`?filters={"status":{"exited":true}}`:   {"/web/b /b"},
		`?all=1&filters={"name":{"a":true,"c":true}}`:     {"/c", "/a"},
		`?filters={"status":{"paused":true,"dead":true}}`: {"/c"},
	} {
		path, values, _ := strings.Cut(query, "filters=")
		if values != "" {
			path += "filters=" + url.QueryEscape(values)
		}
		if got := names(t, at+"/v1.44/containers/json"+path); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	if status, _ := get(t, at+"/containers/json?filters=x"); status != http.StatusBadRequest {
		t.Errorf("bad filters: %d", status)
	}
}

func TestVersions(t *testing.T) {
	at := serve(t, example(t))
	for path, want := range map[string]int{
		"/_ping": 200, "/version": 200, "/containers/json": 200, "/v1.40/containers/json": 200, "/v1.44/version": 200,
		"/v1.9/containers/json": 400, "/v1.39/images/json": 400, "/v1.45/events": 400, "/v1.44/nothing": 404,
		"/v1.44/containers/none/json": 404, "/v1.44/images/none/json": 404,
	} {
		response, err := http.Get(at + path)
		check(t, err)
		response.Body.Close()
		if response.StatusCode != want || response.Header.Get("Api-Version") != "1.44" {
			t.Errorf("%s: %d, want %d", path, response.StatusCode, want)
		}
	}
	response, err := http.Post(at+"/v1.44/containers/a/stop", "", nil)
	check(t, err)
	response.Body.Close()
	if response.StatusCode != http.StatusForbidden {
		t.Errorf("POST: %d", response.StatusCode)
	}
}

func TestFaults(t *testing.T) {
	e := example(t)
	at := serve(t, e)
	e.Fail(ListImages, Fault{Status: 500, Times: 2})
	for _, want := range []int{500, 500, 200, 200} {
		if status, _ := get(t, at+"/v1.44/images/json"); status != want {
			t.Errorf("%d, want %d", status, want)
		}
	}
	e.Fail(ListImages, Fault{Body: "<html>"})
	if status, body := get(t, at+"/images/json"); status != 200 || body != "<html>" {
		t.Errorf("%d %s", status, body)
	}
	if n := e.Requests(ListImages); n != 5 {
		t.Errorf("%d requests", n)
	}
}

func TestChangesRejectUnknownContainers(t *testing.T) {
	e := example(t)
	_, taken := e.Create(Container{Name: "a", Image: "app"})
	_, noImage := e.Create(Container{Name: "d", Image: "none"})
	_, recreated := e.Recreate("a", "none")
	_, none := e.Recreate("none", "app")
	for i, err := range []error{taken, noImage, recreated, none, e.Start("none"), e.Stop("none"), e.Rename("none", "d"),
		e.Rename("a", "b"), e.Remove("none")} {
		if err == nil {
			t.Errorf("change %d was taken", i)
		}
	}
	if got := names(t, serve(t, e)+"/containers/json?all=1"); len(got) != 3 {
		t.Errorf("%v", got)
	}
}

func TestEventStream(t *testing.T) {
	clock := time.Unix(1_700_000_000, 0)
	e := New(Config{Now: func() time.Time { return clock }})
	check(t, e.Populate(300, func(i int) string { return fmt.Sprintf("example.org/app%d:1", i) })) // 600 events
	at := serve(t, e)

	read := func(t *testing.T, query string, n int) (*bufio.Scanner, []event) {
		response, err := http.Get(at + "/events?" + query)
		check(t, err)
		t.Cleanup(func() { response.Body.Close() })
		lines := bufio.NewScanner(response.Body)
		var out []event
		for len(out) < n && lines.Scan() {
			var ev event
			check(t, json.Unmarshal(lines.Bytes(), &ev))
			out = append(out, ev)
		}
		return lines, out
	}
	past := func(n int64) string { return fmt.Sprintf("since=%d.%09d", clock.Unix(), n) }

	_, all := read(t, past(0), 256)
	if len(all) != 256 || all[0].TimeNano != clock.UnixNano()+344 || all[255].TimeNano != clock.UnixNano()+599 {
		t.Errorf("%d events since the beginning: %+v … %+v", len(all), all[0], all[len(all)-1])
	}
	_, late := read(t, past(598), 2)
	if late[0].Action != "create" || late[1].Action != "start" || late[1].Actor.Attributes["name"] != "c0299" ||
		late[1].ID != late[1].Actor.ID {
		t.Errorf("%+v", late)
	}
	_, starts := read(t, past(0)+"&filters="+url.QueryEscape(`{"event":{"start":true},"type":{"container":true}}`), 128)
	if slices.ContainsFunc(starts, func(ev event) bool { return ev.Action != "start" }) {
		t.Errorf("filter: %+v", starts)
	}
	if status, _ := get(t, at+"/events?since=yesterday"); status != http.StatusBadRequest {
		t.Errorf("bad since: %d", status)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	request := httptest.NewRequest(http.MethodGet, at+"/events", nil).WithContext(ctx)
	request.RequestURI = ""
	response, err := http.DefaultClient.Do(request)
	check(t, err)
	defer response.Body.Close()
	check(t, e.AwaitStreams(ctx, 4))
	check(t, e.Rename("c0000", "moved"))
	lines := bufio.NewReader(response.Body)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, `"Action":"rename"`) {
		t.Errorf("%s %v", line, err)
	}
	e.BreakStreams()
	if _, err := lines.ReadString('\n'); err == nil || ctx.Err() != nil {
		t.Errorf("a broken stream goes on: %v", err)
	}
	e.Restart()
	check(t, e.Rename("moved", "c0000"))
	if _, after := read(t, past(0), 1); after[0].Action != "rename" {
		t.Errorf("a restarted engine remembers %+v", after)
	}
}

func TestResponsesAreDeterministic(t *testing.T) {
	var bodies []string
	for range 2 {
		e := New(Config{Now: func() time.Time { return time.Unix(1_700_000_000, 0) }})
		check(t, e.Populate(20, func(i int) string { return fmt.Sprintf("example.org:5000/app%d", i) }))
		at := serve(t, e)
		_, containers := get(t, at+"/v1.51/containers/json")
		_, images := get(t, at+"/v1.51/images/json")
		bodies = append(bodies, containers+images)
	}
	if bodies[0] != bodies[1] || !strings.Contains(bodies[0], `"example.org:5000/app7@sha256:`) ||
		!strings.Contains(bodies[0], `"example.org:5000/app7:latest"`) {
		t.Errorf("%s\n%s", bodies[0], bodies[1])
	}
}

// post changes something and returns the status and the body of the response.
func post(t *testing.T, address, body string) (int, string) {
	t.Helper()
	response, err := http.Post(address, "application/json", strings.NewReader(body))
	check(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check(t, err)
	return response.StatusCode, string(text)
}

// TestPulledImageIsThere: a pull by digest tells its progress; the image has that digest, and no tag until it gets one.
func TestPulledImageIsThere(t *testing.T) {
	digest := Digest("new")
	e := New(Config{Writable: true, Pull: func(repository, wanted string) (Image, bool) {
		return Image{ID: Digest("config"), Size: 1000}, repository == "docker.io/library/app" && wanted == digest
	}})
	old := e.AddImage(Image{Tags: []string{"app:1"}})
	at := serve(t, e)
	pull := at + "/images/create?fromImage=docker.io/library/app&tag="
	status, said := post(t, pull+digest, "")
	if status != http.StatusOK || !strings.Contains(said, `"current":1000,"total":1000`) {
		t.Errorf("%d %s", status, said)
	}
	if status, _ := post(t, pull+Digest("none"), ""); status != http.StatusNotFound {
		t.Errorf("%d for an image that does not exist", status)
	}
	describe := func(name string) (i struct {
		ID                    string `json:"Id"`
		RepoTags, RepoDigests []string
	}) {
		status, body := get(t, at+"/images/"+name+"/json")
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", name, status, body)
		}
		check(t, json.Unmarshal([]byte(body), &i))
		return i
	}
	got := describe("docker.io/library/app@" + digest)
	digests := []string{"app@" + digest}
	if got.ID != Digest("config") || len(got.RepoTags) > 0 || !slices.Equal(got.RepoDigests, digests) {
		t.Errorf("%+v", got)
	}
	again := at + "/images/" + got.ID + "/tag?repo=docker.io/library/app&tag=1"
	if status, said := post(t, again, ""); status != http.StatusCreated {
		t.Errorf("tag: %d %s", status, said)
	}
	if now, before := describe("app:1"), describe(old); now.ID != got.ID || len(before.RepoTags) > 0 {
		t.Errorf("app:1 is %+v, and the old image %+v", now, before)
	}
}

// TestHealthChecksFollowTheClock: a health check is starting until it ran, and a program that
// fails it is unhealthy after as many of them as the image says.
func TestHealthChecksFollowTheClock(t *testing.T) {
	var after atomic.Int64 // the server reads it
	began := time.Unix(1_700_000_000, 0)
	e := New(Config{Now: func() time.Time { return began.Add(time.Duration(after.Load())) }})
	test := container.HealthConfig{Test: []string{"CMD", "/main"}, Interval: 2 * time.Second, Retries: 3}
	for name, program := range map[string]Program{"good": {}, "bad": {Failure: "refused"}} {
		i := Image{Tags: []string{name}, Program: program}
		i.Config.Healthcheck = &test
		e.AddImage(i)
		_, err := e.Create(Container{Name: name, Image: name})
		check(t, err)
	}
	at := serve(t, e)
	health := func(name string) string {
		_, body := get(t, at+"/containers/"+name+"/json")
		var c struct {
			State struct{ Health container.Health }
		}
		check(t, json.Unmarshal([]byte(body), &c))
		h := c.State.Health
		text := fmt.Sprint(h.Status, " ", h.FailingStreak, " ", len(h.Log))
		if len(h.Log) > 0 {
			last := h.Log[len(h.Log)-1]
			text += fmt.Sprint(" ", last.ExitCode, last.Output)
		}
		return text
	}
	for passed, want := range map[time.Duration][2]string{
		time.Second:      {"starting 0 0", "starting 0 0"},
		2 * time.Second:  {"healthy 0 1 0", "starting 1 1 1refused"},
		5 * time.Second:  {"healthy 0 2 0", "starting 2 2 1refused"},
		6 * time.Second:  {"healthy 0 3 0", "unhealthy 3 3 1refused"},
		60 * time.Second: {"healthy 0 5 0", "unhealthy 30 5 1refused"},
	} {
		after.Store(int64(passed))
		if got := [2]string{health("good"), health("bad")}; got != want {
			t.Errorf("after %s: %q, want %q", passed, got, want)
		}
	}
	check(t, e.Stop("good"))
	if got := health("good"); !strings.HasPrefix(got, "unhealthy") {
		t.Errorf("stopped: %s", got)
	}
}

// TestPortsArePublishedOnce, and only while a container runs.
func TestPortsArePublishedOnce(t *testing.T) {
	e := New(Config{Writable: true})
	i := Image{Tags: []string{"app"}}
	i.Config.ExposedPorts = map[string]struct{}{"80/tcp": {}}
	e.AddImage(i)
	at := serve(t, e)
	const body = `{"Image": "app", "HostConfig": {"PortBindings": {"80/tcp": [{"HostPort": "8080"}]}}}`
	for _, name := range []string{"a", "b"} {
		if status, said := post(t, at+"/containers/create?name="+name, body); status != http.StatusCreated {
			t.Fatalf("%d %s", status, said)
		}
	}
	for _, step := range []struct {
		path   string
		status int
	}{
		{"a/start", http.StatusNoContent}, {"b/start", http.StatusInternalServerError},
		{"a/stop", http.StatusNoContent}, {"b/start", http.StatusNoContent},
	} {
		if status, said := post(t, at+"/containers/"+step.path, ""); status != step.status {
			t.Errorf("%s: %d %s, want %d", step.path, status, said, step.status)
		}
	}
	_, list := get(t, at+"/containers/json?all=1")
	if n := strings.Count(list, `"PublicPort":8080`); n != 1 {
		t.Errorf("the port is published %d times: %s", n, list)
	}
}
