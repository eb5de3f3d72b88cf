package update

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/versions"
	"golang.org/x/sync/errgroup"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/podman"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Plan implements watcher.Updater. It costs one request for each container of the engine.
func (u *Updater) Plan(ctx context.Context, req watcher.UpdateRequest) (watcher.Plan, error) {
	f, err := u.collect(ctx, req.ContainerID)
	if err != nil {
		return watcher.Plan{}, err
	}
	req.Rules = u.allowed(req.Rules)
	if req.Image, err = u.available(ctx, req.Image); err != nil {
		return watcher.Plan{}, err
	}
	if err := u.withCompose(ctx, &f, req); err != nil {
		return watcher.Plan{}, err
	}
	if err := u.withQuadlet(ctx, &f, req); err != nil {
		return watcher.Plan{}, err
	}
	return replace.Plan(f, req), nil
}

// allowed leaves out of rules what the watcher's options do not allow, whoever asks for it, and what the engine,
// which has responded before, does not do. What they ask about compose files is for composeRules.
func (u *Updater) allowed(rules watcher.UpdateRules) watcher.UpdateRules {
	if !u.Hooks {
		rules.Hooks = watcher.Hooks{}
	}
	if u.engine.IsPodman() { // Podman 4 changes no restart policy, so it would start a predecessor with the machine
		rules.Keep = 0
	}
	return rules
}

// available returns the image as it is to be had: one that was removed meanwhile is
// pulled again by its digest.
func (u *Updater) available(ctx context.Context, image watcher.TargetImage) (watcher.TargetImage, error) {
	if image.ID == "" {
		return image, nil
	}
	found, err := u.imageOf(ctx, image.ID)
	if err == nil && found == nil {
		image.ID = ""
	}
	return image, err
}

// collect reads what a plan is made from.
func (u *Updater) collect(ctx context.Context, id string) (f replace.Facts, err error) {
	target, err := u.engine.Sized(ctx, id)
	if err != nil {
		return f, err
	}
	if f.Target, err = u.withImage(ctx, target); err == nil {
		err = u.withLibpod(ctx, &f.Target)
	}
	if err != nil {
		return f, err
	}
	if err := u.withFiles(ctx, &f.Target); err != nil {
		return f, err
	}
	all, err := u.engine.Containers(ctx, true)
	if err != nil {
		return f, err
	}
	if f.Others, err = u.others(ctx, all, f.Target); err != nil {
		return f, err
	}
	f.Target = f.Target.Among(f.Others)
	everything := append([]replace.Container{f.Target}, f.Others...)
	following := replace.Following(f)
	for i, c := range f.Others {
		if !following[c.ID] {
			continue
		}
		sized, err := u.engine.Sized(ctx, c.ID)
		if err == nil {
			f.Others[i], err = u.withImage(ctx, sized)
		}
		if err == nil {
			err = u.withLibpod(ctx, &f.Others[i])
		}
		if err == nil {
			f.Others[i] = f.Others[i].Among(everything)
			err = u.withFiles(ctx, &f.Others[i])
		}
		if err != nil {
			return f, err
		}
	}
	if f.Networks, err = u.engine.Networks(ctx); err != nil && !engine.IsResponse(err) { // a socket proxy may hide them
		return f, err
	}
	if f.Engine, err = u.Capabilities(ctx); err != nil {
		return f, err
	}
	if own := u.Whereabouts(ctx, all); len(own) == 1 {
		f.Self = own[0]
	} else {
		f.Suspects = own
	}
	f.Compose.Guard = u.composeGuard(f.Self, all)
	f.Proxies = u.proxies(ctx, f)
	f.NoHelper = u.noHelper(f)
	f.Backups, err = u.kept(ctx, f.Target.Name(), all)
	return f, err
}

// self returns the id of the container in which this process runs; "" if it runs in none of
// all, or is not sure.
func (u *Updater) self(ctx context.Context, all []container.Summary) string {
	if ids := u.Whereabouts(ctx, all); len(ids) == 1 {
		return ids[0]
	}
	return ""
}

