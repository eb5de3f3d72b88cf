package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func settings(url string) map[string]any {
	return map[string]any{"url": url, "apikey": "recognisable-key"}
}

// request is of services of the stack media, which run nginx:1.25.3.
func request(services ...string) trigger.Request {
	req := triggertest.Request("nginx")
	one := req.Containers[0]
	req.Containers = nil
	for _, name := range services {
		c := one
		c.Name, c.Stack = "media-"+name+"-1", "media"
		c.Labels = map[string]string{"com.docker.compose.project": "media", "com.docker.compose.service": name}
		req.Containers = append(req.Containers, c)
	}
	return req
}

func TestConformance(t *testing.T) {
	triggertest.Run(t, portainerType(), triggertest.Case{
		Options: func(t *testing.T) map[string]any { return settings(newService(t).url) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return settings(plugintest.Hanging(t, reached)) },
		Failing: triggertest.HTTPFailures(settings),
		Adapt: func(_ *testing.T, req trigger.Request) trigger.Request {
			for i, c := range req.Containers {
				if c.Name != "" {
					req.Containers[i].Stack = "media"
					req.Containers[i].Labels = map[string]string{"com.docker.compose.service": "web"}
				}
			}
			if len(req.Containers) > 1 { // one stack has one nginx here
				req.Containers = req.Containers[:1]
			}
			return req
		},
		Invalid: []triggertest.Invalid{
			{Field: "url", Set: map[string]any{"url": "ftp://example.com"}},
			{Field: "timeout", Set: map[string]any{"timeout": "0s"}},
			{Field: "apikey", Set: map[string]any{"apikey": nil}},
		},
	})
}

// TestStackIsUpdated: the image of the services, and nothing else of the file or the stack, whether Portainer
// deploys before it responds or after that.
func TestStackIsUpdated(t *testing.T) {
	for _, looks := range []int{0, 1} {
		s := newService(t)
		s.stacks[7].looks = looks
		env := s.stacks[7].json["Env"]
		o := settings(s.url)
		o["timeout"] = "5s"
		if err := plugintest.Trigger(t, portainerType(), o).Run(t.Context(), request("api", "api")); err != nil {
			t.Fatal(err)
		}
		if want := strings.Replace(mediaFile, `"nginx:1.25.3"`, `"nginx:1.27.0"`, 1); s.stacks[7].file != want {
			t.Errorf("the file is now:\n%s", s.stacks[7].file)
		}
		got := s.stacks[7].json
		if !reflect.DeepEqual(got["Env"], env) || got["Webhook"] != "638e6967" || got["pruned"] != false {
			t.Errorf("the stack is now %v", got)
		}
		if fmt.Sprint(s.deployed) != "[PUT /api/stacks/7]" {
			t.Errorf("deployed %v", s.deployed)
		}
	}
}

// A batch deploys a stack once; one of its services that cannot be updated keeps the stack as it is.
func TestBatchDeploysStackOnce(t *testing.T) {
	s := newService(t)
	run := plugintest.Trigger(t, portainerType(), settings(s.url)).Run
	err := run(t.Context(), request("web", "db"))
	const want = "stack media: the image of service db is written as"
	if err == nil || !strings.Contains(err.Error(), want) || len(s.deployed) != 0 {
		t.Errorf("got %v, and deployed %v", err, s.deployed)
	}
	if err := run(t.Context(), request("web", "api")); err != nil {
		t.Fatal(err)
	}
	if strings.Count(s.stacks[7].file, "nginx:1.27.0") != 2 || len(s.deployed) != 1 {
		t.Errorf("deployed %v with\n%s", s.deployed, s.stacks[7].file)
	}
}

