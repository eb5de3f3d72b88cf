// Package swarm watches and updates the services of a Docker Swarm. What comes in is the engine of a manager; what
// goes out are one container for each service, plans and outcomes. Only the plugin's list of types imports it.
//
// The swarm itself does the work of an update: it replaces the tasks of a service as the service's own update
// settings say. This package changes one field of the service, watches until all tasks run, and has the swarm return
// to the specification before where they do not.
//
// Protocol facts are from https://docs.docker.com/reference/api/engine/ (services, tasks, nodes) and from the updater
// of https://github.com/moby/swarmkit.
package swarm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/docker/docker/api/types/swarm"
	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/containerlog"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/eventstream"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

var (
	_ watcher.Updater   = (*Swarm)(nil)
	_ watcher.LogReader = (*Swarm)(nil)
)

// stackLabel names the stack of a service that docker stack deploy made.
const stackLabel = "com.docker.stack.namespace"

// Options say what of a swarm is watched.
type Options struct {
	// Stacks are the stacks whose services are watched; empty for all services.
	Stacks []string
	// Logs is whether the logs of services may be read.
	Logs bool
}

// Swarm watches one swarm through the engine of one of its managers. Its methods may be called concurrently.
type Swarm struct {
	engine *engine.Engine
	log    hclog.Logger
	opt    Options
	// poll is the time between two looks at an update under way, progressDeadline how long it may make no progress.
	poll, progressDeadline time.Duration

	mu     sync.Mutex
	listed map[string]uint64 // the version of each service as the host knows it; nil before the first list
}

// New makes a watcher of services. It does not connect.
func New(e *engine.Engine, log hclog.Logger, opt Options) *Swarm {
	return &Swarm{engine: e, log: log, opt: opt, poll: time.Second, progressDeadline: 10 * time.Minute}
}

// Close drops the connections that are not in use.
func (s *Swarm) Close() error {
	s.engine.Close()
	return nil
}

// List returns one container for each service. It costs two requests, and one more where the nodes have several
// platforms. Errors are of the kinds ErrUnavailable and ErrUnauthorized.
func (s *Swarm) List(ctx context.Context) ([]watcher.Container, error) {
	services, err := s.services(ctx)
	if err != nil {
		return nil, err
	}
	platforms, err := s.platforms(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]watcher.Container, len(services))
	for i, service := range services {
		list[i] = describe(service, platforms.of(service.ID))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = versions(services)
	return list, nil
}

// services returns the services that are watched. Those that run no containers, as those of the engine's plugins, are
// left out.
func (s *Swarm) services(ctx context.Context) ([]swarm.Service, error) {
	all, err := s.engine.Services(ctx)
	return slices.DeleteFunc(all, func(service swarm.Service) bool { return !s.watches(service) }), err
}

func (s *Swarm) watches(service swarm.Service) bool {
	return service.ID != "" && service.Spec.TaskTemplate.ContainerSpec != nil &&
		(len(s.opt.Stacks) == 0 || slices.Contains(s.opt.Stacks, service.Spec.Labels[stackLabel]))
}

func versions(services []swarm.Service) map[string]uint64 {
	all := make(map[string]uint64, len(services))
	for _, s := range services {
		all[s.ID] = s.Version.Index
	}
	return all
}

// Watch implements watcher.EventWatcher. Engines have events of services since Docker 17.06.
func (s *Swarm) Watch(ctx context.Context, emit func(watcher.Event)) error {
	return eventstream.Follower{
		Engine: s.engine, Kind: "service", Actions: []string{"create", "update", "remove"}, Log: s.log,
		Pause: backoff.Reconnect, Missed: s.missed,
		Handle: func(_ context.Context, e eventstream.Document, emit func(watcher.Event)) {
			emit(watcher.Event{ContainerID: e.Actor.ID, Action: watcher.ActionChanged, At: sdk.TimeOf(e.At())})
		},
	}.Follow(ctx, emit)
}

