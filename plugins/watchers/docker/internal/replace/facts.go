// Package replace says how a container is replaced by one that runs another image:
// what the new one takes over, what keeps it from being replaced, and which steps
// are taken in which order. It talks to no engine; see package docker for that.
package replace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	dockerspec "github.com/moby/docker-image-spec/specs-go/v1"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/podman"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Container is what the engine says of a container. Its image is nil when the
// engine has it no more.
type Container struct {
	container.InspectResponse
	Image *Image
	// Labels are those of Config.Labels that count, see Counting. Only they are acted on.
	Labels map[string]string
	Files  Files // that differ from those of its image
	// Podman is what Podman's own API says; nil for other engines.
	Podman *podman.Container
	// donors are the containers that it has volumes from, gone the entries of VolumesFrom
	// without one, see Among.
	donors []Container
	gone   []string
}

// Image is what the engine says of an image.
type Image struct {
	ID       string
	Config   *dockerspec.DockerOCIImageConfig
	Platform string // "linux/amd64"
	// Tags and Digests are its names.
	Tags, Digests []string
}

// Facts are what a plan is made from.
type Facts struct {
	Target Container
	// Others are all other containers of the engine, without their images where
	// they do not depend on Target.
	Others []Container
	// Networks are the names and ids of the engine's networks; nil when it does not say.
	Networks []string
	Engine   Engine
	// Self is the id of the container that Dogwatch runs in; "" when it is in none.
	Self string
	// Suspects are the ids of the containers in one of which Dogwatch runs, where it cannot
	// tell in which one.
	Suspects []string
	// Proxies are the ids of the containers through which Dogwatch reaches the engine,
	// such as a socket proxy.
	Proxies map[string]bool
	// NoHelper says why no helper container can be started; "" when it can.
	NoHelper string
	// Compose says how the compose file of Target follows.
	Compose Compose
	// Backups are the kept predecessors of Target, the newest first.
	Backups []watcher.Backup
}

// Engine is what matters of an engine.
type Engine struct {
	// ManyNetworks is true when a container can be connected to several networks as
	// it is created, each with a MAC address (API 1.44).
	ManyNetworks bool
	Podman       bool
	// ReadOnly says why the engine takes no changes from here; "" when it does.
	ReadOnly string
}

// Name is the container's name.
func (c Container) Name() string { return strings.TrimPrefix(c.InspectResponse.Name, "/") }

// Status is one of the states in which a replaced container is left as it was.
type Status string

// The states.
const (
	Running Status = "running"
	Paused  Status = "paused"
	Stopped Status = "stopped"
	// Restarting is a container that ended and that the engine is about to start again. Until
	// then engines cannot rename it, as it has no network (their "sandbox not found").
	Restarting Status = "restarting"
)

// Status returns the state of the container.
func (c Container) Status() Status {
	switch s := c.State; {
	case s == nil:
		return Stopped
	case s.Restarting: // engines say that it runs, too
		return Restarting
	case s.Paused:
		return Paused
	case s.Running:
		return Running
	}
	return Stopped
}

// Wanted is the state in which a container that takes the place of this one is left. One
// that keeps restarting is meant to run, and runs at times.
func (c Container) Wanted() Status {
	if s := c.Status(); s != Restarting {
		return s
	}
	return Running
}

// stopsFirst reports whether a container has to be stopped before it is renamed: one that
// restarts, or that has done so and may do so again at any time.
func stopsFirst(c Container) bool {
	return c.Status() == Restarting || c.Status() == Running && c.RestartCount > 0
}

// state identifies what a plan is made from, and says how the containers were, with their
// restart policies: "web=running:always:0,app=paused:no:0;digest".
func state(f Facts, deps []dependent, image watcher.TargetImage) string {
	digest := sha256.New()
	encode := json.NewEncoder(digest)
	var status []string
	add := func(c Container) {
		policy := c.HostConfig.RestartPolicy
		status = append(status, fmt.Sprintf("%s=%s:%s:%d", c.Name(), c.Wanted(), policy.Name, policy.MaximumRetryCount))
		volumes := map[string]string{}
		for _, m := range c.Mounts {
			volumes[m.Destination] = m.Name + m.Source
		}
		networks := map[string]*network.EndpointSettings{}
		for _, e := range endpoints(c) {
			networks[e.Name] = e.Settings
		}
		// Encoding what was decoded from JSON cannot fail.
		settings := canonical([3]any{c.Config, c.HostConfig, networks})
		_ = encode.Encode([]any{c.ID, c.InspectResponse.Image, settings, volumes, Placed(c), c.Files.Hidden != ""})
	}
	add(f.Target)
	for _, d := range deps {
		add(d.Container)
	}
	_ = encode.Encode([]string{image.Reference, image.Digest, image.ID})
	return strings.Join(status, ",") + ";" + hex.EncodeToString(digest.Sum(nil))
}

// canonical returns what can be encoded as JSON with every list sorted. Engines tell some in
// another order each time, such as links, and the lists of a container are never reordered.
func canonical(v any) any { return sorted(*clone(&v)) }

// sorted sorts the lists in decoded JSON, each by what its entries are encoded as.
func sorted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			v[name] = sorted(value)
		}
	case []any:
		texts := make([]string, len(v))
		for i, value := range v {
			text, _ := json.Marshal(sorted(value)) // what was decoded can be encoded
			texts[i] = string(text)
		}
		slices.Sort(texts)
		return texts
	}
	return v
}

// Statuses returns how the containers were when a plan was made, by name.
func Statuses(p watcher.Plan) map[string]Status {
	all := map[string]Status{}
	for name, fields := range before(p) {
		all[name] = Status(fields[0])
	}
	return all
}

// RestartPolicies returns the restart policies that the containers had when a plan was made, by
// name, without those that it does not say.
func RestartPolicies(p watcher.Plan) map[string]container.RestartPolicy {
	all := map[string]container.RestartPolicy{}
	for name, fields := range before(p) {
		if len(fields) == 3 {
			retries, _ := strconv.Atoi(fields[2])
			all[name] = container.RestartPolicy{Name: container.RestartPolicyMode(fields[1]), MaximumRetryCount: retries}
		}
	}
	return all
}

// before returns what a plan's state says of each container.
func before(p watcher.Plan) map[string][]string {
	text, _, _ := strings.Cut(p.State, ";")
	all := map[string][]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if name, fields, found := strings.Cut(pair, "="); found {
			all[name] = strings.Split(fields, ":")
		}
	}
	return all
}

// Backup is the name that a container has while an operation replaces it, and afterwards if it is kept.
func Backup(name, operation string) string { return name + backupInfix + operation }

const backupInfix = "-dogwatch-"

// PredecessorsLabel is the label of a container with the ids of its kept predecessors. Names
// alone say nothing: users have containers called NAME-dogwatch-db. It is none of the labels
// with which users tell Dogwatch what to do.
const PredecessorsLabel = "com.github.dogwatch.predecessors"

// Predecessors returns the ids of the kept predecessors of a container with these labels,
// which are those that count.
func Predecessors(labels map[string]string) []string {
	return strings.FieldsFunc(labels[PredecessorsLabel], func(r rune) bool { return r == ',' })
}

// Succeed says in a container to be created which containers are its kept predecessors.
func (s Spec) Succeed(ids []string) {
	if len(ids) > 0 {
		s.Config.Labels[PredecessorsLabel] = strings.Join(ids, ",")
	}
}

// short is an id as engines show it.
func short(id string) string { return id[:min(len(id), 12)] }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
