package e2e

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
)

// stack is a compose file.
type stack struct {
	Services map[string]struct {
		Image               string
		Environment, Labels map[string]string
	}
}

// compose reads a compose file, with its variables filled in as compose does.
func compose(t *testing.T, text string, variables map[string]string) (s stack) {
	t.Helper()
	text = regexp.MustCompile(`\$\$|\$\{\w+\}`).ReplaceAllStringFunc(text, func(found string) string {
		if found == "$$" {
			return "$"
		}
		value, known := variables[strings.Trim(found, "${}")]
		if !known {
			t.Fatalf("compose knows no %s", found)
		}
		return value
	})
	must(t, yaml.Unmarshal([]byte(text), &s))
	return s
}

// former is a container as What's Up Docker answered before the switch.
type former struct {
	name string
	// repo is the repository in its registry, and pushed what that has.
	repo, tag string
	pushed    []string
	// result is the tag that it had found, diff how that differs.
	result, diff string
	// again means that the running tag has a new image, digest that WUD notified of it.
	again, digest bool
	// none is a container that it did not know of.
	none bool
	more map[string]any
}

// formers are the containers of testdata/switch, and what was known of them.
func formers() []former {
	return []former{
		{name: "web", repo: "library/nginx", tag: "1.25.3",
			pushed: []string{"1.25.3", "1.27.0", "1.27.0-alpine", "latest"}, result: "1.27.0", diff: "minor",
			more: map[string]any{
				"displayName": "Web site", "displayIcon": "mdi:web", "includeTags": `^\d+\.\d+\.\d+$`,
				"linkTemplate": "https://nginx.org/en/CHANGES-${major}.${minor}", "link": "https://nginx.org/en/CHANGES-1.25",
			}},
		{
			name: "db", repo: "library/postgres", tag: "16-alpine",
			pushed: []string{"16-alpine", "16-bookworm", "17-alpine", "17-bookworm"}, result: "17-bookworm", diff: "major",
		},
		{
			name: "cache", repo: "library/redis", tag: "latest", pushed: []string{"latest"}, result: "latest",
			again: true, digest: true,
		},
		{
			name: "app", repo: "team/app", tag: "v1.2.0", pushed: []string{"v1.2.0", "v1.3.0"}, result: "v1.3.0",
			diff: "minor", more: map[string]any{"transformTags": "^v(.*)$ => $1"},
		},
		{
			name: "api", repo: "team/api", tag: "2.0.0", pushed: []string{"2.0.0", "2.1.0"}, result: "2.1.0",
			diff: "minor", more: map[string]any{"triggerInclude": "http.hook:minor,mqtt.broker"},
		},
		{
			name: "worker", repo: "team/worker", tag: "1.0.0", pushed: []string{"1.0.0", "1.1.0-rc.1"},
			result: "1.1.0-rc.1", diff: "minor", more: map[string]any{"triggerExclude": "http.hook"},
		},
		{name: "queue", repo: "team/queue", tag: "3.12.0", pushed: []string{"3.12.0"}, result: "3.12.0", again: true},
		{name: "sonarr", repo: "linuxserver/sonarr", tag: "4.0.0", pushed: []string{"4.0.0", "4.1.0"}, none: true},
		{
			name: "plex", repo: "plexinc/pms-docker", tag: "1.40.0",
			pushed: []string{"1.40.0", "1.41.0", "1.42.0-beta"}, result: "1.41.0", diff: "minor",
			more: map[string]any{"excludeTags": "beta"},
		},
		{name: "backup", repo: "restic/restic", tag: "0.16.0", pushed: []string{"0.16.0", "0.17.0"}, none: true},
	}
}

// differences are the answers about containers that are not those of What's Up
// Docker, and the rows of docs/migrate/wud.md that tell of them.
var differences = map[string]string{
	"db result.tag: 17-bookworm → 17-alpine":                         "suffix",
	"db updateKind.remoteValue: 17-bookworm → 17-alpine":             "suffix",
	"worker result.tag: 1.1.0-rc.1 → 1.0.0":                          "prereleases",
	"worker updateAvailable: true → false":                           "prereleases",
	"worker updateKind.kind: tag → unknown":                          "prereleases",
	"worker updateKind.localValue: 1.0.0 → none":                     "prereleases",
	"worker updateKind.remoteValue: 1.1.0-rc.1 → none":               "prereleases",
	"worker updateKind.semverDiff: minor → none":                     "prereleases",
	"queue image.digest.watch: false → true":                         "digest of a versioned tag",
	"queue image.digest.value: none → its index":                     "digest of a versioned tag",
	"queue result.digest: none → its new index":                      "digest of a versioned tag",
	"queue result.created: none → its age":                           "digest of a versioned tag",
	"queue updateAvailable: false → true":                            "digest of a versioned tag",
	"queue updateKind.kind: unknown → digest":                        "digest of a versioned tag",
	"queue updateKind.localValue: none → its index":                  "digest of a versioned tag",
	"queue updateKind.remoteValue: none → its new index":             "digest of a versioned tag",
	"cache image.digest.value: its manifest → its index":             indexes,
	"cache result.digest: its new manifest → its new index":          indexes,
	"cache updateKind.localValue: its manifest → its index":          indexes,
	"cache updateKind.remoteValue: its new manifest → its new index": indexes,
	"cache result.created: none → its age":                           "`result.created`",
	"api result.created: none → 2026-01-01T02:00:00.000Z":            "`result.created`",
	"app result.created: none → 2026-01-01T02:00:00.000Z":            "`result.created`",
	"sonarr: none → listed":                                          "registries",
}

