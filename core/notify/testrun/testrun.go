// Package testrun runs configured components as a test, for real: a trigger sends a
// sample, a registry resolves an image, a watcher lists its containers. Nothing of
// it is stored. A preview renders what a trigger would send, and sends nothing.
package testrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/sample"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/internal/detach"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Components finds the typed components, and knows which registry serves a host.
type Components interface {
	Watcher(id string) (*component.Watcher, bool)
	Registry(id string) (*component.Registry, bool)
	Trigger(id string) (*component.Trigger, bool)
	RegistryFor(host string) (*component.Registry, string, bool)
}

// Options configure a Runner.
type Options struct {
	Components Components
	// Trigger is a trigger as the dispatcher runs it.
	Trigger func(*component.Trigger) dispatch.Trigger
	// Updaters returns the watchers whose type can replace containers.
	Updaters func() []Updater
	// Used reports whether a container that is known has its image from a host.
	Used func(host string) bool
	// Links are those of sample messages.
	Links dispatch.SignedLinks
	Log   hclog.Logger
}

// Runner runs tests of components. Its methods may be called concurrently.
type Runner struct{ opt Options }

// New returns a Runner.
func New(opt Options) *Runner { return &Runner{opt} }

// Result is what a test run showed, a failed one too.
type Result struct {
	// Title and Body are what was rendered for a trigger.
	Title string `json:"title,omitempty"`
	Body  string `json:"body,omitempty"`
	// Warnings are what the templates of a trigger misspell.
	Warnings []string `json:"warnings,omitempty"`
	// Response says in words what a registry or a watcher returned, and for a trigger that
	// has containers updated whether that is possible.
	Response string `json:"answer,omitempty"`
	// Containers are what a watcher listed, in its order.
	Containers []sdk.Container `json:"-"`
}

// Request is what a component is tested with.
type Request struct {
	// Image is what a registry resolves; "" lets the runner choose one.
	Image string
	// AnyHost allows an image of any host. Without it the host must be one that a
	// container uses or that the configuration names: else the result of a test
	// shows which ports of the network are open.
	AnyHost bool
}

// ErrHost is wrapped by the error for an image of a host that is not allowed.
var ErrHost = errors.New("no container uses this host")

// Run tests a component. For an image the error is an *sdk.InvalidError that names
// image, unless the component is a registry. A component that is not ready is not
// called, and the error says why it is not.
func (t *Runner) Run(ctx context.Context, c *component.Component, req Request) (Result, error) {
	if req.Image != "" && c.Kind != kind.Registry {
		return Result{}, sdk.Invalid("image", "%s is no registry: no image can be asked of it", c.FullID())
	}
	if state, err := c.Configured(); state != component.Ready {
		if err == nil {
			err = sdk.WithKind(sdk.ErrUnavailable, errors.New("its plugin is still starting"))
		}
		return Result{}, fmt.Errorf("%s: %w", c.FullID(), err)
	}
	var response string
	err := fmt.Errorf("%s: %w", c.FullID(), sdk.ErrNotFound)
	switch c.Kind {
	case kind.Trigger:
		if found, known := t.opt.Components.Trigger(c.ID()); known {
			return t.trigger(ctx, found)
		}
	case kind.Registry:
		if found, known := t.opt.Components.Registry(c.ID()); known {
			response, err = t.registry(ctx, found, req)
		}
	case kind.Watcher:
		if found, known := t.opt.Components.Watcher(c.ID()); known {
			return watch(ctx, found)
		}
	}
	return Result{Response: response}, err
}

// ErrorText returns the text of an error of Run and what its plugin says to do about it.
func ErrorText(err error) string {
	text, remedy := err.Error(), sdk.Remedy(err)
	if remedy == "" || strings.Contains(text, remedy) {
		return text
	}
	return text + "; " + remedy
}

