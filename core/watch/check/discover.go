package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/sdk"
)

// labelsOf reads the labels of a container.
func (c *Checker) labelsOf(container sdk.Container, watchByDefault bool) labels.Labels {
	opt := c.labels
	opt.WatchByDefault = watchByDefault
	return labels.Read(label.Of(container), opt)
}

// WriteReleaseLinks writes the release links that the labels of a stored container ask for.
func (c *Checker) WriteReleaseLinks(stored *sdk.Container) error {
	read := c.labelsOf(*stored, true)
	return read.WriteReleaseLinks(stored)
}

// decideBy has the update of a container decided by what is known of it, and by its rules.
func (c *Checker) decideBy(ctx context.Context, s *target) (err error) {
	s.Known, err = c.opt.Decisions.Known(ctx, event.Subject(s.Container))
	s.Rules = c.opt.Decisions.Rules(s.Container)
	s.Search.MinAge = s.Rules.MinAge.Value
	return err
}

// answered is the container with what registries answered.
func (s *target) answered() decision.Answered {
	return decision.Answered{Container: &s.Container, Answer: &s.Answer, Search: s.Search, Labels: &s.labels}
}

// discovery is what listing a watcher's containers led to.
type discovery struct {
	targets []*target
	change  event.Change

	// relabelled is whether a container that was known has other labels now, or its image others.
	relabelled bool

	// shared is how many containers stay those of the watcher sharedWith, which has the same engine.
	shared     int
	sharedWith string

	named  map[string]*sdk.Container // what this watcher had, by name
	listed map[string]bool           // the ids that the engine knows
}

// discover reads the labels of listed containers and compares them with what
// is stored: some are new, some were replaced, some are gone.
func (c *Checker) discover(w Watcher, listed, stored []sdk.Container) discovery {
	known := make(map[string]*sdk.Container, len(stored))
	d := discovery{
		targets: make([]*target, 0, len(listed)),
		named:   make(map[string]*sdk.Container, len(listed)), listed: make(map[string]bool, len(listed)),
	}
	for _, found := range listed {
		d.listed[found.ID] = true
	}
	for i := range stored {
		have := &stored[i]
		known[have.ID] = have
		if have.Watcher == w.Name {
			d.named[have.Name] = have
		}
	}
	kept, names := make(map[string]bool, len(listed)), make(map[string]bool, len(listed))
	for _, found := range listed {
		found.Watcher = w.Name
		before := known[found.ID]
		if problem := c.refuse(&found, before, kept, names); problem != "" {
			c.warnOnce("refused "+found.ID, problem)
			if c.ownedByAnother(&found, before) {
				d.shared, d.sharedWith = d.shared+1, before.Watcher
			}
			continue
		}
		read := c.labelsOf(found, w.WatchByDefault)
		if !read.Watch || w.Exclude != nil && w.Exclude.Match(found.Name) {
			continue
		}
		for _, warning := range read.Warnings {
			c.warnOnce(found.ID+warning, event.Subject(found)+": "+warning)
		}
		s := c.target(found, read)
		kept[found.ID], names[found.Name] = true, true
		d.record(s, before)
		d.targets = append(d.targets, s)
	}
	for _, have := range d.named {
		if kept[have.ID] {
			continue
		}
		d.change.Remove = append(d.change.Remove, have.ID)
		if !names[have.Name] {
			d.emit(event.ContainerRemoved, *have)
		}
	}
	slices.Sort(d.change.Remove)
	return d
}

// refuse says why a listed container cannot be this watcher's; "" when it can.
func (c *Checker) refuse(found, before *sdk.Container, ids, names map[string]bool) string {
	switch {
	case found.ID == "" || found.Name == "":
		return fmt.Sprintf("watcher %s lists a container without id or name (%q, %q), left out", found.Watcher,
			found.ID, found.Name)
	case ids[found.ID] || names[found.Name]:
		return fmt.Sprintf("watcher %s lists two containers with the id %s or the name %s, the second is left out",
			found.Watcher, found.ID, found.Name)
	case c.ownedByAnother(found, before):
		return fmt.Sprintf("container %s has the id of one of %s, with which it stays: two watchers of one engine, of which one can go, or ids of a plugin that are not its own", event.Subject(*found), before.Watcher)
	}
	return ""
}

// ownedByAnother reports whether a listed container is stored as that of a watcher that comes before its own.
func (c *Checker) ownedByAnother(found, before *sdk.Container) bool {
	return before != nil && before.Watcher != found.Watcher && !c.precedes(found.Watcher, before.Watcher)
}

// record emits what became of a container since it was last seen, if it was.
func (d *discovery) record(s *target, before *sdk.Container) {
	c := &s.Container
	t, from := event.ContainerAdded, ""
	old := d.named[c.Name]
	switch {
	case before != nil && before.Watcher == c.Watcher:
		inherit(s, before)
		// What the last check found is inherited, or the image, its rules or labels differ.
		if !update.Changed(before, c, update.ImageDetails) {
			return
		}
		d.relabelled = d.relabelled || update.Relabelled(before, c)
		if t = event.ContainerChanged; c.Name != before.Name {
			t, from = event.ContainerRenamed, before.Name
			if old != nil && !d.listed[old.ID] { // made under another name, in the place of one that is gone
				t = event.ContainerReplaced
			}
		}
	case old != nil && old.ID != c.ID:
		inherit(s, old)
		d.relabelled = d.relabelled || update.Relabelled(old, c)
		t = event.ContainerReplaced
	case before != nil:
		d.emit(event.ContainerRemoved, *before) // from the other watcher
	}
	d.change.Put = append(d.change.Put, decision.Detached(*c))
	d.emit(t, decision.Detached(*c))
	d.change.Events[len(d.change.Events)-1].From = from
}

