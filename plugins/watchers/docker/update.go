package docker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"
	"github.com/hashicorp/go-hclog"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// updater replaces containers of one engine. Its methods may be called concurrently; its fields are set before.
type updater struct {
	engine *engine
	images images
	log    hclog.Logger
	// replacing are the operations that are under way.
	replacing *replacing
	// hooks says whether the commands of labels are run.
	hooks bool
	// compose is the most that is done about compose files: composeRequest, composeEdit or composeCommand; nothing
	// for others. composeTrusted are the names of containers that may write them too.
	compose        string
	composeTrusted []string
	// liveness is how long a new container has to stay up at least.
	liveness time.Duration
	// stopMargin is how much longer than its own timeout a container may take to stop.
	stopMargin time.Duration
	// whereabouts returns the ids of those of all containers that this process may run in: none if it runs in none
	// of them, and more than one if it is not sure.
	whereabouts func(ctx context.Context, all []container.Summary) []string
	// helperCommand is how this program serves as a helper, and helperOptions with what options of the watcher of
	// the engine at an address.
	helperCommand func() ([]string, error)
	helperOptions func(address string) any
}

// newUpdater makes an updater that runs no hooks and leaves compose files alone. The functions
// whereabouts, helperCommand and helperOptions are still to be set.
func newUpdater(e *engine, i images, p *replacing, log hclog.Logger) *updater {
	return &updater{
		engine: e, images: i, replacing: p, log: log, liveness: defaultLiveness, stopMargin: defaultStopMargin,
	}
}

// images are the images of an engine.
type images interface {
	// counting returns those of a container's labels that its image does not bring. own is the platform of the image
	// that the container runs, if the engine says it. The error means that the engine cannot be reached.
	counting(ctx context.Context, labels map[string]string, imageID string, own *ocispec.Descriptor) (
		map[string]string, error)
}

// Plan implements watcher.Updater. It costs one request for each container of the engine.
func (u *updater) Plan(ctx context.Context, req watcher.UpdateRequest) (watcher.Plan, error) {
	req.Rules = u.allowed(req.Rules)
	f, err := u.collect(ctx, req.ContainerID)
	if err != nil {
		return watcher.Plan{}, err
	}
	if req.Image, err = u.available(ctx, req.Image); err != nil {
		return watcher.Plan{}, err
	}
	if err := u.withCompose(ctx, &f, req); err != nil {
		return watcher.Plan{}, err
	}
	return replace.Plan(f, req), nil
}

// allowed leaves out of rules what the watcher's options do not allow, whoever asks for it.
// What they ask about compose files is for composeRules.
func (u *updater) allowed(rules watcher.UpdateRules) watcher.UpdateRules {
	if !u.hooks {
		rules.Hooks = watcher.Hooks{}
	}
	return rules
}

// available returns the image as it is to be had: one that was removed meanwhile is
// pulled again by its digest.
func (u *updater) available(ctx context.Context, image watcher.TargetImage) (watcher.TargetImage, error) {
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
func (u *updater) collect(ctx context.Context, id string) (f replace.Facts, err error) {
	target, err := u.engine.sized(ctx, id)
	if err != nil {
		return f, err
	}
	if f.Target, err = u.withImage(ctx, target); err != nil {
		return f, err
	}
	if err := u.withFiles(ctx, &f.Target); err != nil {
		return f, err
	}
	all, err := u.engine.containers(ctx, true)
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
		sized, err := u.engine.sized(ctx, c.ID)
		if err == nil {
			f.Others[i], err = u.withImage(ctx, sized)
		}
		if err == nil {
			f.Others[i] = f.Others[i].Among(everything)
			err = u.withFiles(ctx, &f.Others[i])
		}
		if err != nil {
			return f, err
		}
	}
	if f.Networks, err = u.engine.networks(ctx); err != nil && !isResponse(err) { // a socket proxy may hide them
		return f, err
	}
	if f.Engine, err = u.capabilities(ctx); err != nil {
		return f, err
	}
	if own := u.whereabouts(ctx, all); len(own) == 1 {
		f.Self = own[0]
	} else {
		f.Suspects = own
	}
	f.Compose.Guard = u.composeGuard(f.Self, all)
	f.Reach = u.proxies(ctx, f)
	f.NoHelper = u.noHelper(f)
	f.Backups, err = u.kept(ctx, f.Target.Name(), all)
	return f, err
}

// self returns the id of the container in which this process runs; "" if it runs in none of
// all, or is not sure.
func (u *updater) self(ctx context.Context, all []container.Summary) string {
	if ids := u.whereabouts(ctx, all); len(ids) == 1 {
		return ids[0]
	}
	return ""
}

