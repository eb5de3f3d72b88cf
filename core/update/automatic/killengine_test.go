package automatic

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// diskEngine is an engine whose containers are in a file, so that they outlive the process.
// It replaces a container as that of Docker does: the old one is listed under another
// name until the new one is there.
type diskEngine struct {
	dir string
	// say tells the test what happens.
	say func(words ...string)

	mu sync.Mutex
}

// engineState is what the file has.
type engineState struct {
	LastID     int
	Containers []engineContainer
}

type engineContainer struct{ ID, Name, Tag, DependsOn, Stack string }

func (e *diskEngine) read() (s engineState) {
	data, err := os.ReadFile(filepath.Join(e.dir, "engine.json"))
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		panic(err)
	}
	return s
}

// change replaces the file as a whole: a process that is killed leaves the old or the new one.
func (e *diskEngine) change(do func(*engineState)) {
	s := e.read()
	do(&s)
	data, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(filepath.Join(e.dir, "engine.new"), data, 0o600)
	}
	if err == nil {
		err = os.Rename(filepath.Join(e.dir, "engine.new"), filepath.Join(e.dir, "engine.json"))
	}
	if err != nil {
		panic(err)
	}
}

// List implements check.Lister.
func (e *diskEngine) List(context.Context) (list []sdk.Container, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.read().Containers {
		service, _, _ := strings.Cut(c.Name, "-")
		list = append(list, sdk.Container{
			ID: c.ID, Name: c.Name, Status: "running", Stack: c.Stack,
			Labels: map[string]string{"com.docker.compose.service": service, "com.docker.compose.depends_on": c.DependsOn},
			Image: sdk.Image{
				ID: "sha256:" + c.Tag, Name: "team/" + service, Registry: sdk.Registry{Host: "docker.io"},
				Tag: sdk.Tag{Value: c.Tag},
			},
		})
	}
	return list, nil
}

// Plan implements watcher.Updater.
func (e *diskEngine) Plan(_ context.Context, req watcher.UpdateRequest) (watcher.Plan, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.read().Containers {
		if c.ID == req.ContainerID {
			return watcher.Plan{
				ContainerID: c.ID, Name: c.Name, State: c.ID,
				To: watcher.PlannedImage{Reference: req.Image.Reference, Digest: req.Image.Digest},
				Steps: []watcher.Step{{ID: "rename", Code: watcher.StepRename, Container: c.Name}, {
					ID: "create", Code: watcher.StepCreate, Container: c.Name,
				}, {ID: "remove", Code: watcher.StepRemove, Container: c.Name}},
			}, nil
		}
	}
	return watcher.Plan{}, fmt.Errorf("there is no container %s", req.ContainerID)
}

// Apply implements watcher.Updater.
func (e *diskEngine) Apply(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
	e.note("apply " + op.ID)
	for _, step := range op.Plan.Steps {
		if err := j.Begin(ctx, step); err != nil {
			return watcher.Outcome{}, err
		}
		e.mu.Lock()
		e.change(func(s *engineState) { s.take(step.ID, op) })
		e.mu.Unlock()
		e.say("step", op.Plan.Name, step.ID)
		if err := j.End(ctx, step, nil, nil); err != nil {
			return watcher.Outcome{}, err
		}
	}
	return e.updated(op), nil
}

// Recover implements watcher.Updater: it finishes what has a new container, and else returns to the old one.
func (e *diskEngine) Recover(_ context.Context, op watcher.Operation, _ watcher.Journal) (watcher.Outcome, error) {
	e.note("recover " + op.ID)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.say("recover", op.Plan.Name)
	created := slices.ContainsFunc(e.read().Containers, func(c engineContainer) bool {
		return c.Name == op.Plan.Name && c.ID != op.Request.ContainerID
	})
	if created {
		e.change(func(s *engineState) { s.take("remove", op) })
		return e.updated(op), nil
	}
	e.change(func(s *engineState) {
		for i := range s.Containers {
			if s.Containers[i].ID == op.Request.ContainerID {
				s.Containers[i].Name = op.Plan.Name
			}
		}
	})
	return watcher.Outcome{
		State: watcher.RolledBack, Reason: watcher.Reason{Code: "interrupted", Text: "it was interrupted"},
	}, nil
}

func (e *diskEngine) updated(op watcher.Operation) watcher.Outcome {
	return watcher.Outcome{State: watcher.Updated, ContainerID: op.ID}
}

// take takes a step of an operation. It does nothing when it was taken before.
func (s *engineState) take(step string, op watcher.Operation) {
	old := slices.IndexFunc(s.Containers, func(c engineContainer) bool { return c.ID == op.Request.ContainerID })
	switch {
	case old < 0:
	case step == "rename":
		s.Containers[old].Name = op.Plan.Name + "-dogwatch-" + op.ID
	case step == "create":
		made := s.Containers[old]
		s.LastID++
		made.ID, made.Name = fmt.Sprintf("id-%d", s.LastID), op.Plan.Name
		_, made.Tag, _ = strings.Cut(op.Request.Image.Reference, ":")
		s.Containers = append(s.Containers, made)
	case step == "remove":
		s.Containers = slices.Delete(s.Containers, old, old+1)
	}
}

// note appends a line to the calls that the engine got.
func (e *diskEngine) note(line string) {
	f, err := os.OpenFile(filepath.Join(e.dir, "calls"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = f.WriteString(line + "\n")
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		panic(err)
	}
}

// Named implements updater.Watchers.
func (e *diskEngine) Named(name string) (updater.Watcher, bool) {
	return updater.Watcher{ID: "docker." + name, Name: name, Updates: true, Allowed: true, Updater: e}, name == "local"
}

// shelf is a registry in which every repository has the same tags, and always newer ones
// than those that run.
type shelf struct{ engine *diskEngine }

func (s shelf) For(host string) (registryquery.Match, bool) {
	return registryquery.Match{ID: "hub.public", URL: "https://" + host + "/v2", Registry: s}, true
}

func (s shelf) Tags(context.Context, registry.Repository, string) (registry.TagList, error) {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	var tags []string
	for i := range s.engine.read().LastID + 2 {
		tags = append(tags, fmt.Sprintf("1.%d.0", i), fmt.Sprintf("%d.0.0", 1+i))
	}
	return registry.TagList{Tags: tags}, nil
}

func (shelf) Resolve(_ context.Context, _ registry.Repository, tag string) (string, error) {
	return "sha256:" + fmt.Sprintf("%064x", tag), nil
}

func (shelf) Manifest(context.Context, registry.Repository, string, sdk.Platform) (registry.Manifest, error) {
	return registry.Manifest{}, nil
}

func (shelf) Credentials(context.Context, registry.Repository) (sdk.Credentials, error) {
	return sdk.Credentials{}, nil
}

func (shelf) ImageConfig(context.Context, registry.Repository, string, sdk.Platform) (*sdk.ImageConfig, error) {
	return nil, nil
}

// images fits a shelf to updater.Registries.
type images struct{ shelf }

func (i images) For(string) (updater.Registry, bool) { return i.shelf, true }

// noCache keeps nothing.
type noCache struct{}

func (noCache) Get(context.Context, string) (string, []byte, bool) { return "", nil, false }
func (noCache) Put(context.Context, string, string, []byte)        {}