func (d *discovery) emit(t event.Type, c sdk.Container) {
	d.change.Events = append(d.change.Events, event.Event{
		Type: t, Subject: event.Subject(c), Payload: event.Payload{Container: &c},
	})
}

// inherit keeps what the last check found, as long as the same thing still
// runs and the same rules apply to it. A newer tag stays found when another
// build of the running tag runs: it is the same update, see update.Key.
func inherit(s *target, before *sdk.Container) {
	c := &s.Container
	a, b := c.Watched(), before.Watched()
	if c.Image.Built != before.Image.Built || (c.Base == nil) != (before.Base == nil) {
		return
	}
	rebuilt := c.Image.ID != before.Image.ID
	if rebuilt && (!before.UpdateAvailable || before.UpdateKind.Kind != sdk.KindTag) {
		return
	}
	if a.Name != b.Name || a.Registry.Host != b.Registry.Host || a.Tag.Value != b.Tag.Value ||
		a.Tag.Semver != b.Tag.Semver {
		return
	}
	a.Tag.Floating = b.Tag.Floating // as the registry said
	a.Digest.Watch = s.labels.WatchesDigest(*a)
	if a.Digest.Watch != b.Digest.Watch {
		return
	}
	if !s.labels.SameRules(*before) {
		return
	}
	value := a.Digest.Value
	decision.Carry(c, before)
	if rebuilt {
		a.Digest.Value = value
	}
	c.Check, c.Error = before.Check, before.Error
}

// target completes a listed container: its image's name, its registry and its labels.
func (c *Checker) target(found sdk.Container, read labels.Labels) *target {
	s := &target{labels: read}
	unnamed := normalise(&found.Image)
	switch {
	case found.Error != nil: // from the watcher, which knows best
		s.labels.Fatal = append(s.labels.Fatal, found.Error.Message)
	case unnamed != nil:
		s.labels.Fatal = append(s.labels.Fatal, unnamed.Error())
	}
	found.Error = nil
	if unnamed == nil {
		c.serve(s, &found)
	}
	found.Image.Version = candidate.RunningVersion(&found)
	s.labels.Apply(&found)
	found.Stack = visible.Line(cmp.Or(found.Stack, label.StackOf(found).Name))
	found.Check.State = cmp.Or(found.Check.State, sdk.CheckNever)
	if found.UpdateKind.Kind == "" {
		found.UpdateKind.Kind = sdk.KindUnknown
	}
	s.Container = found
	s.Labels, s.Selector = &s.labels, s.labels.Selector
	s.Search.TagLabels, s.Search.ImageTagLabels = s.labels.TagLabels, s.labels.ImageTagLabels
	if len(s.labels.Fatal) > 0 {
		s.Answer.Err = errors.New(strings.Join(s.labels.Fatal, "; "))
	}
	return s
}

// serve finds the base of a container's image, and the registry of the one that is watched. A
// base that no registry serves fails where the operator names it.
func (c *Checker) serve(s *target, found *sdk.Container) {
	match, served := c.registryOf(&found.Image)
	if s.Match = match; served || found.Image.Built {
		served = true
	}
	img := &found.Image
	if base := s.labels.BaseOf(found); base != nil {
		match, has := c.registryOf(base)
		if has || !s.labels.InfersBase() {
			found.Base, img = base, base
			s.Match, served = match, has
		}
	}
	if !served {
		problem := fmt.Sprintf("no registry serves %s: configure one with that host", img.Registry.Host)
		s.labels.Fatal = append(s.labels.Fatal, problem)
	}
}

// registryOf finds the registry of an image, if there is one, and writes it into the image.
func (c *Checker) registryOf(img *sdk.Image) (registryquery.Match, bool) {
	match, served := c.opt.Queries.For(img.Registry.Host)
	if served {
		img.Registry.Name, img.Registry.URL = match.ID, match.URL
	}
	return match, served
}

// normalise expands the short names of Docker Hub and chooses the digest that
// belongs to the image's own repository. What names neither a tag nor a digest is "latest".
func normalise(img *sdk.Image) error {
	if !candidate.Pin(img) {
		img.Tag.Value = cmp.Or(img.Tag.Value, "latest")
	}
	ref, err := reference.Parse(reference.Join(img.Registry.Host, img.Name))
	if err != nil {
		return err
	}
	img.Registry.Host, img.Name = ref.Domain, ref.Path
	own := candidate.Digests(*img)
	if len(own) > 0 && !slices.Contains(own, img.Digest.Repo) && !candidate.IsDigestOnly(*img) {
		img.Digest.Repo = own[0]
	}
	return nil
}

// precedes reports whether watcher a comes before b in the configuration. A
// watcher that is not configured any more comes last.
func (c *Checker) precedes(a, b string) bool {
	order := c.opt.Order()
	i, j := slices.Index(order, a), slices.Index(order, b)
	return j < 0 || i >= 0 && i < j
}

// warnOnce logs a warning once in the life of the process.
func (c *Checker) warnOnce(key, message string) {
	c.mu.Lock()
	known := c.warned[key]
	// Containers come and go; the memory of warnings must not grow with them.
	if len(c.warned) > 10_000 {
		clear(c.warned)
	}
	c.warned[key] = true
	c.mu.Unlock()
	if !known {
		c.log.Warn(message)
	}
}