// others inspects all containers but the target. Those that go away meanwhile are left out.
func (u *updater) others(
	ctx context.Context, all []container.Summary, target replace.Container,
) ([]replace.Container, error) {
	found := make([]replace.Container, len(all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for i, c := range all {
		if c.ID == target.ID {
			continue
		}
		group.Go(func() error {
			got, err := u.engine.container(ctx, c.ID)
			if hasStatus(err, http.StatusNotFound) {
				return nil
			}
			found[i] = replace.Container{InspectResponse: got}
			if err == nil && got.Config != nil && replace.Neighbours(target, got.Config.Labels) {
				own := got.ImageManifestDescriptor
				found[i].Labels, err = u.images.counting(ctx, got.Config.Labels, got.Image, own)
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
func (u *updater) withImage(ctx context.Context, c container.InspectResponse) (replace.Container, error) {
	out := replace.Container{InspectResponse: c}
	if c.ContainerJSONBase == nil || c.Config == nil || c.HostConfig == nil {
		return out, errors.New("the engine does not describe the container: update the engine")
	}
	got, err := u.engine.image(ctx, c.Image)
	found := err == nil
	if other, differs := otherPlatform(platformOf(got), c.ImageManifestDescriptor); found && differs {
		got, found, err = u.engine.imageFor(ctx, c.Image, other)
	}
	switch {
	case err != nil && !hasStatus(err, http.StatusNotFound):
		return out, err
	case found:
		return out.WithImage(imageFrom(got)), nil
	}
	return out.WithImage(nil), nil
}

// imageOf returns an image; nil when there is none of that name.
func (u *updater) imageOf(ctx context.Context, name string) (*replace.Image, error) {
	got, err := u.engine.image(ctx, name)
	switch {
	case hasStatus(err, http.StatusNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return imageFrom(got), nil
}

func imageFrom(got image.InspectResponse) *replace.Image {
	return &replace.Image{
		ID: got.ID, Config: got.Config, Platform: got.Os + "/" + got.Architecture,
		Tags: names(got.RepoTags), Digests: names(got.RepoDigests),
	}
}

// capabilities says what the engine can do. Whether it takes changes is found out by
// starting a container that does not exist.
func (u *updater) capabilities(ctx context.Context) (replace.Engine, error) {
	e := replace.Engine{Podman: u.engine.isPodman()}
	api, err := u.engine.connect(ctx)
	if err != nil {
		return e, err
	}
	e.ManyNetworks = versions.GreaterThanOrEqualTo(api.ClientVersion(), "1.44")
	if !u.engine.writes() {
		e.ReadOnly = "this watcher only reads: set its option update to true to let it replace containers"
		return e, nil
	}
	err = u.engine.startMissing(ctx)
	switch {
	case hasStatus(err, http.StatusNotFound):
	case hasStatus(err, http.StatusForbidden), hasStatus(err, http.StatusUnauthorized),
		hasStatus(err, http.StatusMethodNotAllowed):
		e.ReadOnly = fmt.Sprintf("the engine at %s, or the socket proxy before it, takes no changes: allow POST, CONTAINERS, IMAGES and NETWORKS in the proxy", u.engine.at)
	case err != nil:
		return e, err
	}
	return e, nil
}

// sized inspects a container with the size of what it has written into itself, and
// with the MAC address that a user gave it.
func (e *engine) sized(ctx context.Context, id string) (container.InspectResponse, error) {
	got, err := request(ctx, e, operation{"inspect container " + short(id), "CONTAINERS"},
		func(ctx context.Context, api *client.Client) (container.InspectResponse, error) {
			got, _, err := api.ContainerInspectWithRaw(ctx, id, true)
			return got, err
		})
	if err != nil || got.Config == nil {
		return got, err
	}
	api, err := e.connect(ctx)
	if err != nil || versions.LessThan(api.ClientVersion(), "1.44") {
		return got, err
	}
	// Newer versions do not distinguish it from one that the engine made; not all engines speak an older one.
	var older container.InspectResponse
	if err := e.change(ctx, operation{"inspect container " + short(id), "CONTAINERS"}, change{
		method: http.MethodGet, path: "/containers/" + id + "/json", version: "1.43", out: &older,
	}); err == nil && older.Config != nil {
		got.Config.MacAddress = older.Config.MacAddress //lint:ignore SA1019 which is why the older version is used
	}
	return got, nil
}

func (e *engine) networks(ctx context.Context) ([]string, error) {
	list, err := request(ctx, e, operation{"list networks", "NETWORKS"},
		func(ctx context.Context, api *client.Client) ([]network.Summary, error) {
			return api.NetworkList(ctx, network.ListOptions{})
		})
	var all []string
	for _, n := range list {
		all = append(all, n.Name)
	}
	return all, err
}

// target is the image reference of the new container: as the user wrote the old one,
// without the host if that had none, and with the digest if that had one.
func target(old string, image watcher.TargetImage) (string, error) {
	ref, err := parseReference(image.Reference)
	if err != nil {
		return "", err
	}
	was, err := parseReference(old)
	if err != nil {
		return image.Reference, nil
	}
	if canonical := ref.Canonical(); was.Domain == "" && canonical.Domain == hubDomain {
		ref.Domain, ref.Path = "", strings.TrimPrefix(canonical.Path, "library/")
	}
	switch {
	case was.Digest == "":
		ref.Digest = ""
	case image.Digest != "": // otherwise, of a rollback, the one that its reference has
		ref.Digest = image.Digest
	}
	return ref.String(), nil
}

const hubDomain = "docker.io"

func query(pairs ...string) url.Values {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return values
}
