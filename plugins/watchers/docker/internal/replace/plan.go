package replace

import (
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Plan makes the plan of an update. It is the same for the same facts and request.
func Plan(f Facts, req watcher.UpdateRequest) watcher.Plan {
	deps := dependents(f)
	c := f.Target
	spec := Make(c, f.Engine, req.Image.Reference, "")
	p := watcher.Plan{
		ContainerID: c.ID,
		Name:        c.Name(),
		State:       state(f, deps, req.Image),
		From:        watcher.PlannedImage{Reference: c.Config.Image, ID: c.InspectResponse.Image},
		To:          watcher.PlannedImage{Reference: req.Image.Reference, Digest: req.Image.Digest, ID: req.Image.ID},
		Steps:       steps(f, deps, req),
		Carried:     carried(c, spec),
		Changes:     changes(c.Image, req.Image.Config),
		Warnings:    slices.Concat(warnings(f, deps, req), imageWarnings(c, spec, req.Image.Config)),
		Blocks:      blocks(f, deps, req),
		Backups:     f.Backups,
		Space:       watcher.Space{Download: -1, Writable: -1},
	}
	if image := req.Image.Config; image != nil && image.Size > 0 {
		p.Space.Download = image.Size
	}
	if c.Image != nil {
		p.From.Digest = digestOf(c.Image.Digests, c.Config.Image)
	}
	if c.SizeRw != nil {
		p.Space.Writable = *c.SizeRw
	}
	for _, d := range deps {
		p.Dependents = append(p.Dependents, watcher.Dependent{
			ContainerID: d.ID, Name: d.Name(), Relation: d.relation, Action: d.action,
		})
	}
	withCompose(&p, f, req)
	return p
}

// list collects steps.
type list []watcher.Step

func (l *list) add(code, name, text string) {
	id := code
	if name != "" {
		id += ":" + name
	}
	*l = append(*l, watcher.Step{ID: id, Code: code, Container: name, Text: text})
}

// steps are in the order in which they are taken. Nothing of the old container is
// lost before the first step that removes something.
func steps(f Facts, deps []dependent, req watcher.UpdateRequest) []watcher.Step {
	var l list
	name := f.Target.Name()
	if req.Image.ID == "" {
		l.add(watcher.StepPull, "", "pull "+req.Image.Reference)
	}
	if req.Rules.DryRun {
		return l
	}
	if NeedsHelper(f) {
		return handover(l, f)
	}
	var recreated []Container
	for _, d := range deps {
		if d.action == watcher.StepCreate {
			recreated = append(recreated, d.Container)
		}
	}
	hooks := req.Rules.Hooks
	if len(hooks.Pre) > 0 && f.Target.Status() == Running {
		l = append(l, watcher.Step{
			ID: PreHookID(name), Code: watcher.StepHook, Container: name, Text: "run the hook in the old " + name,
		})
	}
	first := stopsFirst(f.Target)
	if !first {
		create(&l, f.Target, f.Engine)
	}
	for i := len(recreated) - 1; i >= 0; i-- {
		if d := recreated[i]; d.Status() != Stopped {
			l.add(watcher.StepStop, d.Name(), "stop "+d.Name()+", which depends on "+name)
		}
	}
	if f.Target.Status() != Stopped {
		l.add(watcher.StepStop, name, "stop the old "+name)
	}
	if first {
		create(&l, f.Target, f.Engine)
	}
	if f.Target.Status() != Stopped {
		l.add(watcher.StepStart, name, "start the new "+name)
		l.add(watcher.StepHealth, name, healthText(name, req.Rules.Health))
		if len(hooks.Post) > 0 {
			l = append(l, watcher.Step{
				ID: watcher.StepHook + ":post:" + name, Code: watcher.StepHook, Container: name,
				Text: "run the hook in the new " + name,
			})
		}
	}
	for _, d := range recreated {
		create(&l, d, f.Engine)
		if d.Status() != Stopped {
			l.add(watcher.StepStart, d.Name(), "start the new "+d.Name())
			l.add(watcher.StepHealth, d.Name(), healthText(d.Name(), watcher.HealthGate{}))
		}
	}
	for _, c := range append([]Container{f.Target}, recreated...) {
		if c.Status() == Paused {
			l.add(watcher.StepPause, c.Name(), "pause the new "+c.Name()+", as the old one was")
		}
	}
	for _, d := range deps {
		if d.action == watcher.StepRestart {
			l.add(watcher.StepRestart, d.Name(), "restart "+d.Name()+", which depends on "+name)
		}
	}
	remove(&l, name, recreated, req.Rules)
	return l
}

// remove adds the steps that remove what was replaced.
func remove(l *list, name string, recreated []Container, rules watcher.UpdateRules) {
	for i := len(recreated) - 1; i >= 0; i-- {
		l.add(watcher.StepRemove, recreated[i].Name(), "remove the old container "+recreated[i].Name()+", not its volumes")
	}
	if rules.Keep > 0 {
		l.add(watcher.StepRemove, name,
			fmt.Sprintf("keep the old %s stopped, and remove all but %d of them", name, rules.Keep))
	} else {
		l.add(watcher.StepRemove, name, "remove the old container "+name+", not its volumes")
	}
	if rules.Prune {
		l.add(watcher.StepPrune, "", "remove the old image if no container uses it")
	}
}

func create(l *list, c Container, engine Engine) {
	name := c.Name()
	l.add(watcher.StepRename, name, "rename the old container "+name)
	l.add(watcher.StepCreate, name, "create the new "+name)
	for _, e := range Make(c, engine, c.Config.Image, "").Connect {
		*l = append(*l, watcher.Step{
			ID: ConnectID(name, e.Name), Code: watcher.StepConnect, Container: name,
			Text: "connect the new " + name + " to the network " + e.Name,
		})
	}
}

// ConnectID is the id of the step that connects a container to a network.
func ConnectID(name, network string) string { return watcher.StepConnect + ":" + name + ":" + network }

// PreHookID is the id of the step that runs a hook before anything is changed.
func PreHookID(name string) string { return watcher.StepHook + ":pre:" + name }

func healthText(name string, h watcher.HealthGate) string {
	switch {
	case h.HTTP != "":
		return "wait until " + name + " responds at " + h.HTTP
	case h.TCP != "":
		return "wait until " + name + " accepts connections at " + h.TCP
	case len(h.Command) > 0:
		return "wait until the probe in " + name + " succeeds"
	}
	return "wait until " + name + " is healthy, or stays up if it has no health check"
}
