package update

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// The facts that steps note for Recover.
const (
	factNew      = "new"      // the id of the new container
	factPrevious = "previous" // the image that the reference meant before
	factImage    = "image"    // the id of the new image
)

// replacement is an operation that is carried out or recovered.
type replacement struct {
	*Updater
	op      watcher.Operation
	journal watcher.Journal
	target  string // the image reference of the new container
	imageID string // of the new image
	// previous is the image that target meant before; "" for none.
	previous string
	// old and started are containers by name, created the new ones by the id of the old.
	old     map[string]replace.Container
	specs   map[string]replace.Spec
	created map[string]string
	// stopping are the old containers that the engine may be stopping, by name.
	stopping map[string]bool
	health   time.Duration
	machine  string // where the ports are reached that the engine publishes
	warnings []watcher.Reason
	// files is what becomes of the compose file, and editBegun whether it may be changed already.
	files     replace.Compose
	editBegun bool
	// hash says what compose labels the new container with; nil when that is not known.
	hash func(context.Context) (string, error)
}

// Apply implements watcher.Updater.
func (u *Updater) Apply(ctx context.Context, op watcher.Operation, journal watcher.Journal) (watcher.Outcome, error) {
	op.Request.Rules = u.allowed(op.Request.Rules)
	f, err := u.collect(ctx, op.Request.ContainerID)
	if errors.Is(err, sdk.ErrNotFound) {
		return unchanged(op, replace.BlockChanged, "the container does not exist any more: list again"), nil
	}
	if err != nil {
		return watcher.Outcome{}, err
	}
	if op.Request.Image, err = u.available(ctx, op.Request.Image); err != nil {
		return watcher.Outcome{}, err
	}
	if err := u.withCompose(ctx, &f, op.Request); err != nil {
		return watcher.Outcome{}, err
	}
	plan := replace.Plan(f, op.Request)
	switch {
	case len(plan.Blocks) > 0:
		return unchanged(op, plan.Blocks[0].Code, plan.Blocks[0].Text), nil
	case plan.State != op.Plan.State:
		return unchanged(op, replace.BlockChanged,
			plan.Name+" or what depends on it changed since this was planned: plan again"), nil
	}
	r, err := u.begin(f, op, journal)
	if err != nil {
		return unchanged(op, replace.BlockImage, err.Error()), nil
	}
	defer u.replacing.Begin(op, r.old)()
	r.files = f.Compose
	r.composeHash(ctx)
	if replace.NeedsHelper(f) {
		out, err := r.handOver(ctx, f, plan)
		return r.uneditUnlessUpdated(ctx, out, err)
	}
	committed := false
	for _, s := range plan.Steps {
		err := r.step(ctx, s)
		var lost *coded // the new container, before the old one was removed
		gaveUp := errors.Is(err, watcher.ErrStop) || errors.As(err, &lost)
		committed = s.Code == watcher.StepRemove && !gaveUp || committed && lost == nil
		var gone *journalError
		switch {
		case err == nil:
		case ctx.Err() != nil, errors.As(err, &gone):
			return watcher.Outcome{}, err
		case committed, s.Code == watcher.StepPrune, s.Code == watcher.StepRestart && !errors.Is(err, watcher.ErrStop):
			r.warn(s, err)
		case harmless(s): // a file that could not be edited is as it was
			return unchanged(op, reasonCode(s, err), err.Error()), nil
		default:
			return r.rollBack(ctx, s, err)
		}
	}
	if op.Request.Rules.DryRun {
		return unchanged(op, "dryrun", "the image was pulled, and "+plan.Name+" was left as it is (dryrun)"), nil
	}
	return r.updated(ctx)
}

func unchanged(op watcher.Operation, code, text string) watcher.Outcome {
	return watcher.Outcome{
		State: watcher.Unchanged, Reason: watcher.Reason{Code: code, Text: text}, ContainerID: op.Request.ContainerID,
	}
}