// missed has the host list again when the services differ from those of its last list.
func (s *Swarm) missed(ctx context.Context, gap bool) ([]watcher.Event, error) {
	services, err := s.services(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listed == nil && !gap || s.listed != nil && maps.Equal(s.listed, versions(services)) {
		return nil, nil
	}
	return []watcher.Event{{Action: watcher.ActionChanged, At: sdk.TimeOf(time.Now())}}, nil
}

// Probe implements sdk.Prober: it counts the services. It costs two requests. Errors are those of List.
func (s *Swarm) Probe(ctx context.Context, _ sdk.ProbeRequest) (sdk.ProbeResult, error) {
	if _, err := s.services(ctx); err != nil {
		return sdk.ProbeResult{}, err
	}
	about, err := s.engine.About(ctx)
	if err != nil || about == "" { // a socket proxy hides it
		about = "an engine at " + s.engine.Endpoint.String()
	}
	return sdk.ProbeResult{Summary: about + ", a manager of a swarm"}, ctx.Err()
}

// ReadLog implements watcher.LogReader. Without Options.Logs it is an ErrUnsupported. It costs two requests, and one
// for each task.
func (s *Swarm) ReadLog(ctx context.Context, req watcher.LogRequest) (watcher.Log, error) {
	if !s.opt.Logs {
		return watcher.Log{}, sdk.WithKind(sdk.ErrUnsupported,
			errors.New("logs of services are not read: its option logs is false"))
	}
	if err := containerlog.CheckID(req.ContainerID); err != nil {
		return watcher.Log{}, err
	}
	service, err := s.engine.Service(ctx, req.ContainerID)
	if err == nil && !s.watches(service.Service) {
		err = sdk.WithKind(sdk.ErrNotFound,
			fmt.Errorf("the service %s is in none of the stacks that are watched", req.ContainerID))
	}
	if err != nil {
		return watcher.Log{}, err
	}
	return containerlog.ReadService(ctx, s.engine, service, req.Lines)
}

// nodePlatforms are the platforms on which the tasks of services run.
type nodePlatforms struct {
	common    sdk.Platform            // of all nodes, or of most
	byService map[string]sdk.Platform // where they differ
}

func (p nodePlatforms) of(service string) sdk.Platform {
	if own, known := p.byService[service]; known {
		return own
	}
	return p.common
}

// platforms reads the platforms of the nodes, and where they differ, which of them most tasks of each service run on.
// They are empty where a socket proxy hides them.
func (s *Swarm) platforms(ctx context.Context) (p nodePlatforms, err error) {
	nodes, err := s.engine.Nodes(ctx)
	if engine.HasStatus(err, http.StatusForbidden) {
		s.log.Debug("the platforms of the nodes are not known", "error", err)
		return p, nil
	}
	if err != nil {
		return p, err
	}
	byNode, count := map[string]sdk.Platform{}, map[sdk.Platform]int{}
	for _, n := range nodes {
		platform := engine.NodePlatform(n.Description.Platform)
		byNode[n.ID] = platform
		count[platform]++
	}
	if p.common = most(count); len(count) < 2 {
		return p, nil
	}
	tasks, err := s.engine.Tasks(ctx, "")
	if err != nil {
		return p, err
	}
	counts := map[string]map[sdk.Platform]int{}
	for _, t := range tasks {
		platform, known := byNode[t.NodeID]
		if !known || t.DesiredState != swarm.TaskStateRunning {
			continue
		}
		if counts[t.ServiceID] == nil {
			counts[t.ServiceID] = map[sdk.Platform]int{}
		}
		counts[t.ServiceID][platform]++
	}
	p.byService = map[string]sdk.Platform{}
	for service, count := range counts {
		p.byService[service] = most(count)
	}
	return p, nil
}

// most returns the platform that is counted most often, the first in the order of their names among equals.
func most(count map[sdk.Platform]int) (best sdk.Platform) {
	for p, n := range count {
		if n > count[best] || n == count[best] && compare(p, best) < 0 {
			best = p
		}
	}
	return best
}

func compare(a, b sdk.Platform) int {
	return cmp.Or(cmp.Compare(a.OS, b.OS), cmp.Compare(a.Architecture, b.Architecture), cmp.Compare(a.Variant, b.Variant))
}
