package protocol

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// EncodeType makes the message of a type.
func EncodeType(t kind.Type) *pluginv1.TypeInfo {
	return &pluginv1.TypeInfo{
		Kind:         string(t.Kind),
		Type:         t.Name,
		Summary:      t.Summary,
		DocsUrl:      t.DocsURL,
		Capabilities: t.Capabilities,
		Delivery:     string(t.Guarantee),
		DefaultName:  t.DefaultName,
		Options:      each(t.Options, encodeOption),
	}
}

// DecodeType reads the message of a type.
func DecodeType(m *pluginv1.TypeInfo) kind.Type {
	return kind.Type{
		Kind:         kind.Kind(m.GetKind()),
		Name:         m.GetType(),
		Summary:      m.GetSummary(),
		DocsURL:      m.GetDocsUrl(),
		Capabilities: m.GetCapabilities(),
		Guarantee:    kind.Guarantee(m.GetDelivery()),
		DefaultName:  m.GetDefaultName(),
		Options:      each(m.GetOptions(), decodeOption),
	}
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
		Refers:     o.Refers,
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
		Refers:     m.GetRefers(),
	}
}

// EncodeHosts makes the messages of hosts.
func EncodeHosts(hosts []registry.Host) []*pluginv1.Host { return each(hosts, encodeHost) }

// DecodeHosts reads the messages of hosts.
func DecodeHosts(list []*pluginv1.Host) []registry.Host { return each(list, decodeHost) }

func encodeHost(h registry.Host) *pluginv1.Host {
	return &pluginv1.Host{Pattern: h.Pattern, Url: h.URL}
}

func decodeHost(m *pluginv1.Host) registry.Host {
	return registry.Host{Pattern: m.GetPattern(), URL: m.GetUrl()}
}

// EncodeEvent makes the message of an engine event.
func EncodeEvent(e watcher.Event) *pluginv1.WatchResponse {
	return &pluginv1.WatchResponse{ContainerId: e.ContainerID, Action: e.Action, Status: e.Status, At: encodeTime(e.At)}
}

// DecodeEvent reads the message of an engine event.
func DecodeEvent(m *pluginv1.WatchResponse) watcher.Event {
	return watcher.Event{
		ContainerID: m.GetContainerId(), Action: m.GetAction(), Status: m.GetStatus(), At: decodeTime(m.GetAt()),
	}
}

// EncodeRepository makes the message of a repository. The wire calls ScopeHints "together"; protocol 1 keeps the name.
func EncodeRepository(r registry.Repository) *pluginv1.Repository {
	m := &pluginv1.Repository{Host: r.Host, Name: r.Name, Together: r.ScopeHints}
	if r.Credentials != (sdk.Credentials{}) {
		m.Credentials = EncodeCredentials(r.Credentials)
	}
	return m
}

// DecodeRepository reads the message of a repository.
func DecodeRepository(m *pluginv1.Repository) registry.Repository {
	return registry.Repository{
		Host: m.GetHost(), Name: m.GetName(), ScopeHints: m.GetTogether(), Credentials: DecodeCredentials(m.GetCredentials()),
	}
}

// EncodeManifest makes the message of a manifest.
func EncodeManifest(m registry.Manifest) *pluginv1.ManifestResponse {
	return &pluginv1.ManifestResponse{
		Digest: m.Digest, Config: m.Config, Created: encodeTime(m.Created), Version: m.Version, Artifact: m.Artifact,
	}
}

// DecodeManifest reads the message of a manifest.
func DecodeManifest(m *pluginv1.ManifestResponse) registry.Manifest {
	return registry.Manifest{
		Digest: m.GetDigest(), Config: m.GetConfig(), Created: decodeTime(m.GetCreated()), Version: m.GetVersion(),
		Artifact: m.GetArtifact(),
	}
}

// EncodeTags makes the messages of described tags.
func EncodeTags(tags []registry.DescribedTag) []*pluginv1.DescribedTag { return each(tags, encodeTag) }

func encodeTag(t registry.DescribedTag) *pluginv1.DescribedTag {
	return &pluginv1.DescribedTag{
		Name: t.Name, Digest: t.Digest, Image: t.Image, Pushed: encodeTime(t.Pushed), Artifact: t.Artifact,
	}
}

// DecodeTags reads the messages of described tags.
func DecodeTags(tags []*pluginv1.DescribedTag) []registry.DescribedTag { return each(tags, decodeTag) }

