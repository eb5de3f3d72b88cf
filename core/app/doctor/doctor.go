// Package doctor examines an installation: it asks everything that Dogwatch
// needs whether it is there, and says what to do about what is not.
//
// It changes nothing, sends nothing and takes no lock, so it works beside a
// Dogwatch that serves and without one. Every question has a time limit, and
// those that do not need each other's results are asked concurrently.
package doctor

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/internal/sandbox"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Level is how good or bad a finding is.
type Level string

// The levels.
const (
	OK   Level = "ok"
	Warn Level = "warn" // works, though perhaps not as meant
	Fail Level = "fail" // does not work
)

// Finding is what one question led to.
type Finding struct {
	// Subject is what was looked at: "store", "watcher.docker.local", "host ghcr.io".
	Subject string `json:"subject"`
	Level   Level  `json:"level"`
	Detail  string `json:"detail"`
	// Remedy is what to do, when the detail does not say so itself.
	Remedy string `json:"remedy,omitempty"`
}

// Component is a watcher, registry or trigger and how its configuration went.
type Component struct {
	ID string // "trigger.smtp.main"
	// Default is true when it exists without being configured.
	Default bool
	// Err is why it cannot be used.
	Err      error
	Warnings []string
	// Probe asks its plugin whether it can do its work; nil when the plugin cannot tell.
	Probe func(ctx context.Context) (sdk.ProbeResult, error)
}

// Watcher is a component that lists containers.
type Watcher struct {
	Component
	// Name is how its containers call it.
	Name string
	// Options say where the engine is.
	Options map[string]any
	// MayUpdate is whether it may replace containers, and Updates why or why not; "" when
	// its type cannot.
	MayUpdate bool
	Updates   string
	// MixesLabels is whether its type does not tell the labels of images from others.
	MixesLabels bool
	List        func(ctx context.Context) ([]sdk.Container, error)
}

// Registry is a component that looks images up. Its Probe chooses an image itself.
type Registry struct {
	Component
	// Resolve finds the digest of an image, which counts as no pull.
	Resolve func(ctx context.Context, host, repository, tag string) error
	// Limits returns what the hosts said of their limits so far.
	Limits func(ctx context.Context) []registry.Limit
}

// Installation is what is examined: the components of a command.
type Installation interface {
	// Load prepares the components. Until it has returned there are none. When ctx ends
	// before all plugins have answered, the components of the others are there.
	Load(ctx context.Context) error
	Watchers() []Watcher
	Registries() []Registry
	Triggers() []Component
	Plugins(ctx context.Context) ([]plugin.Status, error)
	// RegistryOf returns the id of the registry that serves a host, and the base of the host's API.
	RegistryOf(host string) (id, url string, served bool)
	// Serving asks the Dogwatch that serves with this configuration for its
	// version. ErrNotServing means that there is none.
	Serving(ctx context.Context) (address, version string, err error)
}

// Options say what is examined and with what.
type Options struct {
	Config *config.Config
	// Installation has the components; nil when the configuration is not fit to make any.
	Installation Installation
	Version      string
	// Rules returns the rules about updates of a container; nil for none.
	Rules func(sdk.Container) policy.Rules
	// Logins are the ways to log in; none means that the server is open to all.
	Logins []string
	// Limit is how long one question may take.
	Limit time.Duration
	// Redact blanks secrets in texts that come from elsewhere.
	Redact func(string) string
	// Contained is true inside a container, where loopback addresses are its own.
	Contained bool
	// Fetchable fetches a plugin of plugins.install without installing it, and says why that fails; nil for not trying.
	Fetchable func(ctx context.Context, wanted config.Install) error
	// Lease says who holds the lease of this configuration, and whether that one has stopped renewing it; nil where
	// there is no lease. It changes nothing.
	Lease func(ctx context.Context) (said string, expired bool, err error)
	// Kernel says what the kernel can restrict plugins by, and whether that is files, too.
	Kernel func() (said string, files bool)
	// Observe, if set, is called after every question; by several goroutines.
	Observe func(subject string)

	// What follows is the real thing when it is not set.

	Now func() time.Time
	// Lookup returns the addresses of a host name.
	Lookup func(ctx context.Context, host string) ([]string, error)
	// Transport reaches the registries.
	Transport http.RoundTripper
	// Proxy returns the proxy for a request, nil for none.
	Proxy func(*http.Request) (*url.URL, error)
	// Free returns how many bytes may still be written below a folder.
	Free func(folder string) (uint64, error)
}