// others inspects all containers but the target. Those that go away meanwhile are left out.
func (u *Updater) others(
	ctx context.Context, all []container.Summary, target replace.Container,
) ([]replace.Container, error) {
	found := make([]replace.Container, len(all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(engine.Concurrency)
	for i, c := range all {
		if c.ID == target.ID {
			continue
		}
		group.Go(func() error {
			got, err := u.engine.Container(ctx, c.ID)
			if engine.HasStatus(err, http.StatusNotFound) {
				return nil
			}
			found[i] = replace.Container{InspectResponse: got}
			if err == nil && got.Config != nil && replace.Neighbours(target, got.Config.Labels) {
				own := got.ImageManifestDescriptor
				found[i].Labels, err = u.images.Counting(ctx, got.Config.Labels, got.Image, own)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var present []replace.Container
	for _, c := range found {
		if c.ContainerJSONBase != nil && c.Config != nil && c.HostConfig != nil {
			present = append(present, c)
		}
	}
	return present, nil
}

// withImage adds the image of a container, if the engine still has it.
func (u *Updater) withImage(ctx context.Context, c container.InspectResponse) (replace.Container, error) {
	out := replace.Container{InspectResponse: c}
	if c.ContainerJSONBase == nil || c.Config == nil || c.HostConfig == nil {
		return out, errors.New("the engine does not describe the container: update the engine")
	}
	got, err := u.engine.Image(ctx, c.Image)
	found := err == nil
	if other, differs := engine.OtherPlatform(engine.PlatformOf(got), c.ImageManifestDescriptor); found && differs {
		got, found, err = u.engine.ImageFor(ctx, c.Image, other)
	}
	switch {
	case err != nil && !engine.HasStatus(err, http.StatusNotFound):
		return out, err
	case found:
		return out.WithImage(imageFrom(got)), nil
	}
	return out.WithImage(nil), nil
}

// withLibpod adds what Podman's own API says of a container.
func (u *Updater) withLibpod(ctx context.Context, c *replace.Container) error {
	if !u.engine.IsPodman() {
		return nil
	}
	native, err := u.libpod(ctx, c.ID)
	if err != nil {
		return err
	}
	c.Podman = &native
	if native.Pod == "" || native.IsInfra {
		return nil
	}
	for _, id := range native.Dependencies {
		other, err := u.libpod(ctx, id)
		if err != nil {
			return err
		}
		if other.IsInfra {
			native.Infra = &other
		}
	}
	return nil
}

func (u *Updater) libpod(ctx context.Context, id string) (podman.Container, error) {
	document, err := u.engine.Libpod(ctx, id)
	if err != nil {
		return podman.Container{}, err
	}
	return podman.Read(document)
}

// Capabilities says what the engine can do. Whether it takes changes is found out by
// starting a container that does not exist.
func (u *Updater) Capabilities(ctx context.Context) (replace.Engine, error) {
	e := replace.Engine{Podman: u.engine.IsPodman()}
	api, err := u.engine.Connect(ctx)
	if err != nil {
		return e, err
	}
	e.ManyNetworks = versions.GreaterThanOrEqualTo(api.ClientVersion(), "1.44")
	if !u.engine.Writes() {
		e.ReadOnly = "this watcher only reads: set its option update to true to let it replace containers"
		return e, nil
	}
	err = u.engine.StartMissing(ctx)
	switch {
	case engine.HasStatus(err, http.StatusNotFound):
	case engine.HasStatus(err, http.StatusForbidden), engine.HasStatus(err, http.StatusUnauthorized),
		engine.HasStatus(err, http.StatusMethodNotAllowed):
		e.ReadOnly = fmt.Sprintf("the engine at %s, or the socket proxy before it, takes no changes: "+
			"allow POST, CONTAINERS, IMAGES and NETWORKS in the proxy", u.engine.Endpoint)
	case err != nil:
		return e, err
	}
	return e, nil
}