func decodeTag(m *pluginv1.DescribedTag) registry.DescribedTag {
	return registry.DescribedTag{
		Name: m.GetName(), Digest: m.GetDigest(), Image: m.GetImage(), Pushed: decodeTime(m.GetPushed()),
		Artifact: m.GetArtifact(),
	}
}

// EncodeCredentials makes the message of credentials.
func EncodeCredentials(c sdk.Credentials) *pluginv1.CredentialsResponse {
	return &pluginv1.CredentialsResponse{Username: c.Username, Password: c.Password}
}

// DecodeCredentials reads the message of credentials.
func DecodeCredentials(m *pluginv1.CredentialsResponse) sdk.Credentials {
	return sdk.Credentials{Username: m.GetUsername(), Password: m.GetPassword()}
}

// EncodeLimits makes the messages of limits.
func EncodeLimits(limits []registry.Limit) []*pluginv1.Limit { return each(limits, encodeLimit) }

func encodeLimit(l registry.Limit) *pluginv1.Limit {
	return &pluginv1.Limit{
		Host: l.Host, Limit: l.Limit, Remaining: l.Remaining, WindowSeconds: int64(l.Window / time.Second),
		Source: l.Source, At: encodeTime(l.At), PausedUntil: encodeTime(l.PausedUntil),
		Pulls: l.Pulls, ResetsAt: encodeTime(l.ResetsAt),
	}
}

// DecodeLimits reads the messages of limits.
func DecodeLimits(list []*pluginv1.Limit) []registry.Limit { return each(list, decodeLimit) }