func TestNothingIsDeployed(t *testing.T) {
	sample, other, single := request("web"), request("web"), triggertest.Request("nginx")
	sample.Test, other.Containers[0].Stack = true, "other"
	for name, c := range map[string]struct {
		req trigger.Request
		set map[string]any
	}{
		"sample": {sample, nil}, "other stack": {other, nil}, "no stack": {single, nil}, "event": {triggertest.Event(), nil},
		"not listed": {request("web"), map[string]any{"stacks": "other,nas/media"}},
		"elsewhere":  {request("web"), map[string]any{"environment": 4}},
	} {
		s := newService(t)
		o := settings(s.url)
		for key, value := range c.set {
			o[key] = value
		}
		if err := plugintest.Trigger(t, portainerType(), o).Run(t.Context(), c.req); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(s.deployed) != 0 || s.stacks[7].file != mediaFile {
			t.Errorf("%s: deployed %v", name, s.deployed)
		}
	}
}

func TestListedStackIsUpdated(t *testing.T) {
	s := newService(t)
	o := settings(s.url)
	o["stacks"] = "local/media"
	err := plugintest.Trigger(t, portainerType(), o).Run(t.Context(), request("web"))
	if err != nil || len(s.deployed) != 1 {
		t.Errorf("got %v, and deployed %v", err, s.deployed)
	}
}

