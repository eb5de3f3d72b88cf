package protocol

import (
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func EncodeType(t kind.Type) *pluginv1.TypeInfo {
	m := &pluginv1.TypeInfo{
		Kind:         string(t.Kind),
		Type:         t.Name,
		Summary:      t.Summary,
		DocsUrl:      t.DocsURL,
		Capabilities: t.Capabilities,
		Delivery:     string(t.Delivery),
		DefaultName:  t.DefaultName,
	}
	for _, o := range t.Options {
		m.Options = append(m.Options, encodeOption(o))
	}
	return m
}

func DecodeType(m *pluginv1.TypeInfo) kind.Type {
	t := kind.Type{
		Kind:         kind.Kind(m.GetKind()),
		Name:         m.GetType(),
		Summary:      m.GetSummary(),
		DocsURL:      m.GetDocsUrl(),
		Capabilities: m.GetCapabilities(),
		Delivery:     kind.Delivery(m.GetDelivery()),
		DefaultName:  m.GetDefaultName(),
	}
	for _, o := range m.GetOptions() {
		t.Options = append(t.Options, decodeOption(o))
	}
	return t
}

func encodeOption(o option.Option) *pluginv1.Option {
	return &pluginv1.Option{
		Name:       o.Name,
		Type:       string(o.Type),
		Help:       o.Help,
		Default:    o.Default,
		Required:   o.Required,
		Secret:     o.Secret,
		Mask:       string(o.Mask),
		Choices:    o.Choices,
		Aliases:    o.Aliases,
		Min:        o.Min,
		Max:        o.Max,
		Deprecated: o.Deprecated,
		Example:    o.Example,
	}
}

func decodeOption(m *pluginv1.Option) option.Option {
	return option.Option{
		Name:       m.GetName(),
		Type:       option.Type(m.GetType()),
		Help:       m.GetHelp(),
		Default:    m.Default,
		Required:   m.GetRequired(),
		Secret:     m.GetSecret(),
		Mask:       option.Mask(m.GetMask()),
		Choices:    m.GetChoices(),
		Aliases:    m.GetAliases(),
		Min:        m.Min,
		Max:        m.Max,
		Deprecated: m.GetDeprecated(),
		Example:    m.GetExample(),
	}
}

func EncodeHosts(hosts []registry.Host) []*pluginv1.Host {
	var list []*pluginv1.Host
	for _, h := range hosts {
		list = append(list, &pluginv1.Host{Pattern: h.Pattern, Url: h.URL})
	}
	return list
}

func DecodeHosts(list []*pluginv1.Host) []registry.Host {
	var hosts []registry.Host
	for _, m := range list {
		hosts = append(hosts, registry.Host{Pattern: m.GetPattern(), URL: m.GetUrl()})
	}
	return hosts
}

func EncodeEvent(e watcher.Event) *pluginv1.WatchResponse {
	return &pluginv1.WatchResponse{ContainerId: e.ContainerID, Action: e.Action, Status: e.Status, At: encodeTime(e.At)}
}

func DecodeEvent(m *pluginv1.WatchResponse) watcher.Event {
	return watcher.Event{ContainerID: m.GetContainerId(), Action: m.GetAction(), Status: m.GetStatus(), At: decodeTime(m.GetAt())}
}

// The wire calls ScopeHints "together"; protocol 1 keeps the name.
func EncodeRepository(r registry.Repository) *pluginv1.Repository {
	return &pluginv1.Repository{Host: r.Host, Name: r.Name, Together: r.ScopeHints}
}

func DecodeRepository(m *pluginv1.Repository) registry.Repository {
	return registry.Repository{Host: m.GetHost(), Name: m.GetName(), ScopeHints: m.GetTogether()}
}

func EncodeManifest(m registry.Manifest) *pluginv1.ManifestResponse {
	return &pluginv1.ManifestResponse{Digest: m.Digest, Config: m.Config, Created: encodeTime(m.Created)}
}

func DecodeManifest(m *pluginv1.ManifestResponse) registry.Manifest {
	return registry.Manifest{Digest: m.GetDigest(), Config: m.GetConfig(), Created: decodeTime(m.GetCreated())}
}

func EncodeCredentials(c sdk.Credentials) *pluginv1.CredentialsResponse {
	return &pluginv1.CredentialsResponse{Username: c.Username, Password: c.Password}
}

func DecodeCredentials(m *pluginv1.CredentialsResponse) sdk.Credentials {
	return sdk.Credentials{Username: m.GetUsername(), Password: m.GetPassword()}
}

func EncodeLimits(limits []registry.Limit) []*pluginv1.Limit {
	var list []*pluginv1.Limit
	for _, l := range limits {
		list = append(list, encodeLimit(l))
	}
	return list
}

func encodeLimit(l registry.Limit) *pluginv1.Limit {
	return &pluginv1.Limit{
		Host: l.Host, Limit: l.Limit, Remaining: l.Remaining, WindowSeconds: int64(l.Window / time.Second),
		Source: l.Source, At: encodeTime(l.At), PausedUntil: encodeTime(l.PausedUntil),
	}
}

func DecodeLimits(list []*pluginv1.Limit) []registry.Limit {
	var limits []registry.Limit
	for _, m := range list {
		limits = append(limits, decodeLimit(m))
	}
	return limits
}

func decodeLimit(m *pluginv1.Limit) registry.Limit {
	return registry.Limit{
		Host: m.GetHost(), Limit: m.GetLimit(), Remaining: m.GetRemaining(), Window: time.Duration(m.GetWindowSeconds()) * time.Second,
		Source: m.GetSource(), At: decodeTime(m.GetAt()), PausedUntil: decodeTime(m.GetPausedUntil()),
	}
}

// EncodeProbe returns the message for a probe of the instance id.
func EncodeProbe(id string, r sdk.ProbeRequest) *pluginv1.ProbeRequest {
	return &pluginv1.ProbeRequest{Instance: id, Image: r.Image}
}

// DecodeProbe reverses EncodeProbe, but for the id.
func DecodeProbe(m *pluginv1.ProbeRequest) sdk.ProbeRequest {
	return sdk.ProbeRequest{Image: m.GetImage()}
}

// EncodeProbed returns the message for the result of a probe.
func EncodeProbed(r sdk.ProbeResult) *pluginv1.ProbeResponse {
	return &pluginv1.ProbeResponse{Summary: r.Summary, Warnings: r.Warnings}
}

// DecodeProbed reverses EncodeProbed.
func DecodeProbed(m *pluginv1.ProbeResponse) sdk.ProbeResult {
	return sdk.ProbeResult{Summary: m.GetSummary(), Warnings: m.GetWarnings()}
}

func EncodeRequest(id string, r trigger.Request) (*pluginv1.RunRequest, error) {
	m := &pluginv1.RunRequest{
		Instance: id,
		Delivery: r.Delivery,
		Title:    r.Title,
		Body:     r.Body,
		Batch:    r.Batch,
		Test:     r.Test,

		Containers: encodeContainers(r.Containers),
	}
	if e := r.Event; e != nil {
		m.Event = &pluginv1.Event{Type: e.Type, Watcher: e.Watcher, Error: e.Error, Since: encodeTime(e.Since), At: encodeTime(e.At)}
	}
	for host, c := range r.Credentials {
		if m.Credentials == nil {
			m.Credentials = map[string]*pluginv1.CredentialsResponse{}
		}
		m.Credentials[host] = EncodeCredentials(c)
	}
	for name, e := range r.Engines {
		options, err := EncodeValues(e.Options)
		if err != nil {
			return nil, fmt.Errorf("engine of watcher %s: %w", name, err)
		}
		if m.Engines == nil {
			m.Engines = map[string]*pluginv1.Engine{}
		}
		m.Engines[name] = &pluginv1.Engine{Type: e.Type, Options: options}
	}
	return m, nil
}

func DecodeRequest(m *pluginv1.RunRequest) trigger.Request {
	r := trigger.Request{
		Delivery: m.GetDelivery(),
		Title:    m.GetTitle(),
		Body:     m.GetBody(),
		Batch:    m.GetBatch(),
		Test:     m.GetTest(),

		Containers: decodeContainers(m.GetContainers()),
	}
	if e := m.GetEvent(); e != nil {
		r.Event = &trigger.Event{Type: e.GetType(), Watcher: e.GetWatcher(), Error: e.GetError(), Since: decodeTime(e.GetSince()), At: decodeTime(e.GetAt())}
	}
	for host, c := range m.GetCredentials() {
		if r.Credentials == nil {
			r.Credentials = map[string]sdk.Credentials{}
		}
		r.Credentials[host] = DecodeCredentials(c)
	}
	for name, e := range m.GetEngines() {
		if r.Engines == nil {
			r.Engines = map[string]trigger.Engine{}
		}
		r.Engines[name] = trigger.Engine{Type: e.GetType(), Options: DecodeValues(e.GetOptions())}
	}
	return r
}

func EncodeProgress(p trigger.Progress) *pluginv1.Progress {
	return &pluginv1.Progress{ContainerId: p.ContainerID, Phase: p.Phase, Message: p.Message, Current: p.Current, Total: p.Total}
}

func DecodeProgress(m *pluginv1.Progress) trigger.Progress {
	return trigger.Progress{
		ContainerID: m.GetContainerId(), Phase: m.GetPhase(), Message: m.GetMessage(), Current: m.GetCurrent(), Total: m.GetTotal(),
	}
}

func EncodeChange(c trigger.Change) *pluginv1.Change {
	m := &pluginv1.Change{All: c.All, Removed: encodeContainers(c.Removed), Put: encodeContainers(c.Put)}
	for _, w := range c.Watchers {
		m.Watchers = append(m.Watchers, &pluginv1.WatcherState{Name: w.Name, Checking: w.Checking})
	}
	return m
}

func DecodeChange(m *pluginv1.Change) trigger.Change {
	c := trigger.Change{All: m.GetAll(), Removed: decodeContainers(m.GetRemoved()), Put: decodeContainers(m.GetPut())}
	for _, w := range m.GetWatchers() {
		c.Watchers = append(c.Watchers, trigger.WatcherState{Name: w.GetName(), Checking: w.GetChecking()})
	}
	return c
}

func encodeContainers(all []sdk.Container) []*pluginv1.Container {
	var list []*pluginv1.Container
	for _, c := range all {
		list = append(list, EncodeContainer(c))
	}
	return list
}

func decodeContainers(list []*pluginv1.Container) []sdk.Container {
	var all []sdk.Container
	for _, m := range list {
		all = append(all, DecodeContainer(m))
	}
	return all
}
