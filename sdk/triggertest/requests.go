package triggertest

import (
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/conform"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Container returns a container called name that runs version 1.25.3 of the
// image of the same name, for which 1.27.0 was found. It is always the same,
// so golden files can be made of it.
func Container(name string) sdk.Container {
	created := sdk.TimeOf(time.Date(2024, 1, 2, 3, 4, 5, 678e6, time.UTC))
	result := sdk.Result{
		Tag:     "1.27.0",
		Digest:  "sha256:" + strings.Repeat("b", 64),
		Created: created,
		Link:    "https://example.org/" + name + "/1.27.0",
	}
	return sdk.Container{
		ID:          "31a61a8305ef1fc9a71fa4f20a68d7ec88b28e32303bbc4a5f192e851165b816",
		Name:        name,
		DisplayName: name,
		DisplayIcon: "mdi:docker",
		Status:      "running",
		Watcher:     "local",
		Image: sdk.Image{
			ID:           "sha256:" + strings.Repeat("a", 64),
			Registry:     sdk.Registry{Name: "hub.public", URL: "https://registry-1.docker.io/v2", Host: "docker.io"},
			Name:         "library/" + name,
			Tag:          sdk.Tag{Value: "1.25.3", Semver: true},
			Architecture: "amd64",
			OS:           "linux",
			Created:      created,
		},
		Labels:          map[string]string{"com.example.team": "web"},
		Result:          &result,
		Check:           sdk.CheckState{State: sdk.CheckOK, At: created},
		Link:            "https://example.org/" + name + "/1.25.3",
		UpdateAvailable: true,
		UpdateKind: sdk.UpdateKind{
			Kind: sdk.KindTag, LocalValue: "1.25.3", RemoteValue: "1.27.0", SemverDiff: sdk.DiffMinor,
		},
	}
}

// Request returns the delivery of an update of the containers called names:
// of the container itself for one name, else of a batch.
func Request(names ...string) trigger.Request {
	req := trigger.Request{Delivery: "delivery-1", Batch: len(names) != 1}
	for _, name := range names {
		req.Containers = append(req.Containers, Container(name))
	}
	req.Title = "New tag found for container " + strings.Join(names, ", ")
	req.Body = "Container " + strings.Join(names, ", ") + " running with tag 1.25.3 can be updated to tag 1.27.0"
	return req
}

type named struct {
	name string
	req  trigger.Request
}

func simple() []named {
	test := Request("nginx")
	test.Test = true
	return []named{{"update", Request("nginx")}, {"test", test}}
}

func batch() []named {
	one := Request("nginx")
	one.Batch = true
	return []named{{"several", Request("nginx", "redis", "traefik")}, {"one", one}}
}

// odd are requests with texts that no author thinks of.
func odd() []named {
	unicode := Request("nginx")
	unicode.Title = "Über 🐕 שלום \"quoted\" <b>&amp;</b> 'x' \\ %s ${x} `y` *_~|"
	unicode.Body = "первая\r\nsecond\n\n\ttab \u200f\u202e\u0000\u0007\ufeff end"
	unicode.Containers[0].DisplayName = unicode.Title
	unicode.Containers[0].Labels = map[string]string{"ключ": "значение", "": "", "quote": "\"'\n"}

	empty := trigger.Request{Containers: []sdk.Container{{}}}

	long := Request("nginx")
	long.Title = strings.Repeat("title é ", 1<<10)
	long.Body = strings.Repeat("A long line of a body, with é and 🐕.\n", 1<<12)
	long.Containers[0].DisplayName = long.Title
	long.Containers[0].Result.Link = "https://example.org/" + strings.Repeat("x", 1<<12)

	return []named{{"unicode", unicode}, {"empty", empty}, {"long", long}, {"event", Event()}}
}

// Event returns a delivery about a watcher whose engine cannot be reached.
func Event() trigger.Request {
	began := sdk.TimeOf(time.Date(2024, 4, 3, 9, 15, 0, 0, time.UTC))
	return trigger.Request{
		Delivery: "delivery-2", Batch: true,
		Title: "Watcher local cannot reach its engine",
		Body:  "docker engine at unix:///var/run/docker.sock: connect: nothing listens on the socket",
		Event: &trigger.Event{
			Type: trigger.WatcherFailed, Watcher: "local",
			Error: "docker engine at unix:///var/run/docker.sock: connect: nothing listens on the socket",
			Since: began, At: sdk.TimeOf(began.Add(time.Minute)),
		},
	}
}

// delivers makes a check of requests that must succeed.
func (c Case) delivers(check string, requests []named) func(*testing.T, conform.Subject) {
	return func(t *testing.T, s conform.Subject) {
		for _, r := range requests {
			s.Sub(t, check, r.name, func(t *testing.T) {
				in := s.Working(t)
				in.Calls = []conform.Call{c.delivery(t, r.req)}
				conform.Start(t, s, in).MustWork()
			})
		}
	}
}
