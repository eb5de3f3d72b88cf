// Package pluginclient is the host's side of the plugin protocol: a client of one
// running bundle, and how the connection with its process is secured.
package pluginclient

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Client speaks to one running bundle. All its methods, and those of what it
// returns, may be called concurrently and end when their context ends.
//
// An error has the text it had in the plugin and is one of the sdk's kinds,
// protocol.ErrUnknownInstance, protocol.ErrGone, the context's error, or an error of no kind,
// which tells of a mistake in the plugin. What a plugin answers has bounds, see protocol.Answer:
// beyond them a call fails with a protocol.ErrRefused, and returns nothing of the answer.
type Client struct {
	component pluginv1.ComponentClient
	watcher   pluginv1.WatcherClient
	registry  pluginv1.RegistryClient
	trigger   pluginv1.TriggerClient
	gone      *gone
}

// NewClient returns a client of the bundle that is served on cc.
func NewClient(cc grpc.ClientConnInterface) *Client {
	c := conn{cc, new(protocol.Held), &gone{}}
	return &Client{
		component: pluginv1.NewComponentClient(c),
		watcher:   pluginv1.NewWatcherClient(c),
		registry:  pluginv1.NewRegistryClient(c),
		trigger:   pluginv1.NewTriggerClient(c),
		gone:      c.gone,
	}
}

// ExplainGone has explain make the error of each call during which the plugin exits, of the
// protocol.ErrGone that it would have, which it is to wrap. It must be called before any call.
func (c *Client) ExplainGone(explain func(error) error) { c.gone.explain = explain }

// Description is what a bundle says of itself.
type Description struct {
	Version    string
	SDKVersion string
	Types      []kind.Type
}

// Describe asks what is in the bundle.
func (c *Client) Describe(ctx context.Context) (Description, error) {
	return c.describe(ctx, &pluginv1.DescribeRequest{})
}

// DescribeAsLater asks as a later version of the protocol might: with a field
// that the plugin cannot know, and has to ignore.
func (c *Client) DescribeAsLater(ctx context.Context) (Description, error) {
	req := &pluginv1.DescribeRequest{}
	req.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 1))
	return c.describe(ctx, req)
}

func (c *Client) describe(ctx context.Context, req *pluginv1.DescribeRequest) (Description, error) {
	resp, err := c.component.Describe(ctx, req)
	if err != nil {
		return Description{}, err
	}
	d := Description{Version: resp.GetVersion(), SDKVersion: resp.GetSdkVersion()}
	for _, t := range resp.GetTypes() {
		d.Types = append(d.Types, protocol.DecodeType(t))
	}
	return d, nil
}

// Instance is what an instance is configured from.
type Instance struct {
	// ID names the instance in later calls: "trigger.smtp.main".
	ID   string
	Kind kind.Kind
	Type string
	// Options are validated and have their defaults.
	Options option.Values
	// ValidateOnly creates the instance and drops it again.
	ValidateOnly bool
}

// Configured is what a plugin says of an instance it accepts.
type Configured struct {
	// Warnings are oddities in the options which the operator should know.
	Warnings []string
	// Hosts are what a registry serves.
	Hosts []registry.Host
}

// Configure creates an instance, or replaces the one of the same ID, which
// keeps working when this fails. Wrong options are an *sdk.InvalidError.
func (c *Client) Configure(ctx context.Context, i Instance) (Configured, error) {
	options, err := protocol.EncodeValues(i.Options)
	if err != nil {
		return Configured{}, err
	}
	resp, err := c.component.Configure(ctx, &pluginv1.ConfigureRequest{
		Instance: i.ID, Kind: string(i.Kind), Type: i.Type, Options: options, ValidateOnly: i.ValidateOnly,
	})
	if err != nil {
		return Configured{}, err
	}
	return Configured{Warnings: resp.GetWarnings(), Hosts: protocol.DecodeHosts(resp.GetHosts())}, nil
}

// Release drops an instance and waits until its running calls have ended and
// it is closed. An unknown instance is no error.
func (c *Client) Release(ctx context.Context, id string) error {
	_, err := c.component.Release(ctx, &pluginv1.ReleaseRequest{Instance: id})
	return err
}