const indexes = "digests (`image.digest.value`, `result.digest`)"

// household is what the containers of testdata/switch run on.
type household struct {
	net     *internet
	hub     *registrysim.Registry
	lan     *registrysim.Registry
	ghcr    *registrysim.Registry
	engines map[string]*enginesim.Engine
	// ids and records are what What's Up Docker had, by name.
	ids     map[string]string
	records map[string]map[string]any
	// digests tells what the digests of a container are, and when its new image was made.
	digests map[string]string
}

func newHousehold(t *testing.T) *household {
	t.Helper()
	private := func(string) bool { return true }
	s := &household{
		net: newInternet(t, ""),
		hub: registrysim.New(registrysim.Options{
			Auth: registrysim.Token, Realm: "https://auth.docker.io/token",
			Users: map[string]string{"ana": "s3cret-hub"}, Private: private,
		}),
		lan: registrysim.New(registrysim.Options{
			Auth: registrysim.Basic, Users: map[string]string{"ana": "s3cret-lan"}, Private: private,
		}),
		ghcr: registrysim.New(registrysim.Options{
			Auth: registrysim.Token, Realm: "https://ghcr.io/token", Scopes: registrysim.EveryTarget,
		}),
		engines: map[string]*enginesim.Engine{
			"local": enginesim.New(enginesim.Config{}), "nas": enginesim.New(enginesim.Config{}),
		},
		ids: map[string]string{}, records: map[string]map[string]any{}, digests: map[string]string{},
	}
	s.net.registry("registry-1.docker.io", "https://auth.docker.io/token", s.hub)
	s.net.registry("registry.example.com:5000", "", s.lan)
	s.net.registry("ghcr.io", "https://ghcr.io/token", s.ghcr)
	s.net.gateway("lscr.io", "ghcr.io")
	return s
}

// registryOf returns what serves an image, with its name and address.
func (s *household) registryOf(image string) (sim *registrysim.Registry, name, address string) {
	switch host, _, _ := strings.Cut(image, "/"); host {
	case "registry.example.com:5000":
		return s.lan, "custom.lan", "https://" + host + "/v2"
	case "ghcr.io", "lscr.io":
		return s.ghcr, "ghcr.public", "https://" + host + "/v2"
	}
	return s.hub, "hub.public", "https://registry-1.docker.io/v2"
}

// run starts a container and notes what was known of it.
func (s *household) run(t *testing.T, f former, watcher, image string, labels map[string]string) {
	t.Helper()
	sim, registry, address := s.registryOf(image)
	sim.Push(f.repo, f.pushed...)
	was, _ := sim.Image(f.repo, f.tag)
	repository := strings.TrimSuffix(image, ":"+f.tag)
	imageID := s.engines[watcher].AddImage(enginesim.Image{
		Tags: []string{image}, Digests: []string{repository + "@" + was.Digest}, Created: was.Platforms[0].Created,
	})
	id, err := s.engines[watcher].Create(enginesim.Container{Name: f.name, Image: image, Labels: labels})
	must(t, err)
	if f.again {
		sim.Push(f.repo, f.tag)
		now, _ := sim.Image(f.repo, f.tag)
		s.digests[f.name+was.Digest], s.digests[f.name+now.Digest] = "its index", "its new index"
		s.digests[f.name+was.Platforms[0].Digest], s.digests[f.name+now.Platforms[0].Digest] = "its manifest",
			"its new manifest"
		s.digests[f.name+sdk.TimeOf(now.Platforms[0].Created).String()] = "its age"
	}
	s.ids[f.name] = id
	if f.none {
		return
	}
	if labels == nil {
		labels = map[string]string{}
	}
	digest := map[string]any{"watch": f.digest, "repo": was.Digest}
	result := map[string]any{"tag": f.result}
	kind := map[string]any{"kind": "unknown", "localValue": nil, "remoteValue": nil, "semverDiff": nil}
	switch {
	case f.digest:
		now, _ := sim.Image(f.repo, f.tag)
		digest["value"], result["digest"] = was.Platforms[0].Digest, now.Platforms[0].Digest
		kind = map[string]any{
			"kind": "digest", "localValue": digest["value"], "remoteValue": result["digest"], "semverDiff": nil,
		}
	case f.result != f.tag:
		kind = map[string]any{"kind": "tag", "localValue": f.tag, "remoteValue": f.result, "semverDiff": f.diff}
	}
	record := map[string]any{
		"id": id, "name": f.name, "displayName": f.name, "displayIcon": "mdi:docker", "status": "running",
		"watcher": watcher, "labels": labels,
		"image": map[string]any{
			"id": imageID, "registry": map[string]any{"name": registry, "url": address}, "name": f.repo,
			"tag":    map[string]any{"value": f.tag, "semver": f.tag != "latest"},
			"digest": digest, "architecture": "amd64", "os": "linux", "variant": nil,
			"created": sdk.TimeOf(was.Platforms[0].Created).String(),
		},
		"result": result, "updateAvailable": kind["kind"] != "unknown", "updateKind": kind,
	}
	for key, value := range f.more {
		record[key] = value
	}
	if f.name == "web" {
		result["link"] = "https://nginx.org/en/CHANGES-1.27"
	}
	s.records[f.name] = record
}

// hasMosquitto tells whether there is a broker to run, or whether there must be one.
func hasMosquitto() bool {
	_, err := exec.LookPath("mosquitto")
	_, elsewhere := os.Stat("/usr/sbin/mosquitto")
	return err == nil || elsewhere == nil || strings.Contains(os.Getenv("DOGWATCH_TEST_REQUIRE"), "mosquitto")
}
