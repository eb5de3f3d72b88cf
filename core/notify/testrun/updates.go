package testrun

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Updater is a watcher whose type can replace containers; see component.Watcher.
type Updater interface {
	FullID() string
	// Updates reports whether it may, and why; UpdateRemedy says what lets it.
	Updates() (may bool, why string)
	UpdateRemedy() string
	List(ctx context.Context) ([]sdk.Container, error)
	Plan(ctx context.Context, req watcher.UpdateRequest) (watcher.Plan, error)
}

// engineBlock begins the codes of blocks that concern all containers of an engine.
const engineBlock = "engine."

// updates tests what a trigger that has containers updated depends on, and updates
// nothing: that watchers may, that their engines respond, and that they can plan.
func (t *Runner) updates(ctx context.Context) (string, error) {
	var reports, remedies []string
	for _, w := range t.opt.Updaters() {
		if may, why := w.Updates(); !may {
			if why != "" {
				remedies = append(remedies, w.UpdateRemedy())
			}
			continue
		}
		text, err := planOne(ctx, w)
		if err != nil {
			if !strings.Contains(err.Error(), w.FullID()) {
				err = fmt.Errorf("%s: %w", w.FullID(), err)
			}
			return strings.Join(reports, "; "), err
		}
		reports = append(reports, w.FullID()+" "+text)
	}
	switch {
	case len(reports) > 0:
		return strings.Join(reports, "; "), nil
	case len(remedies) > 0:
		return "", errors.New("no watcher may update containers: " + strings.Join(remedies, ", or "))
	}
	return "", errors.New("no watcher can update containers: configure one of a type that can, such as docker")
}

// planOne has a watcher plan an update of one container to the image that it runs, and
// says how that went.
func planOne(ctx context.Context, w Updater) (string, error) {
	_, why := w.Updates()
	listed, err := w.List(ctx)
	if err != nil {
		return "", err
	}
	may := "may update, since " + why
	if len(listed) == 0 {
		return may + "; it has no container to plan an update for", nil
	}
	c := listed[0]
	for _, other := range listed {
		if other.Status == "running" {
			c = other
			break
		}
	}
	image := watcher.TargetImage{
		Reference: c.Image.Registry.Host + "/" + c.Image.Name + ":" + c.Image.Tag.Value, ID: c.Image.ID,
	}
	plan, err := w.Plan(ctx, watcher.UpdateRequest{ContainerID: c.ID, Image: image})
	if err != nil {
		return "", err
	}
	for _, b := range plan.Blocks {
		if strings.HasPrefix(b.Code, engineBlock) {
			return "", fmt.Errorf("%s (%s)", b.Text, b.Code)
		}
	}
	if len(plan.Blocks) > 0 { // which another container need not have
		return fmt.Sprintf("%s; its engine takes changes, but %s is not updated by itself: %s", may, c.Name,
			plan.Blocks[0].Text), nil
	}
	return fmt.Sprintf("%s; its engine takes changes, and an update of %s would take %d steps", may, c.Name,
		len(plan.Steps)), nil
}
