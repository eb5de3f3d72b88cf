package update

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/podman"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/secrets"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// step takes one step, after the host has stored that it begins.
func (r *replacement) step(ctx context.Context, s watcher.Step) error {
	switch err := r.journal.Begin(ctx, s); {
	case errors.Is(err, watcher.ErrStop):
		return err
	case err != nil:
		return &journalError{err}
	}
	facts, failed := r.take(ctx, s)
	if err := r.journal.End(ctx, s, facts, failed); err != nil {
		return &journalError{err}
	}
	return failed
}

func (r *replacement) take(ctx context.Context, s watcher.Step) (map[string]string, error) {
	name := s.Container
	switch s.Code {
	case watcher.StepPull:
		return r.pullImage(ctx)
	case watcher.StepEdit:
		r.editBegun = true
		return r.editFile()
	case watcher.StepRename:
		return r.rename(ctx, name)
	case watcher.StepCreate:
		switch {
		case r.files.Command != nil:
			return r.up(ctx, name)
		case r.files.Unit != "":
			return r.upUnit(ctx, name)
		}
		return r.create(ctx, name)
	case watcher.StepConnect:
		return nil, r.connect(ctx, s)
	case watcher.StepStop:
		r.holdBack(ctx, name)
		r.stopping[name] = true
		err := r.stopOld(ctx, name)
		r.stopping[name] = err != nil
		return nil, err
	case watcher.StepStart:
		return nil, r.engine.Post(ctx, "start "+name, "/containers/"+r.new(name)+"/start", nil, nil, nil)
	case watcher.StepPause:
		return nil, r.engine.Post(ctx, "pause "+name, "/containers/"+r.new(name)+"/pause", nil, nil, nil)
	case watcher.StepHealth:
		return nil, r.healthy(ctx, name)
	case watcher.StepHook:
		return nil, r.hook(ctx, s)
	case watcher.StepRestart:
		return nil, r.engine.Post(ctx, "restart "+name, "/containers/"+name+"/restart", nil, nil, nil)
	case watcher.StepRemove:
		if err := r.stays(ctx, name); err != nil {
			return nil, err
		}
		return nil, r.removeOld(ctx, name, r.old[name].ID)
	case watcher.StepPrune:
		return nil, r.prune(ctx)
	}
	return nil, fmt.Errorf("the step %s is not known", s.Code)
}

// pullImage gets the image, unless it is there, and checks it.
func (r *replacement) pullImage(ctx context.Context) (map[string]string, error) {
	image := r.op.Request.Image
	ref, err := engine.ParseReference(image.Reference)
	if err != nil {
		return nil, err
	}
	exact := ref.Name() + "@" + image.Digest
	found, err := r.imageOf(ctx, exact)
	if err == nil && found == nil {
		if err := r.engine.Pull(ctx, ref.Name(), image.Digest, r.op.Request.Credentials, r.journal.Progress); err != nil {
			return nil, err
		}
		found, err = r.imageOf(ctx, exact)
	}
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, fmt.Errorf("the engine has no image %s after the pull: is its disk full?", exact)
	}
	if old := r.old[r.op.Plan.Name].Image; old != nil && old.Platform != found.Platform {
		return nil,
			&coded{replace.BlockPlatform,
				fmt.Sprintf("%s is for %s, and %s runs one for %s", image.Reference, found.Platform, r.op.Plan.Name, old.Platform)}
	}
	r.imageID = found.ID
	return map[string]string{factImage: found.ID}, nil
}

// rename gives the old container the name of a backup.
func (r *replacement) rename(ctx context.Context, name string) (map[string]string, error) {
	facts := map[string]string{"old": r.old[name].ID}
	if name == r.op.Plan.Name {
		was, err := r.imageOf(ctx, r.target)
		if err != nil {
			return nil, err
		}
		if was != nil {
			r.previous = was.ID
		}
		facts[factPrevious] = r.previous
	}
	return facts,
		r.engine.Post(ctx, "rename "+name, "/containers/"+r.old[name].ID+"/rename",
			engine.Query("name", replace.Backup(name, r.op.ID)), nil, nil)
}