// grace is how much longer than its limit a question may take to notice that it is over.
const grace = time.Second

// Examine asks all questions and returns what came of them, in the order in
// which a person would look: the configuration first, the triggers last.
func Examine(ctx context.Context, opt Options) []Finding {
	e := examination{Options: opt.withDefaults()}
	var (
		wait                   sync.WaitGroup
		server, store, plugins []Finding
		scanner, lease         []Finding
		watchers               []Finding
		byContainers           []Finding
		triggers               []Finding
	)
	wait.Go(func() { store = e.within(ctx, "store", e.store) })
	wait.Go(func() { scanner = e.within(ctx, "scanner", e.scanner) })
	if e.Lease != nil {
		wait.Go(func() { lease = e.within(ctx, "lease", e.lease) })
	}
	if e.Installation != nil {
		wait.Go(func() { server = e.within(ctx, "server", e.server) })
		loaded := e.within(ctx, "plugins", e.load)
		if len(loaded) > 0 {
			plugins = loaded
		} else {
			wait.Go(func() { plugins = e.within(ctx, "plugins", e.plugins) })
			triggers = e.triggers(ctx)
			var found []sdk.Container
			watchers, found = e.watchers(ctx)
			byContainers = e.images(ctx, found)
		}
	}
	wait.Wait()
	all := append(e.configuration(), e.login()...)
	for _, part := range [][]Finding{server, lease, store, plugins, watchers, byContainers, triggers, scanner} {
		all = append(all, part...)
	}
	for i := range all {
		f := &all[i]
		f.Detail, f.Remedy = e.Redact(strings.TrimPrefix(f.Detail, f.Subject+": ")), e.Redact(f.Remedy)
	}
	return all
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Lookup == nil {
		o.Lookup = net.DefaultResolver.LookupHost
	}
	if o.Proxy == nil {
		o.Proxy = http.ProxyFromEnvironment
	}
	if o.Transport == nil {
		o.Transport = transport(o.Proxy)
	}
	if o.Kernel == nil {
		o.Kernel = func() (string, bool) {
			has := sandbox.Probe()
			return has.String(), has.Landlock > 0
		}
	}
	if o.Free == nil {
		o.Free = free
	}
	if o.Redact == nil {
		o.Redact = func(text string) string { return text }
	}
	if o.Observe == nil {
		o.Observe = func(string) {}
	}
	return o
}

// examination is one run.
type examination struct{ Options }

// within asks one question, for as long as the limit allows. A system call that
// hangs, such as one on a network share that is gone, cannot be ended: it is
// left behind, for the process ends with the examination.
func (e *examination) within(ctx context.Context, subject string, examine func(context.Context) []Finding) []Finding {
	defer e.Observe(subject)
	limited, cancel := context.WithTimeout(ctx, e.Limit)
	defer cancel()
	result := make(chan []Finding, 1)
	go func() { result <- examine(limited) }()
	late := time.NewTimer(e.Limit + grace)
	defer late.Stop()
	select {
	case found := <-result:
		return found
	case <-late.C:
	case <-ctx.Done():
	}
	return one(subject, Fail, fmt.Sprintf("no answer within %s", e.Limit), "try again with a longer --timeout")
}

// each examines every item concurrently, and returns the findings in the order of the items.
func each[T any](items []T, examine func(T) []Finding) []Finding {
	results := make([][]Finding, len(items))
	var wait sync.WaitGroup
	for i, item := range items {
		wait.Go(func() { results[i] = examine(item) })
	}
	wait.Wait()
	var all []Finding
	for _, r := range results {
		all = append(all, r...)
	}
	return all
}

// lease tells which Dogwatch acts, of several.
func (e *examination) lease(ctx context.Context) []Finding {
	said, expired, err := e.Lease(ctx)
	switch {
	case err != nil:
		return one("lease", Fail, err.Error(), sdk.Remedy(err))
	case expired:
		return one("lease", Warn, said, "another Dogwatch that waits takes it over; if none does, look at the log of the pod that holds it, and at the clocks")
	}
	return one("lease", OK, said, "")
}

func one(subject string, level Level, detail, remedy string) []Finding {
	return []Finding{{Subject: subject, Level: level, Detail: detail, Remedy: remedy}}
}

// Count returns how many findings there are of each level.
func Count(findings []Finding) map[Level]int {
	n := map[Level]int{}
	for _, f := range findings {
		n[f.Level]++
	}
	return n
}
