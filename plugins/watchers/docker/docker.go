package docker

import (
	"context"
	"errors"
	"os"

	"github.com/docker/docker/api/types/container"
	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/containerlog"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/update"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Options says where an engine is and what to list.
type Options struct {
	Connection
	WatchAll bool   `option:"watchall" default:"false" help:"List stopped containers too"`
	Keep     int    `option:"keep" default:"0" min:"0" max:"10" help:"How many old containers to keep after an update; the label dogwatch.update.keep overrides it"`
	Prune    bool   `option:"prune" default:"false" help:"Remove images that no container uses after an update"`
	Hooks    bool   `option:"hooks" default:"false" help:"Run the commands of the labels dogwatch.hook.pre and dogwatch.hook.post in containers that are updated"`
	Logs     bool   `option:"logs" default:"false" help:"Show the last lines that a container wrote on its page, to whoever may write; the engine, or the socket proxy before it, must allow reading them"`
	Update   bool   `option:"update" default:"false" help:"Let Dogwatch replace containers with newer ones; the engine or its socket proxy must allow it"`
	Compose  string `option:"compose" default:"off" choices:"off,request,edit,command" help:"How a container of Docker Compose is updated to another tag: off leaves its compose file alone whatever asks, request does what each update asks for, edit writes the image into the file, command also has docker compose recreate the container"`

	Quadlets []string `option:"quadlets" help:"Folders of Podman's quadlets whose image an update writes, before it has systemd restart the unit; they must be mounted at the same path" example:"/etc/containers/systemd"`
	Bus      string   `option:"bus" default:"unix:path=/run/dbus/system_bus_socket" help:"Address of the D-Bus of the systemd that runs the quadlets" example:"unix:path=/run/user/1000/bus"`

	ComposeTrusted []string `option:"composetrusted" help:"Names of containers that manage compose files: theirs are changed although they can write there too" example:"portainer,dockge"`
}

// Type is the Docker watcher, as a bundle lists it. An instance called "local"
// exists without configuration.
func Type() watcher.Type {
	return watcher.Define("docker", "Containers of a Docker Engine", New, kind.Default("local"),
		kind.Docs("https://docs.docker.com/reference/api/engine/"),
		watcher.AttributesLabels())
}

// Docker watches one engine. Its methods may be called concurrently.
type Docker struct {
	all, logs    bool
	log          hclog.Logger
	engine       *engine.Engine
	inspector    *inspector
	notified     notified
	predecessors update.Predecessors
	updater      *update.Updater
	pause        func(ctx context.Context, attempt int) error
}

// New makes a watcher of the engine that o names. It reads the TLS files but does
// not connect: an engine that is down is found out, and found again, by List and Watch.
func New(env sdk.Env, o Options) (*Docker, error) {
	endpoint, warnings, err := locate(o.Connection, os.Getenv("DOCKER_HOST"))
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		env.Warn(w)
	}
	e := engine.New(endpoint, env.UserAgent, o.Update)
	d := &Docker{
		all:       o.WatchAll,
		logs:      o.Logs,
		log:       env.Log,
		engine:    e,
		inspector: newInspector(e, env.Log),
		pause:     backoff.Reconnect,
	}
	d.updater = d.newUpdater(o)
	return d, nil
}

// Close drops the connections that are not in use.
func (d *Docker) Close() error {
	d.engine.Close()
	return nil
}

// List returns the running containers, or all of them with the option watchall. One that
// is being replaced has its own name and is listed, until the new one has it and runs.
//
// Image.Tag is the tag as written; it is "latest" for a reference with neither
// tag nor digest, which is what the engine takes it for. For one that is pinned by
// digest alone it is the tag of the same repository under which the engine knows the
// image, and "" if that is none or several. Errors are of the kinds ErrUnavailable and ErrUnauthorized.
func (d *Docker) List(ctx context.Context) ([]watcher.Container, error) {
	found, err := d.containers(ctx)
	if err != nil {
		return nil, err
	}
	images, err := d.inspector.images(ctx, found)
	if err != nil {
		return nil, err
	}
	list := make([]watcher.Container, len(found))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(engine.Concurrency)
	for i, c := range found {
		group.Go(func() (err error) {
			list[i], err = d.describe(ctx, c, images[c.ImageID])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	d.inspector.keepOnly(found)
	d.notified.listed(found)
	return list, nil
}

// describe makes the container that the host sees. What is wrong with this one
// container is its Error; the error returned means the engine cannot be reached any more.
func (d *Docker) describe(ctx context.Context, c container.Summary, about description) (watcher.Container, error) {
	out := watcher.Container{
		ID:      c.ID,
		Name:    engine.Name(c),
		Status:  statusOf(c.State),
		Created: createdAt(c),
		Labels:  c.Labels,
		Image:   about.image(c),
	}
	image, err := d.inspector.provenance(ctx, c.ImageID, about.facts, c.ImageManifestDescriptor)
	if err != nil {
		return out, err
	}
	out.ImageLabels = image.names(c.Labels)
	problem := about.problem
	text, err := d.inspector.reference(ctx, c, about)
	if err != nil {
		return out, err
	}
	ref, err := engine.ParseReference(text)
	if err != nil {
		problem = err
		ref = reference.Reference{Path: text}
	}
	out.Image.Built = isBuilt(ref, about, c.Labels) || ref.Domain == localDomain && d.engine.IsPodman()
	out.Image.Host = ref.Domain
	out.Image.Name = ref.Path
	out.Image.Tag = tagOf(ref, about.tags)
	out.Image.Pinned = ref.Digest != ""
	out.Image.Digest = repoDigest(ref, about.digests)
	if problem != nil {
		out.Error = problem.Error()
	}
	return out, nil
}

// containers returns what the watcher watches, as users know it: all containers, or those
// that run. One that is being replaced belongs to them although the engine stopped it.
func (d *Docker) containers(ctx context.Context) ([]container.Summary, error) {
	updating := d.predecessors.Any()
	found, err := d.engine.Containers(ctx, d.all || updating)
	if err != nil {
		return nil, err
	}
	// Without an operation the engine itself left out what does not run.
	return d.predecessors.Apparent(found, d.all || !updating), nil
}

// ReadLog implements watcher.LogReader. Without the option logs it is an ErrUnsupported. It costs two requests.
func (d *Docker) ReadLog(ctx context.Context, req watcher.LogRequest) (watcher.Log, error) {
	if !d.logs {
		return watcher.Log{}, sdk.WithKind(sdk.ErrUnsupported, errors.New("logs of containers are not read: its option logs is false"))
	}
	return containerlog.Read(ctx, d.engine, req)
}

// Env returns the names of the environment variables that the watcher reads and other plugins do not see.
func Env() []string { return []string{"SSH_AUTH_SOCK", "DOCKER_CONFIG"} }
