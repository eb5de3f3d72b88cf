// Package plugintest serves a type inside a test, over real gRPC: what a test
// calls crosses the wire as it does between the host and a plugin process.
//
//	file := plugintest.Trigger(t, file.Type(), map[string]any{"path": path})
//	err := file.Run(t.Context(), request)
//
// It also has HTTP servers that answer, hang and fail, for the conformance kits
// watchertest, registrytest and triggertest.
package plugintest

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/inprocess"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// version is that of every bundle that is served.
const version = "1.2.3"

// Instance is a configured instance, called "main", in a plugin of its own. It
// ends with the test: running calls are cancelled and the instance is closed.
type Instance struct {
	// Warnings are what the instance warned of in its options.
	Warnings []string
	// Log is what the plugin logs.
	Log *Log

	client *pluginclient.Client
	id     string
}

// Probe asks the instance whether it can do its work. A type without the ability is an sdk.ErrUnsupported.
func (i *Instance) Probe(ctx context.Context, req sdk.ProbeRequest) (sdk.ProbeResult, error) {
	return i.client.Probe(ctx, i.id, req)
}

// Release closes the instance earlier, as the host does when its configuration
// is gone. It returns when the running calls have ended and the instance is closed.
func (i *Instance) Release(ctx context.Context) error { return i.client.Release(ctx, i.id) }

// WatcherInstance is a watcher in a plugin. Watch of one without events is an sdk.ErrUnsupported.
type WatcherInstance struct {
	*Instance
	watcher.Watcher
	watcher.EventWatcher
	watcher.CredentialProvider
}

// Watcher serves typ and configures an instance as the host does: options are
// checked, and defaults apply. Options that are refused fail the test.
func Watcher(t testing.TB, typ watcher.Type, options map[string]any) WatcherInstance {
	t.Helper()
	i, _ := configured(t, plugin.Bundle{Version: version, Watchers: []watcher.Type{typ}}, typ.Type, options)
	w := i.client.Watcher(i.id)
	return WatcherInstance{i, w, w, w}
}

// RegistryInstance is a registry in a plugin. Credentials of one that has none to
// grant is an sdk.ErrUnsupported.
type RegistryInstance struct {
	*Instance
	registry.Registry
	registry.CredentialProvider
}

// Registry serves typ and configures an instance, as Watcher does.
func Registry(t testing.TB, typ registry.Type, options map[string]any) RegistryInstance {
	t.Helper()
	i, got := configured(t, plugin.Bundle{Version: version, Registries: []registry.Type{typ}}, typ.Type, options)
	r := served{i.client.Registry(i.id), got.Hosts}
	return RegistryInstance{i, r, r}
}

// served is a registry.Registry over the wire, where hosts are part of the configuration.
type served struct {
	pluginclient.RegistryClient
	hosts []registry.Host
}

func (s served) Hosts() []registry.Host { return s.hosts }

// TriggerInstance is a trigger in a plugin. Subscribe of one that is no
// trigger.Subscriber is an sdk.ErrUnsupported.
type TriggerInstance struct {
	*Instance
	trigger.Subscriber
}

// Trigger serves typ and configures an instance, as Watcher does.
func Trigger(t testing.TB, typ trigger.Type, options map[string]any) TriggerInstance {
	t.Helper()
	i, _ := configured(t, plugin.Bundle{Version: version, Triggers: []trigger.Type{typ}}, typ.Type, options)
	return TriggerInstance{i, i.client.Trigger(i.id)}
}

func configured(
	t testing.TB, b plugin.Bundle, typ kind.Type, options map[string]any,
) (*Instance, pluginclient.Configured) {
	t.Helper()
	i := &Instance{Log: &Log{}, id: inprocess.ID(typ, "main")}
	i.client = inprocess.Serve(t, b, i.Log)
	got, err := inprocess.Configure(t.Context(), i.client, typ, "main", options)
	if err != nil {
		t.Fatalf("configure %s: %v", i.id, err)
	}
	i.Warnings = got.Warnings
	return i, got
}

// Log is what a bundle has logged, as lines of JSON.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns everything logged so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Lines returns the lines logged so far.
func (l *Log) Lines() []string {
	text := strings.TrimSuffix(l.String(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
