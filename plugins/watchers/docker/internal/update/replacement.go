package update

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"time"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
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
	// restarting says whether systemd may be restarting the unit of a quadlet already.
	restarting bool
	// hash says what compose labels the new container with; nil when that is not known.
	hash func(context.Context) (string, error)
}

// new is the id of the container that takes the place of the one called name.
func (r *replacement) new(name string) string { return r.created[r.old[name].ID] }

// tag makes a reference mean an image. One with a digest means it already.
func (r *replacement) tag(ctx context.Context, reference, imageID string) error {
	ref, err := engine.ParseReference(reference)
	if err != nil || ref.Digest != "" {
		return err
	}
	tag := cmp.Or(ref.Tag, "latest")
	query := engine.Query("repo", ref.Name(), "tag", tag)
	return r.engine.Post(ctx, "tag "+reference, "/images/"+imageID+"/tag", query, nil, nil)
}

func (r *replacement) warn(s watcher.Step, err error) {
	r.warnings = append(r.warnings, watcher.Reason{Code: reasonCode(s, err), Text: s.Text + ": " + err.Error()})
}

// noteStop notes whether the engine may be stopping the old container of a step.
func (r *replacement) noteStop(s watcher.StepRecord) {
	if s.Code == watcher.StepStop {
		r.stopping[s.Container] = !s.Ended || s.Error != ""
	}
}

// pause waits. The error is the cause of the end of ctx, if it ends earlier.
func pause(ctx context.Context, d time.Duration) error {
	if backoff.Wait(ctx, d) != nil {
		return context.Cause(ctx)
	}
	return nil
}

// rollBackPrefix begins the ids of steps that return to an old container.
const rollBackPrefix = "back:"

// harmless reports whether a step changes nothing of the containers.
func harmless(s watcher.Step) bool {
	return s.Code == watcher.StepPull || s.Code == watcher.StepEdit || s.ID == replace.PreHookID(s.Container)
}

// trailing reports whether a step comes after all new containers work. That it fails
// changes nothing about the outcome.
func trailing(s watcher.Step) bool {
	return s.Code == watcher.StepRemove || s.Code == watcher.StepPrune || s.Code == watcher.StepRestart
}

// journalError is a host that stores no steps any more.
type journalError struct{ cause error }

func (e *journalError) Error() string { return "store the step: " + e.cause.Error() }

func (e *journalError) Unwrap() error { return e.cause }

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