// Probe asks an instance of any kind whether it can do its work. One without the
// ability, or of a plugin from before there was one, is an sdk.ErrUnsupported.
func (c *Client) Probe(ctx context.Context, id string, req sdk.ProbeRequest) (sdk.ProbeResult, error) {
	resp, err := c.component.Probe(ctx, protocol.EncodeProbe(id, req))
	return protocol.DecodeProbed(resp), err
}

// Watcher returns the watcher that was configured as id.
func (c *Client) Watcher(id string) WatcherClient { return WatcherClient{id, c.watcher} }

// WatcherClient is a watcher in a plugin.
type WatcherClient struct {
	id     string
	client pluginv1.WatcherClient
}

var (
	_ watcher.Watcher      = WatcherClient{}
	_ watcher.EventWatcher = WatcherClient{}
	_ watcher.LogReader    = WatcherClient{}

	_ watcher.CredentialProvider = WatcherClient{}
)

// List returns every container that the watcher sees.
func (w WatcherClient) List(ctx context.Context) ([]watcher.Container, error) {
	var all []watcher.Container
	in, err := w.client.List(ctx, &pluginv1.ListRequest{Instance: w.id})
	err = receive(in, err, func(page *pluginv1.ListResponse) {
		for _, c := range page.GetContainers() {
			all = append(all, protocol.DecodeListed(c))
		}
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Watch calls emit for each engine event, one at a time, until ctx ends, the
// instance is replaced or released (then the error is an sdk.ErrUnavailable)
// or the engine can have no events (then it is nil). A watcher without events is an sdk.ErrUnsupported.
func (w WatcherClient) Watch(ctx context.Context, emit func(watcher.Event)) error {
	in, err := w.client.Watch(ctx, &pluginv1.WatchRequest{Instance: w.id})
	return receive(in, err, func(e *pluginv1.WatchResponse) {
		emit(protocol.DecodeEvent(e))
	})
}

// ReadLog returns the end of what a container has written; see watcher.LogReader. A watcher that reads no logs is an
// sdk.ErrUnsupported.
func (w WatcherClient) ReadLog(ctx context.Context, req watcher.LogRequest) (watcher.Log, error) {
	resp, err := w.client.ReadLog(ctx, &pluginv1.ReadLogRequest{
		Instance: w.id, ContainerId: req.ContainerID, Lines: int32(req.Lines),
	})
	return protocol.DecodeLog(resp), err
}

// PullCredentials returns what the engine pulls the images of containers with; see watcher.CredentialProvider. A
// watcher that does not know is an sdk.ErrUnsupported.
func (w WatcherClient) PullCredentials(
	ctx context.Context, containerIDs []string,
) (map[string]watcher.PullCredentials, error) {
	resp, err := w.client.PullCredentials(ctx, &pluginv1.PullCredentialsRequest{
		Instance: w.id, ContainerIds: containerIDs,
	})
	return protocol.DecodePullCredentials(resp), err
}

// Registry returns the registry that was configured as id. The hosts it serves are in Configured.
func (c *Client) Registry(id string) RegistryClient { return RegistryClient{id, c.registry} }

// RegistryClient is a registry in a plugin: what registry.Registry promises, but for Hosts.
type RegistryClient struct {
	id     string
	client pluginv1.RegistryClient
}

var (
	_ registry.CredentialProvider = RegistryClient{}
	_ registry.ConfigReader       = RegistryClient{}
)

// Tags lists the tags of a repository.
func (r RegistryClient) Tags(
	ctx context.Context, repo registry.Repository, validator string,
) (registry.TagList, error) {
	var list registry.TagList
	in, err := r.client.Tags(ctx, &pluginv1.TagsRequest{
		Instance: r.id, Repository: protocol.EncodeRepository(repo), Validator: validator,
	})
	first := true
	err = receive(in, err, func(page *pluginv1.TagsResponse) {
		if first {
			list.Validator, list.NotModified, first = page.GetValidator(), page.GetNotModified(), false
		}
		list.Tags = append(list.Tags, page.GetTags()...)
	})
	if err != nil {
		return registry.TagList{}, err
	}
	return list, nil
}

// Resolve returns the digest behind a tag.
func (r RegistryClient) Resolve(ctx context.Context, repo registry.Repository, tag string) (string, error) {
	resp, err := r.client.Resolve(ctx, &pluginv1.ResolveRequest{
		Instance: r.id, Repository: protocol.EncodeRepository(repo), Tag: tag,
	})
	return resp.GetDigest(), err
}

// Manifest describes the image for one platform behind a digest.
func (r RegistryClient) Manifest(
	ctx context.Context, repo registry.Repository, digest string, platform sdk.Platform,
) (registry.Manifest, error) {
	resp, err := r.client.Manifest(ctx, &pluginv1.ManifestRequest{
		Instance: r.id, Repository: protocol.EncodeRepository(repo), Digest: digest,
		Platform: protocol.EncodePlatform(platform),
	})
	return protocol.DecodeManifest(resp), err
}

// ImageConfig returns the configuration of an image. A registry that cannot read it is an sdk.ErrUnsupported.
func (r RegistryClient) ImageConfig(
	ctx context.Context, repo registry.Repository, digest string, platform sdk.Platform,
) (sdk.ImageConfig, error) {
	resp, err := r.client.ImageConfig(ctx, &pluginv1.ImageConfigRequest{
		Instance: r.id, Repository: protocol.EncodeRepository(repo), Digest: digest,
		Platform: protocol.EncodePlatform(platform),
	})
	if err != nil || resp.GetConfig() == nil {
		return sdk.ImageConfig{}, err
	}
	return *protocol.DecodeImageConfig(resp.GetConfig()), nil
}

// DescribeTags returns what is behind tags. A registry that cannot tell without a pull is an sdk.ErrUnsupported.
func (r RegistryClient) DescribeTags(
	ctx context.Context, repo registry.Repository, tag string, platform sdk.Platform,
) ([]registry.DescribedTag, error) {
	resp, err := r.client.DescribeTags(ctx, &pluginv1.DescribeTagsRequest{
		Instance: r.id, Repository: protocol.EncodeRepository(repo), Tag: tag, Platform: protocol.EncodePlatform(platform),
	})
	return protocol.DecodeTags(resp.GetTags()), err
}

// Credentials returns what an engine needs to pull. A registry that has none to grant is an sdk.ErrUnsupported.
func (r RegistryClient) Credentials(ctx context.Context, repo registry.Repository) (sdk.Credentials, error) {
	resp, err := r.client.Credentials(ctx, &pluginv1.CredentialsRequest{
		Instance: r.id, Repository: protocol.EncodeRepository(repo),
	})
	return protocol.DecodeCredentials(resp), err
}

// Limits returns what the registry's hosts allow. A registry that does not know is an sdk.ErrUnsupported.
func (r RegistryClient) Limits(ctx context.Context) ([]registry.Limit, error) {
	resp, err := r.client.Limits(ctx, &pluginv1.LimitsRequest{Instance: r.id})
	return protocol.DecodeLimits(resp.GetLimits()), err
}

// Trigger returns the trigger that was configured as id.
func (c *Client) Trigger(id string) TriggerClient { return TriggerClient{id, c.trigger} }

// TriggerClient is a trigger in a plugin.
type TriggerClient struct {
	id     string
	client pluginv1.TriggerClient
}

var _ trigger.Subscriber = TriggerClient{}

// Run delivers once. Progress arrives through the request's report, one step at a
// time. The operations that a run requests go to the request once it has succeeded.
func (t TriggerClient) Run(ctx context.Context, req trigger.Request) error {
	m, err := protocol.EncodeRequest(t.id, req)
	if err != nil {
		return err
	}
	var requested []*pluginv1.OperationRequest
	in, err := t.client.Run(ctx, m)
	err = receive(in, err, func(r *pluginv1.RunResponse) {
		if r.GetProgress() != nil {
			req.Report(protocol.DecodeProgress(r.GetProgress()))
		}
		requested = append(requested, r.GetOperations()...)
	})
	for i := 0; err == nil && i < len(requested); i++ {
		err = req.Operate(ctx, protocol.DecodeOperationRequest(requested[i]))
	}
	return err
}

// receive hands every message of a stream that was opened with err to each.
func receive[T any](in grpc.ServerStreamingClient[T], err error, each func(*T)) error {
	if err != nil {
		return err
	}
	for {
		m, err := in.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		each(m)
	}
}
