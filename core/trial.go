package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/dispatch"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/image"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// TryTrigger runs a trigger with the containers of Sample, marked as a test, and
// returns the title and body that were rendered for it.
func (o *Once) TryTrigger(ctx context.Context, t *component.Component) (title, body string, err error) {
	containers := Sample()
	if t.Trigger.Mode != component.ModeBatch {
		containers = containers[:1]
	}
	tried := triggerOf(t)
	heard := &listener{next: t}
	tried.Runner = heard
	d := dispatch.New(dispatch.Options{Triggers: oneTrigger(tried), Store: o.memory, Bus: &event.Bus{}, Log: o.opt.Log, Now: o.opt.Now})
	err = d.RunNow(ctx, t.ID(), containers, true)
	return heard.title, heard.body, err
}

// listener notes what a trigger is told.
type listener struct {
	next        trigger.Trigger
	title, body string
}

func (l *listener) Run(ctx context.Context, req trigger.Request) error {
	l.title, l.body = req.Title, req.Body
	return l.next.Run(ctx, req)
}

// oneTrigger is a dispatch.Triggers of one.
type oneTrigger dispatch.Trigger

func (t oneTrigger) All() []dispatch.Trigger { return []dispatch.Trigger{dispatch.Trigger(t)} }

func (t oneTrigger) Get(string) (dispatch.Trigger, bool) { return dispatch.Trigger(t), true }

// wellKnown are images that the public registries surely have, by host.
var wellKnown = map[string]string{
	"docker.io":      "docker.io/library/hello-world:latest",
	"ghcr.io":        "ghcr.io/home-assistant/home-assistant:stable",
	"quay.io":        "quay.io/prometheus/prometheus:latest",
	"public.ecr.aws": "public.ecr.aws/docker/library/hello-world:latest",
}

// TryRegistry asks a registry for the digest behind an image, by a request that
// counts as no pull. Without an image it asks for one that the registry has if
// it is a public one, and else for one that it can only say it does not have.
// The answer says in words what was learnt.
func (o *Once) TryRegistry(ctx context.Context, r *component.Component, reference string) (answer string, err error) {
	named := reference != ""
	if !named {
		if reference, err = o.questionFor(r); err != nil {
			return "", err
		}
	}
	ref, err := image.Parse(reference)
	if err != nil {
		return "", err
	}
	if owner, _, served := o.components.RegistryFor(ref.Domain); named && served && owner != r {
		return "", fmt.Errorf("images of %s are asked of %s, not of %s", ref.Domain, owner.FullID(), r.FullID())
	}
	digest, err := r.Resolve(ctx, registry.Repository{Host: ref.Domain, Name: ref.Path, Together: []string{ref.Path}}, ref.Tag)
	switch {
	case err == nil:
		return fmt.Sprintf("%s is %s", reference, digest), nil
	case errors.Is(err, sdk.ErrNotFound) && !named:
		return "it answers; name an image of it to see one", nil
	case errors.Is(err, sdk.ErrUnauthorized) && !named:
		return "", fmt.Errorf("%w (many registries answer so for images they do not have: name an image of yours to be sure)", err)
	}
	return "", err
}

// questionFor returns an image to ask a registry about.
func (o *Once) questionFor(r *component.Component) (string, error) {
	hosts := r.Hosts()
	for _, h := range hosts {
		if known := wellKnown[h.Pattern]; known != "" {
			return known, nil
		}
	}
	i := slices.IndexFunc(hosts, func(h registry.Host) bool { return !strings.Contains(h.Pattern, "*") })
	if i < 0 {
		return "", fmt.Errorf("%s serves many hosts: name an image to ask it for", r.FullID())
	}
	return hosts[i].Pattern + "/dogwatch/test:latest", nil
}

// Sample returns two containers with updates, as templates and tests of triggers see them.
func Sample() []sdk.Container {
	at := sdk.TimeOf(time.Date(2024, 5, 14, 9, 30, 0, 0, time.UTC))
	sample := func(id, name, repository, from, to, diff, link string) sdk.Container {
		return sdk.Container{
			ID: strings.Repeat(id, 64), Name: name, DisplayName: name, DisplayIcon: "mdi:docker", Status: "running", Watcher: "local",
			Image: sdk.Image{
				ID:       "sha256:" + strings.Repeat(id, 64),
				Registry: sdk.Registry{Name: "hub.public", URL: "https://registry-1.docker.io/v2", Host: "docker.io"},
				Name:     repository, Tag: sdk.Tag{Value: from, Semver: true}, Architecture: "amd64", OS: "linux", Created: at,
			},
			Labels: map[string]string{}, Result: &sdk.Result{Tag: to, Link: link},
			Check: sdk.CheckState{State: sdk.CheckOK, At: at}, UpdateAvailable: true,
			UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: from, RemoteValue: to, SemverDiff: diff},
		}
	}
	return []sdk.Container{
		sample("a", "test-web", "library/nginx", "1.25.5", "1.27.0", sdk.DiffMinor, "https://nginx.org/en/CHANGES"),
		sample("b", "test-db", "library/postgres", "15.6", "16.3", sdk.DiffMajor, "https://www.postgresql.org/docs/release/16.3/"),
	}
}