// create creates the new container. Secrets are in the body only, never in the address.
func (r *replacement) create(ctx context.Context, name string) (map[string]string, error) {
	spec := r.specs[name]
	image := r.old[name].InspectResponse.Image
	if name == r.op.Plan.Name {
		image = r.imageID
		if err := r.tag(ctx, r.target, image); err != nil {
			return nil, err
		}
		if _, found := spec.Config.Labels["com.docker.compose.image"]; found {
			spec.Config.Labels["com.docker.compose.image"] = image
		}
		r.labelCompose(ctx, spec.Config.Labels)
	}
	spec.Follow(r.created)
	if r.old[name].Podman != nil {
		return r.createByLibpod(ctx, name, image)
	}
	body := container.CreateRequest{Config: spec.Config, HostConfig: spec.Host}
	if len(spec.Create) > 0 {
		body.NetworkingConfig = &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{}}
		for _, e := range spec.Create {
			body.NetworkingConfig.EndpointsConfig[e.Name] = e.Settings
		}
	}
	var out container.CreateResponse
	query := engine.Query("name", name)
	if err := r.engine.Post(ctx, "create "+name, "/containers/create", query, body, &out); err != nil {
		return nil, err
	}
	return r.fill(ctx, name, out.ID, image)
}

// fill notes a container that was created, checks its image, and gives it the files of the old one.
func (r *replacement) fill(ctx context.Context, name, id, image string) (map[string]string, error) {
	r.created[r.old[name].ID] = id
	got, err := r.engine.Container(ctx, id)
	if err == nil && got.Image != image {
		err = fmt.Errorf("the reference %s came to mean another image: try again", r.specs[name].Config.Image)
	}
	if err == nil {
		err = r.placeFiles(ctx, name)
	}
	return map[string]string{factNew: id}, err
}

// createByLibpod creates the new container by Podman's own API, and compares it with the old one. Podman may refuse
// a spec with a text that repeats values of it, so that those which may be secret are blanked.
func (r *replacement) createByLibpod(ctx context.Context, name, image string) (map[string]string, error) {
	old := r.old[name]
	id, err := r.engine.CreateByLibpod(ctx, "create "+name, r.specs[name].Libpod(old))
	if engine.IsResponse(err) {
		hide := secrets.Hiding(slices.Concat(old.Config.Env, old.Config.Entrypoint, old.Config.Cmd))
		return nil, &coded{"step." + watcher.StepCreate, hide(err.Error())}
	}
	if err != nil {
		return nil, err
	}
	facts, err := r.fill(ctx, name, id, image)
	if err != nil {
		return facts, err
	}
	before, err := r.engine.Libpod(ctx, old.ID)
	if err != nil {
		return facts, err
	}
	after, err := r.engine.Libpod(ctx, id)
	if err != nil {
		return facts, err
	}
	differ, err := podman.Differences(before, after)
	if err == nil && len(differ) > 0 {
		err = &coded{replace.BlockPodmanSetting, fmt.Sprintf("the new %s would have other settings than the old one: %s: "+
			"create it anew with podman run, or make it a quadlet", name, strings.Join(differ, ", "))}
	}
	return facts, err
}

func (r *replacement) connect(ctx context.Context, s watcher.Step) error {
	for _, e := range r.specs[s.Container].Connect {
		if replace.ConnectID(s.Container, e.Name) == s.ID {
			in := network.ConnectOptions{Container: r.new(s.Container), EndpointConfig: e.Settings}
			return r.engine.Post(ctx, s.Text, "/networks/"+e.Name+"/connect", nil, in, nil)
		}
	}
	return fmt.Errorf("the network of step %s is not known", s.ID)
}