// TestGitStaysWhatItIs: a stack from Git is never detached from it. It is deployed anew where that is enough.
func TestGitStaysWhatItIs(t *testing.T) {
	s := newService(t)
	from := map[string]any{
		"URL": "https://git.example.org/ana/homelab", "ReferenceName": "refs/heads/main",
		"Authentication": map[string]any{"Username": "ana", "Password": ""},
	}
	s.stacks[7].json["GitConfig"] = from
	run := plugintest.Trigger(t, portainerType(), settings(s.url)).Run
	err := run(t.Context(), request("web"))
	if err == nil || !strings.Contains(err.Error(), "stack media: its file is kept in Git") ||
		!strings.Contains(sdk.Remedy(err), "trigger-gitea") || len(s.deployed) != 0 {
		t.Errorf("got %v (%s), and deployed %v", err, sdk.Remedy(err), s.deployed)
	}
	req := request("web")
	req.Containers[0].UpdateKind = sdk.UpdateKind{Kind: sdk.KindDigest, LocalValue: "sha256:1", RemoteValue: "sha256:2"}
	if err := run(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(s.deployed) != "[PUT /api/stacks/7/git/redeploy]" || from["ReferenceName"] != "refs/heads/main" ||
		s.stacks[7].json["GitConfig"] == nil {
		t.Errorf("deployed %v, and the stack is %v", s.deployed, s.stacks[7].json)
	}
}

func TestFailuresAreNamed(t *testing.T) {
	for want, prepare := range map[string]func(s *service){
		"stack media: the deployment failed: port is already allocated": func(s *service) {
			s.stacks[7].looks, s.stacks[7].problem = 1, "port is already allocated"
		},
		"stack media: environment: the environments ":          func(s *service) { s.stacks[8] = newStack(8, "media", 2, 4) },
		"stack media: it is neither of Compose nor of a swarm": func(s *service) { s.stacks[7].json["Type"] = 3 },
		"stack media: its file gives service web no image":     func(s *service) { s.stacks[7].file = "services: {}\n" },
		"stack media: its file is no YAML":                     func(s *service) { s.stacks[7].file = "\t" },
		"stack media: the file gives service web the image nginx:1.20": func(s *service) {
			s.stacks[7].file = "services: {web: {image: nginx:1.20}}"
		},
	} {
		s := newService(t)
		prepare(s)
		o := settings(s.url)
		o["timeout"] = "5s"
		err := plugintest.Trigger(t, portainerType(), o).Run(t.Context(), request("web"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestDeploymentIsWaitedFor: as long as is configured, and no longer than its context.
func TestDeploymentIsWaitedFor(t *testing.T) {
	s := newService(t)
	s.stacks[7].looks, s.stacks[7].json["Status"] = 1<<30, 3
	o := settings(s.url)
	o["timeout"] = "1s"
	err := plugintest.Trigger(t, portainerType(), o).Run(t.Context(), request("web"))
	if err == nil || !strings.Contains(err.Error(), "it is still being deployed") {
		t.Errorf("got %v", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	err = plugintest.Trigger(t, portainerType(), settings(s.url)).Run(ctx, request("web"))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if len(s.deployed) != 0 {
		t.Errorf("deployed %v", s.deployed)
	}
}

func TestProbeNamesStacksThatAreMissing(t *testing.T) {
	o := settings(newService(t).url)
	o["stacks"] = "local/media,other"
	result, err := plugintest.Trigger(t, portainerType(), o).Probe(t.Context(), sdk.ProbeRequest{})
	if err != nil || result.Summary != "stacks in Portainer: 1" || len(result.Warnings) != 1 ||
		!strings.Contains(result.Warnings[0], "no stack other") {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestSwarmServiceIsFound(t *testing.T) {
	c := request("web").Containers[0]
	c.Labels = map[string]string{"com.docker.stack.namespace": "media", "com.docker.swarm.service.name": "media_web"}
	if got, err := changeOf(c); err != nil || got.service != "web" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestEdit(t *testing.T) {
	old, fresh := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	tag := change{
		service: "web", image: "docker.io/library/nginx", tag: "1.25.3", from: "1.25.3", to: "1.27.0", digest: fresh,
	}
	digest := tag
	digest.from, digest.to, digest.byDigest = old, fresh, true
	const refused = ""
	for _, c := range []struct {
		change     change
		text, want string
	}{
		{tag, "services:\n  web:\n    image: nginx:1.25.3\n", "services:\n  web:\n    image: nginx:1.27.0\n"},
		{tag, "services:\r\n  web:\r\n    image: 'nginx:1.25.3'\r\n", "services:\r\n  web:\r\n    image: 'nginx:1.27.0'\r\n"},
		{tag, "services: {é: {image: nginx:1.25.3}, web: {image: nginx:1.25.3}}",
			"services: {é: {image: nginx:1.25.3}, web: {image: nginx:1.27.0}}"},
		{tag, "services: {web: {image: docker.io/library/nginx:1.25.3}}",
			"services: {web: {image: docker.io/library/nginx:1.27.0}}"},
		{tag, "services: {web: {image: 'nginx:1.25.3@" + old + "'}}",
			"services: {web: {image: 'nginx:1.27.0@" + fresh + "'}}"},
		{tag, "services: {web: {image: nginx:1.27.0}}", "services: {web: {image: nginx:1.27.0}}"},
		{tag, "services: {web: {image: nginx:latest}}", refused},
		{tag, "services: {web: {image: other/nginx:1.25.3}}", refused},
		{tag, "services: {web: {image: 'nginx:${TAG}'}}", refused},
		{tag, "x: &web {image: nginx:1.25.3}\nservices: {web: *web}", refused},
		{tag, "x: &img nginx:1.25.3\nservices: {web: {image: *img}}", refused},
		{tag, "services:\n  web: {image: &img nginx:1.25.3}\n  two: {image: *img}", refused},
		{tag, "services: {web: {image: &img nginx:1.25.3}}", "services: {web: {image: &img nginx:1.27.0}}"},
		{tag, "services: {web: {image: \"nginx\\u003a1.25.3\"}}", refused},
		{tag, "services: [web]", refused},
		{tag, "", refused},
		{digest, "services: {web: {image: nginx:1.25.3}}", "services: {web: {image: nginx:1.25.3}}"},
		{digest, "services: {web: {image: 'nginx@" + old + "'}}", "services: {web: {image: 'nginx@" + fresh + "'}}"},
		{digest, "services: {web: {image: nginx:latest}}", refused},
	} {
		got, err := edit(c.text, []change{c.change})
		if got != c.want || (err != nil) != (c.want == refused) {
			t.Errorf("%q becomes %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}