// watch lists the containers of a watcher, and probes it where its plugin can.
func watch(ctx context.Context, w *component.Watcher) (Result, error) {
	listed, err := w.List(ctx)
	if err != nil {
		return Result{}, err
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
	result := Result{Response: fmt.Sprintf("%d %s, %d of them running", len(listed), noun, running), Containers: listed}
	if w.Can(kind.CapProbe) {
		found, err := w.Probe(ctx)
		if err != nil {
			return Result{Containers: listed}, err
		}
		result.Response += ", of " + found.Summary
	}
	return result, nil
}

// trigger runs a trigger with the containers of Sample, marked as a test. One that has
// containers updated requests nothing then, so what it depends on is tested.
func (t *Runner) trigger(ctx context.Context, c *component.Trigger) (Result, error) {
	tested := t.opt.Trigger(c)
	result, err := t.send(ctx, tested, &recorder{next: tested.Runner})
	if err == nil && slices.Contains(c.Capabilities, kind.CapOperate) {
		result.Response, err = t.updates(ctx)
	}
	return result, err
}

// Preview returns the message that Run would send with a trigger, and sends nothing.
func (t *Runner) Preview(ctx context.Context, c *component.Trigger) (Result, error) {
	return t.send(ctx, t.opt.Trigger(c), &recorder{})
}

// send sends the sample to r, in the place of a trigger. A call goes on when ctx ends.
func (t *Runner) send(ctx context.Context, tested dispatch.Trigger, r *recorder) (Result, error) {
	containers := sample.Containers()
	if !tested.Batch {
		containers = containers[:1]
	}
	tested.Runner = r
	err := detach.Run(ctx, func() error {
		return dispatch.Send(context.WithoutCancel(ctx), tested, containers, t.opt.Links, t.opt.Log)
	})
	result := r.result()
	for _, odd := range tested.Messages.Lint() {
		result.Warnings = append(result.Warnings, odd.Field+": "+odd.Detail)
	}
	return result, err
}

// recorder keeps the message of a request, and passes the request on if there is a
// next. The run may go on while the result is read.
type recorder struct {
	next trigger.Trigger

	mu  sync.Mutex
	got Result
}

func (r *recorder) Run(ctx context.Context, req trigger.Request) error {
	r.mu.Lock()
	r.got = Result{Title: req.Title, Body: req.Body}
	r.mu.Unlock()
	if r.next == nil {
		return nil
	}
	return r.next.Run(ctx, req)
}

// result returns the message; the zero Result when there was no request yet.
func (r *recorder) result() Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got
}

// registry probes a registry with an image, or with one of its own choice. The
// response says in words what was learnt.
func (t *Runner) registry(ctx context.Context, r *component.Registry, req Request) (response string, err error) {
	var ref reference.Reference
	image := ""
	if req.Image != "" {
		if ref, err = t.permitted(r, req); err != nil {
			return "", err
		}
		image = ref.String()
	}
	if r.Can(kind.CapProbe) {
		found, err := r.Probe(ctx, ref.Domain, image)
		return found.Summary, err
	}
	return resolve(ctx, r, ref, image)
}

// permitted returns the image of a request, if the registry serves its host and the client may name it.
func (t *Runner) permitted(r *component.Registry, req Request) (reference.Reference, error) {
	ref, err := reference.Parse(req.Image)
	if err != nil {
		return ref, err
	}
	if owner, _, served := t.opt.Components.RegistryFor(ref.Domain); served && owner != r {
		return ref, fmt.Errorf("images of %s are asked of %s, not of %s", ref.Domain, owner.FullID(), r.FullID())
	}
	if !req.AnyHost && !names(r, ref.Domain) && !t.opt.Used(ref.Domain) {
		return ref, fmt.Errorf("%w: only people who are logged in may have %s asked", ErrHost, ref.Domain)
	}
	if ref.Tag == "" && ref.Digest == "" {
		ref.Tag = "latest"
	}
	return ref, nil
}

// resolve stands in for the probe of a plugin that has none: it resolves an image to
// its digest. Without one it takes an image that the registry does not have: to say
// so, it must respond.
func resolve(ctx context.Context, r *component.Registry, ref reference.Reference, image string) (string, error) {
	chosen := image == ""
	if chosen {
		hosts := r.Hosts()
		i := slices.IndexFunc(hosts, func(h registry.Host) bool { return !strings.Contains(h.Pattern, "*") })
		if i < 0 {
			return "", fmt.Errorf("%s serves many hosts: name an image to ask it for", r.FullID())
		}
		ref = reference.Reference{Domain: hosts[i].Pattern, Path: "dogwatch/test", Tag: "latest"}
	}
	digest, err := r.Resolve(ctx, registry.Repository{Host: ref.Domain, Name: ref.Path, ScopeHints: []string{ref.Path}},
		ref.Tag)
	switch {
	case err == nil:
		return fmt.Sprintf("%s is %s", image, digest), nil
	case errors.Is(err, sdk.ErrNotFound) && chosen:
		return "it answers; name an image of it to see one", nil
	}
	return "", err
}

// names reports whether a registry names a host as one that it serves.
func names(r *component.Registry, host string) bool {
	return slices.ContainsFunc(r.Hosts(), func(h registry.Host) bool { return strings.EqualFold(h.Pattern, host) })
}
