// Package trial tries configured components for real: a trigger sends a sample, a
// registry is asked for a digest, a watcher for its containers. Nothing of it is stored.
package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/dispatch"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/image"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Components knows which registry serves a host.
type Components interface {
	RegistryFor(host string) (*component.Component, string, bool)
}

// Options configure Trials.
type Options struct {
	Components Components
	// Trigger is a trigger as the dispatcher runs it.
	Trigger func(*component.Component) dispatch.Trigger
	// Used reports whether a container that is known has its image from a host.
	Used func(host string) bool
	Log  hclog.Logger
	Now  func() time.Time
}

// Trials tries components, several at a time if need be.
type Trials struct{ opt Options }

// New returns Trials.
func New(opt Options) *Trials { return &Trials{opt} }

// Result is what there is to see of a trial, of a failed one too.
type Result struct {
	// Title and Body are what was rendered for a trigger.
	Title string `json:"title,omitempty"`
	Body  string `json:"body,omitempty"`
	// Warnings are what the templates of a trigger misspell.
	Warnings []string `json:"warnings,omitempty"`
	// Answer says in words what a registry or a watcher answered.
	Answer string `json:"answer,omitempty"`
}

// Question is what a component is tried with.
type Question struct {
	// Image is the one to ask a registry about, or "" for one of its own choice.
	Image string
	// AnyHost lets a registry be asked about an image of any host. Without it the
	// host must be one that a container uses or that the configuration names: else
	// what a registry answers tells which ports of the network are open.
	AnyHost bool
}

// ErrHost is wrapped by the error for an image of a host that may not be asked.
var ErrHost = errors.New("no container uses this host")

// Try tries a component. An image is an error that names image for other kinds
// than registries. A component that is not ready is not asked, and its error says why.
func (t *Trials) Try(ctx context.Context, c *component.Component, q Question) (Result, error) {
	if q.Image != "" && c.Kind != kind.Registry {
		return Result{}, sdk.Invalid("image", "%s is no registry: no image can be asked of it", c.FullID())
	}
	if state, err := c.Configured(); state != component.Ready {
		if err == nil {
			err = sdk.WithKind(sdk.ErrUnavailable, errors.New("its plugin is still starting"))
		}
		return Result{}, fmt.Errorf("%s: %w", c.FullID(), err)
	}
	switch c.Kind {
	case kind.Trigger:
		return t.trigger(ctx, c)
	case kind.Registry:
		answer, err := t.registry(ctx, c, q)
		return Result{Answer: answer}, err
	}
	answer, err := watch(ctx, c)
	return Result{Answer: answer}, err
}

// watch lists the containers of a watcher.
func watch(ctx context.Context, w *component.Component) (string, error) {
	listed, err := w.List(ctx)
	if err != nil {
		return "", err
	}
	running := 0
	for _, found := range listed {
		if found.Status == "running" {
			running++
		}
	}
	noun := "containers"
	if len(listed) == 1 {
		noun = "container"
	}
	return fmt.Sprintf("%d %s, %d of them running", len(listed), noun, running), nil
}

// trigger runs a trigger with the containers of Sample, marked as a test.
func (t *Trials) trigger(ctx context.Context, c *component.Component) (Result, error) {
	tried := t.opt.Trigger(c)
	return t.tell(ctx, tried, &listener{next: tried.Runner})
}

// Preview returns what a trigger would be told by Try, and tells it nothing.
func (t *Trials) Preview(ctx context.Context, c *component.Component) (Result, error) {
	return t.tell(ctx, t.opt.Trigger(c), &listener{})
}

// tell has a dispatcher of its own tell l what it would tell a trigger of the sample.
func (t *Trials) tell(ctx context.Context, tried dispatch.Trigger, l *listener) (Result, error) {
	containers := Sample()
	if !tried.Batch {
		containers = containers[:1]
	}
	tried.Runner = l
	d := dispatch.New(dispatch.Options{Triggers: only(tried), Store: forgetful{}, Bus: &event.Bus{}, Log: t.opt.Log, Now: t.opt.Now})
	err := d.RunNow(ctx, tried.ID, containers, true)
	for _, odd := range tried.Messages.Lint() {
		l.heard.Warnings = append(l.heard.Warnings, odd.Field+": "+odd.Detail)
	}
	return l.heard, err
}

// forgetful is a dispatch.Store that keeps nothing. Of the others methods none
// is used when a person runs a trigger.
type forgetful struct{ dispatch.Store }

func (forgetful) Commit(context.Context, event.Change) error { return nil }

// listener notes what a trigger is told, and passes it on if there is a next.
type listener struct {
	next  trigger.Trigger
	heard Result
}

func (l *listener) Run(ctx context.Context, req trigger.Request) error {
	l.heard = Result{Title: req.Title, Body: req.Body}
	if l.next == nil {
		return nil
	}
	return l.next.Run(ctx, req)
}

// only is a dispatch.Triggers of one.
type only dispatch.Trigger

func (t only) All() []dispatch.Trigger { return []dispatch.Trigger{dispatch.Trigger(t)} }

func (t only) Get(string) (dispatch.Trigger, bool) { return dispatch.Trigger(t), true }

// wellKnown are images that the public registries surely have, by host.
var wellKnown = map[string]string{
	"docker.io":      "docker.io/library/hello-world:latest",
	"ghcr.io":        "ghcr.io/home-assistant/home-assistant:stable",
	"quay.io":        "quay.io/prometheus/prometheus:latest",
	"public.ecr.aws": "public.ecr.aws/docker/library/hello-world:latest",
}

// registry asks a registry for the digest behind an image, by a request that
// counts as no pull. Without an image it asks for one that the registry has if
// it is a public one, and else for one that it can only say it does not have.
// The answer says in words what was learnt.
func (t *Trials) registry(ctx context.Context, r *component.Component, q Question) (answer string, err error) {
	reference, named := q.Image, q.Image != ""
	if !named {
		if reference, err = questionFor(r); err != nil {
			return "", err
		}
	}
	ref, err := image.Parse(reference)
	if err != nil {
		return "", err
	}
	if owner, _, served := t.opt.Components.RegistryFor(ref.Domain); named && served && owner != r {
		return "", fmt.Errorf("images of %s are asked of %s, not of %s", ref.Domain, owner.FullID(), r.FullID())
	}
	if named && !q.AnyHost && !names(r, ref.Domain) && !t.opt.Used(ref.Domain) {
		return "", fmt.Errorf("%w: only people who are logged in may have %s asked", ErrHost, ref.Domain)
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

// names reports whether a registry names a host as one that it serves.
func names(r *component.Component, host string) bool {
	return slices.ContainsFunc(r.Hosts(), func(h registry.Host) bool { return strings.EqualFold(h.Pattern, host) })
}

// questionFor returns an image to ask a registry about.
func questionFor(r *component.Component) (string, error) {
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
