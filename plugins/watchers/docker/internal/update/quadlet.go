package update

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/quadlet"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// busLimit bounds what systemd is asked for a plan.
	busLimit = 10 * time.Second
	// unitLimit bounds the restart of a unit, apart from the container's own timeout to stop. systemd has limits of
	// its own, TimeoutStartSec and TimeoutStopSec.
	unitLimit = 10 * time.Minute
)

// withQuadlet finds out which file gives the target its image, if a systemd unit creates it. What keeps the file from
// being changed is part of the facts.
func (u *Updater) withQuadlet(ctx context.Context, f *replace.Facts, req watcher.UpdateRequest) error {
	unit := f.Target.Labels[replace.LabelUnit]
	if f.Target.Podman == nil || unit == "" || f.Target.Podman.IsInfra {
		return nil
	}
	if rules := f.Compose.Rules; rules != nil && rules.Required {
		return nil // of a trigger that leaves alone what is not of compose
	}
	f.Compose = replace.Compose{Rules: &watcher.ComposeRules{}, Guard: f.Compose.Guard, Unit: unit}
	change, err := u.editQuadlet(ctx, f, unit, req)
	var refused *compose.Error
	switch {
	case errors.As(err, &refused):
		problem := refused.Reason()
		f.Compose.Problem = &problem
	case err != nil:
		return err
	}
	f.Compose.Edit = change
	return nil
}

// editQuadlet makes the change of the quadlet of a unit. It refuses files outside of the folders of the option: a label
// says what the unit is, and anybody who creates a container can write one.
func (u *Updater) editQuadlet(
	ctx context.Context, f *replace.Facts, unit string, req watcher.UpdateRequest,
) (none compose.Change, err error) {
	name := f.Target.Name()
	refuse := func(code, format string, args ...any) error {
		return &compose.Error{Code: code, Text: fmt.Sprintf(format, args...)}
	}
	if len(u.Quadlets) == 0 {
		return none, refuse(replace.BlockQuadletOff, "%s comes from the systemd unit %s: name the folder of its quadlet in the "+
			"watcher's option quadlets, and mount that folder and the bus of systemd into Dogwatch's container, each at the "+
			"same path; or use podman auto-update", name, unit)
	}
	if status := f.Target.Status(); status != replace.Running {
		return none, refuse(replace.BlockPodmanUnit, "%s is %s, and its unit %s would start it: start it first", name, status, unit)
	}
	limited, cancel := context.WithTimeout(ctx, busLimit)
	defer cancel()
	source, err := u.source(limited, unit)
	switch {
	case err != nil:
		return none, refuse(replace.BlockQuadletBus, "systemd cannot be asked for the quadlet of %s: %v: mount its bus into "+
			"Dogwatch's container, and name it in the watcher's option bus", name, err)
	case source == "":
		return none, refuse(replace.BlockPodmanUnit, "the systemd unit %s of %s was not made from a quadlet, as those of "+
			"podman generate systemd: turn it into a quadlet, or change the image in the unit", unit, name)
	case !quadlet.Within(source, u.Quadlets):
		return none, refuse(replace.BlockQuadletOff, "the quadlet %s of %s is in none of the folders of the watcher's option "+
			"quadlets: add its folder, or move it", source, name)
	}
	wanted, err := u.exact(ctx, req.Image)
	if err != nil {
		return none, err
	}
	change, err := quadlet.Edit(source, name, f.Target.Config.Image, wanted, compose.Guarded(f.Compose.Guard))
	if err != nil || change.Empty() {
		return change, err
	}
	return change.Prepared(f.Compose.Guard)
}

func (u *Updater) source(ctx context.Context, unit string) (string, error) {
	systemd, err := quadlet.Dial(ctx, u.Bus)
	if err != nil {
		return "", err
	}
	defer systemd.Close()
	return systemd.Source(ctx, unit)
}

// restartUnit has systemd create the container from the quadlet as it is now.
func (r *replacement) restartUnit(ctx context.Context, extra time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, unitLimit+extra)
	defer cancel()
	systemd, err := quadlet.Dial(ctx, r.Bus)
	if err != nil {
		return err
	}
	defer systemd.Close()
	if err := systemd.Reload(ctx); err != nil {
		return err
	}
	return systemd.Restart(ctx, r.files.Unit)
}

// upUnit has systemd create the container from the new image.
func (r *replacement) upUnit(ctx context.Context, name string) (map[string]string, error) {
	old := r.old[name]
	r.restarting = true
	was, err := r.imageOf(ctx, r.target)
	if err != nil {
		return nil, err
	}
	if was != nil {
		r.previous = was.ID
	}
	if err := r.tag(ctx, r.target, r.imageID); err != nil {
		return nil, err
	}
	facts := map[string]string{factPrevious: r.previous}
	if err := r.restartUnit(ctx, stopTimeout(old)); err != nil {
		return facts, err
	}
	c, err := r.ofUnit(ctx, name)
	switch {
	case err != nil:
		return facts, err
	case c == nil || c.ID == old.ID:
		return facts, &coded{exited, "its unit " + r.files.Unit + " has started no new container: see journalctl -u " + r.files.Unit}
	}
	r.created[old.ID] = c.ID
	facts[factNew] = c.ID
	r.downtimeOf(ctx, old, c.ID)
	if c.ImageID != r.imageID {
		return facts, fmt.Errorf("%s started another image than %s: is its pull policy always?", r.files.Unit,
			engine.Short(r.imageID))
	}
	return facts, nil
}

// ofUnit returns the container of the name, if the unit has created it; nil for none.
func (r *replacement) ofUnit(ctx context.Context, name string) (*container.Summary, error) {
	all, err := r.engine.Containers(ctx, true)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(c container.Summary) bool {
		return engine.Name(c) == name && c.Labels[replace.LabelUnit] == r.files.Unit
	})
	if i < 0 {
		return nil, nil
	}
	return &all[i], nil
}

// restoreByUnit makes a container of the old image run, and returns its id. Every step of it may have been taken
// already; systemd may still be restarting the unit.
func (r *replacement) restoreByUnit(ctx context.Context) (string, error) {
	plan := r.op.Plan
	if !r.restarting {
		return plan.ContainerID, nil
	}
	if err := r.tag(ctx, plan.From.Reference, plan.From.ID); err != nil {
		return "", err
	}
	if err := r.restartUnit(ctx, 0); err != nil {
		return "", err
	}
	c, err := r.ofUnit(ctx, plan.Name)
	if err != nil {
		return "", err
	}
	if c == nil || c.ImageID != plan.From.ID {
		return "", fmt.Errorf("%s did not start the image %s", r.files.Unit, engine.Short(plan.From.ID))
	}
	return c.ID, nil
}