// begin makes the specs of all containers that are created, before any name changes.
func (u *Updater) begin(f replace.Facts, op watcher.Operation, journal watcher.Journal) (*replacement, error) {
	reference, err := target(f.Target.Config.Image, op.Request.Image)
	if err != nil {
		return nil, err
	}
	r := &replacement{
		Updater: u, op: op, journal: journal, target: reference, imageID: op.Request.Image.ID,
		old:   map[string]replace.Container{f.Target.Name(): f.Target},
		specs: map[string]replace.Spec{}, stopping: map[string]bool{}, created: map[string]string{},
		machine: u.machine(f),
	}
	spec := replace.Make(f.Target, f.Engine, reference, r.imageID)
	var predecessors []string
	for _, b := range f.Backups {
		predecessors = append(predecessors, b.ContainerID)
	}
	if op.Request.Rules.Keep > 0 {
		predecessors = append(predecessors, f.Target.ID)
	}
	spec.Succeed(predecessors)
	r.specs[f.Target.Name()] = spec
	following := replace.Following(f)
	for _, c := range f.Others {
		if following[c.ID] {
			r.old[c.Name()] = c
			r.specs[c.Name()] = replace.Make(c, f.Engine, c.Config.Image, c.InspectResponse.Image)
		}
	}
	return r, nil
}

// journalError is a host that stores no steps any more.
type journalError struct{ cause error }

func (e *journalError) Error() string { return "store the step: " + e.cause.Error() }
func (e *journalError) Unwrap() error { return e.cause }

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
		if r.files.Command != nil {
			return r.up(ctx, name)
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

// new is the id of the container that takes the place of the one called name.
func (r *replacement) new(name string) string { return r.created[r.old[name].ID] }

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
	r.created[r.old[name].ID] = out.ID
	facts := map[string]string{factNew: out.ID}
	got, err := r.engine.Container(ctx, out.ID)
	if err == nil && got.Image != image {
		err = fmt.Errorf("the reference %s came to mean another image: try again", spec.Config.Image)
	}
	if err == nil {
		err = r.placeFiles(ctx, name)
	}
	return facts, err
}

// tag makes a reference mean an image. One with a digest means it already.
func (r *replacement) tag(ctx context.Context, reference, imageID string) error {
	ref, err := engine.ParseReference(reference)
	if err != nil || ref.Digest != "" {
		return err
	}
	tag := ref.Tag
	if tag == "" {
		tag = "latest"
	}
	query := engine.Query("repo", ref.Name(), "tag", tag)
	return r.engine.Post(ctx, "tag "+reference, "/images/"+imageID+"/tag", query, nil, nil)
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

func (r *replacement) warn(s watcher.Step, err error) {
	r.warnings = append(r.warnings, watcher.Reason{Code: reasonCode(s, err), Text: s.Text + ": " + err.Error()})
}

// coded is an error with a code of its own.
type coded struct{ code, text string }

func (e *coded) Error() string { return e.text }

// reasonCode says what an update failed with: the error's own code, or the step.
func reasonCode(s watcher.Step, err error) string {
	var c *coded
	switch {
	case errors.As(err, &c):
		return c.code
	case errors.Is(err, watcher.ErrStop):
		return watcher.ReasonCancelled
	}
	return "step." + s.Code
}

// updated describes the end of a successful operation, with what another client did meanwhile.
func (r *replacement) updated(ctx context.Context) (watcher.Outcome, error) {
	name, out := r.op.Plan.Name, watcher.Outcome{State: watcher.Updated}
	id := r.created[r.op.Plan.ContainerID]
	c, err := r.engine.Container(ctx, cmp.Or(id, name))
	if id != "" && engine.HasStatus(err, http.StatusNotFound) {
		out.State, out.Warnings = watcher.Broken, r.warnings
		text := removedMeanwhile(name).text + " after it had worked: create it again"
		out.Reason = watcher.Reason{Code: lostNew, Text: text}
		return out, nil
	}
	if err != nil {
		return out, err
	}
	step := watcher.Step{Code: watcher.StepStart, Text: "leave the new " + name + " as it was"}
	if other := strings.TrimPrefix(c.Name, "/"); other != name {
		r.warn(step, fmt.Errorf("another client has renamed it to %s", other))
	}
	if err := alive(c); err != nil && replace.Statuses(r.op.Plan)[name] != replace.Stopped {
		r.warn(step, fmt.Errorf("it does not run any more: %w", err))
	}
	out.ContainerID, out.Downtime, out.Warnings = c.ID, r.health, r.warnings
	backups, err := r.backupsNow(ctx, name)
	for _, b := range backups {
		out.Kept = append(out.Kept, engine.Name(b))
	}
	return out, err
}

// recreated returns the ids of the containers that the operation replaces, by name.
func recreated(p watcher.Plan) map[string]string {
	all := map[string]string{p.Name: p.ContainerID}
	for _, d := range p.Dependents {
		if d.Action == watcher.StepCreate {
			all[d.Name] = d.ContainerID
		}
	}
	return maps.Clone(all)
}