func decodeLimit(m *pluginv1.Limit) registry.Limit {
	return registry.Limit{
		Host: m.GetHost(), Limit: m.GetLimit(), Remaining: m.GetRemaining(),
		Window: decodeDuration(&durationpb.Duration{Seconds: m.GetWindowSeconds()}),
		Source: m.GetSource(), At: decodeTime(m.GetAt()), PausedUntil: decodeTime(m.GetPausedUntil()),
		Pulls: m.GetPulls(), ResetsAt: decodeTime(m.GetResetsAt()),
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

// EncodeRequest makes the message of a delivery by the instance id. An engine option that
// cannot be sent is an *sdk.InvalidError.
func EncodeRequest(id string, r trigger.Request) (*pluginv1.RunRequest, error) {
	m := &pluginv1.RunRequest{
		Instance: id,
		Delivery: r.Delivery,
		Title:    r.Title,
		Body:     r.Body,
		Batch:    r.Batch,
		Test:     r.Test,
		Operate:  r.CanOperate(),

		Containers: each(r.Containers, EncodeContainer),
		Actions: each(r.Actions, func(a trigger.Action) *pluginv1.Action {
			return &pluginv1.Action{ContainerId: a.ContainerID, Kind: a.Kind, Label: a.Label, Url: a.URL}
		}),
	}
	if e := r.Event; e != nil {
		m.Event = &pluginv1.Event{Type: e.Type, Watcher: e.Watcher, Error: e.Error, Since: encodeTime(e.Since),
			At:        encodeTime(e.At),
			Container: e.Container, Operation: e.Operation, From: e.From, To: e.To, By: e.By, Kind: e.Kind,
			Downtime: e.Downtime, Plugin: e.Plugin,
			Log: e.Log}
		if n := e.Summary; n != nil {
			m.Event.Summary = &pluginv1.Summary{
				Updated: int32(n.Updated), Failed: int32(n.Failed), Approval: int32(n.Approval),
				Offered: int32(n.Offered), Automatic: int32(n.Automatic), Held: int32(n.Held),
			}
		}
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
	if d := r.Device; d != nil {
		m.Device = &pluginv1.Device{Endpoint: d.Endpoint, P256Dh: d.P256dh, Auth: d.Auth, Key: d.Key}
	}
	return m, nil
}

// errNoRun is returned by a request that no server has given to a trigger.
var errNoRun = errors.New("the run has not begun")

// DecodeRequest reads the message of a delivery. A request that takes operations
// refuses them until its WithOperate is called.
func DecodeRequest(m *pluginv1.RunRequest) trigger.Request {
	r := trigger.Request{
		Delivery: m.GetDelivery(),
		Title:    m.GetTitle(),
		Body:     m.GetBody(),
		Batch:    m.GetBatch(),
		Test:     m.GetTest(),

		Containers: each(m.GetContainers(), DecodeContainer),
		Actions: each(m.GetActions(), func(a *pluginv1.Action) trigger.Action {
			return trigger.Action{ContainerID: a.GetContainerId(), Kind: a.GetKind(), Label: a.GetLabel(), URL: a.GetUrl()}
		}),
	}
	if e := m.GetEvent(); e != nil {
		r.Event = &trigger.Event{Type: e.GetType(), Watcher: e.GetWatcher(), Error: e.GetError(),
			Since: decodeTime(e.GetSince()), At: decodeTime(e.GetAt()),
			Container: e.GetContainer(), Operation: e.GetOperation(), From: e.GetFrom(), To: e.GetTo(), By: e.GetBy(),
			Kind: e.GetKind(), Downtime: e.GetDowntime(), Plugin: e.GetPlugin(),
			Log: e.GetLog()}
		if n := e.GetSummary(); n != nil {
			r.Event.Summary = &trigger.Summary{
				Updated: int(n.GetUpdated()), Failed: int(n.GetFailed()), Approval: int(n.GetApproval()),
				Offered: int(n.GetOffered()), Automatic: int(n.GetAutomatic()), Held: int(n.GetHeld()),
			}
		}
	}
	if m.GetOperate() {
		r = r.WithOperate(func(trigger.OperationRequest) error { return errNoRun })
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
	if d := m.GetDevice(); d != nil {
		r.Device = &trigger.Device{Endpoint: d.GetEndpoint(), P256dh: d.GetP256Dh(), Auth: d.GetAuth(), Key: d.GetKey()}
	}
	return r
}

// EncodeProgress makes the message of a step.
func EncodeProgress(p trigger.Progress) *pluginv1.Progress {
	return &pluginv1.Progress{
		ContainerId: p.ContainerID, Phase: p.Phase, Message: p.Message, Current: p.Current, Total: p.Total,
	}
}

// DecodeProgress reads the message of a step.
func DecodeProgress(m *pluginv1.Progress) trigger.Progress {
	return trigger.Progress{
		ContainerID: m.GetContainerId(), Phase: m.GetPhase(), Message: m.GetMessage(), Current: m.GetCurrent(),
		Total: m.GetTotal(),
	}
}

// EncodeOperationRequest makes the message of a request to update a container.
func EncodeOperationRequest(o trigger.OperationRequest) *pluginv1.OperationRequest {
	return &pluginv1.OperationRequest{ContainerId: o.ContainerID, Rules: encodeRules(o.Rules)}
}

// DecodeOperationRequest reads the message of a request to update a container.
func DecodeOperationRequest(m *pluginv1.OperationRequest) trigger.OperationRequest {
	return trigger.OperationRequest{ContainerID: m.GetContainerId(), Rules: decodeRules(m.GetRules())}
}

// EncodeChange makes the message of a change of state.
func EncodeChange(c trigger.Change) *pluginv1.Change {
	m := &pluginv1.Change{All: c.All, Removed: each(c.Removed, EncodeContainer), Put: each(c.Put, EncodeContainer)}
	for _, w := range c.Watchers {
		m.Watchers = append(m.Watchers, &pluginv1.WatcherState{Name: w.Name, Checking: w.Checking})
	}
	for _, o := range c.Operations {
		m.Operations = append(m.Operations, &pluginv1.OperationState{
			Watcher: o.Watcher, Name: o.Name, Running: o.Running, Percent: int32(o.Percent),
		})
	}
	return m
}

// DecodeChange reads the message of a change of state.
func DecodeChange(m *pluginv1.Change) trigger.Change {
	c := trigger.Change{
		All: m.GetAll(), Removed: each(m.GetRemoved(), DecodeContainer), Put: each(m.GetPut(), DecodeContainer),
	}
	for _, w := range m.GetWatchers() {
		c.Watchers = append(c.Watchers, trigger.WatcherState{Name: w.GetName(), Checking: w.GetChecking()})
	}
	for _, o := range m.GetOperations() {
		c.Operations = append(c.Operations, trigger.OperationState{
			Watcher: o.GetWatcher(), Name: o.GetName(), Running: o.GetRunning(), Percent: int(o.GetPercent()),
		})
	}
	return c
}

// each converts every item of a list; no items are nil.
func each[A, B any](list []A, convert func(A) B) []B {
	var all []B
	for _, item := range list {
		all = append(all, convert(item))
	}
	return all
}
