package pluginserver

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// pageBytes is how much one message of a list holds: for a message of more than 32 KiB,
// gRPC takes a buffer of 1 MiB on both sides (google.golang.org/grpc/mem, DefaultBufferPool).
const pageBytes = 28 << 10

func (s *Server) List(req *pluginv1.ListRequest, out pluginv1.Watcher_ListServer) error {
	return serving(s, req.GetInstance(), func(_ *instance, w watcher.Watcher) error {
		found, err := w.List(out.Context())
		if err != nil {
			return err
		}
		all := make([]*pluginv1.Container, len(found))
		for i, c := range found {
			all[i] = protocol.EncodeListed(c)
			protocol.FitContainer(all[i])
		}
		size := func(c *pluginv1.Container) int { return proto.Size(c) }
		return inPages(all, size, func(page []*pluginv1.Container, _ bool) error {
			return out.Send(&pluginv1.ListResponse{Containers: page})
		})
	})
}

func (s *Server) Watch(req *pluginv1.WatchRequest, out pluginv1.Watcher_WatchServer) error {
	return serving(s, req.GetInstance(), func(i *instance, w watcher.EventWatcher) error {
		ctx, cancel := context.WithCancel(out.Context())
		defer cancel()
		defer context.AfterFunc(i.ctx, cancel)()

		events := protocol.NewSender(out.Send)
		defer events.Close()
		err := w.Watch(ctx, func(e watcher.Event) { events.Send(protocol.EncodeEvent(e)) })
		if i.ctx.Err() != nil && out.Context().Err() == nil {
			return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("%s was configured anew; watch again", i.id))
		}
		return err
	})
}

func (s *Server) ReadLog(ctx context.Context, req *pluginv1.ReadLogRequest) (*pluginv1.ReadLogResponse, error) {
	return answering(s, req, func(r watcher.LogReader) (*pluginv1.ReadLogResponse, error) {
		log, err := r.ReadLog(ctx, watcher.LogRequest{ContainerID: req.GetContainerId(), Lines: int(req.GetLines())})
		return protocol.EncodeLog(log), err
	})
}

func (s *Server) PullCredentials(
	ctx context.Context, req *pluginv1.PullCredentialsRequest,
) (*pluginv1.PullCredentialsResponse, error) {
	return answering(s, req, func(p watcher.CredentialProvider) (*pluginv1.PullCredentialsResponse, error) {
		all, err := p.PullCredentials(ctx, req.GetContainerIds())
		return protocol.EncodePullCredentials(all), err
	})
}

func (s *Server) Tags(req *pluginv1.TagsRequest, out pluginv1.Registry_TagsServer) error {
	return serving(s, req.GetInstance(), func(_ *instance, r registry.Registry) error {
		list, err := r.Tags(out.Context(), protocol.DecodeRepository(req.GetRepository()), req.GetValidator())
		if err != nil {
			return err
		}
		// Two bytes for the field and its length, more for long tags, which are rare.
		size := func(tag string) int { return len(tag) + 2 }
		return inPages(list.Tags, size, func(page []string, first bool) error {
			resp := &pluginv1.TagsResponse{Tags: page}
			if first {
				resp.Validator, resp.NotModified = list.Validator, list.NotModified
			}
			return out.Send(resp)
		})
	})
}

func (s *Server) Resolve(ctx context.Context, req *pluginv1.ResolveRequest) (*pluginv1.ResolveResponse, error) {
	return answering(s, req, func(r registry.Registry) (*pluginv1.ResolveResponse, error) {
		digest, err := r.Resolve(ctx, protocol.DecodeRepository(req.GetRepository()), req.GetTag())
		return &pluginv1.ResolveResponse{Digest: digest}, err
	})
}

func (s *Server) Manifest(ctx context.Context, req *pluginv1.ManifestRequest) (*pluginv1.ManifestResponse, error) {
	return answering(s, req, func(r registry.Registry) (*pluginv1.ManifestResponse, error) {
		m, err := r.Manifest(ctx, protocol.DecodeRepository(req.GetRepository()), req.GetDigest(),
			protocol.DecodePlatform(req.GetPlatform()))
		return protocol.EncodeManifest(m), err
	})
}

func (s *Server) ImageConfig(
	ctx context.Context, req *pluginv1.ImageConfigRequest,
) (*pluginv1.ImageConfigResponse, error) {
	return answering(s, req, func(r registry.ConfigReader) (*pluginv1.ImageConfigResponse, error) {
		c, err := r.ImageConfig(ctx, protocol.DecodeRepository(req.GetRepository()), req.GetDigest(),
			protocol.DecodePlatform(req.GetPlatform()))
		resp := &pluginv1.ImageConfigResponse{Config: protocol.EncodeImageConfig(&c)}
		protocol.FitImageConfig(resp.Config)
		return resp, err
	})
}

func (s *Server) DescribeTags(
	ctx context.Context, req *pluginv1.DescribeTagsRequest,
) (*pluginv1.DescribeTagsResponse, error) {
	return answering(s, req, func(r registry.TagDescriber) (*pluginv1.DescribeTagsResponse, error) {
		tags, err := r.DescribeTags(ctx, protocol.DecodeRepository(req.GetRepository()), req.GetTag(),
			protocol.DecodePlatform(req.GetPlatform()))
		return &pluginv1.DescribeTagsResponse{Tags: protocol.EncodeTags(tags)}, err
	})
}

func (s *Server) Credentials(
	ctx context.Context, req *pluginv1.CredentialsRequest,
) (*pluginv1.CredentialsResponse, error) {
	return answering(s, req, func(p registry.CredentialProvider) (*pluginv1.CredentialsResponse, error) {
		c, err := p.Credentials(ctx, protocol.DecodeRepository(req.GetRepository()))
		return protocol.EncodeCredentials(c), err
	})
}

func (s *Server) Limits(_ context.Context, req *pluginv1.LimitsRequest) (*pluginv1.LimitsResponse, error) {
	return answering(s, req, func(r registry.LimitReporter) (*pluginv1.LimitsResponse, error) {
		return &pluginv1.LimitsResponse{Limits: protocol.EncodeLimits(r.Limits())}, nil
	})
}

func (s *Server) Run(req *pluginv1.RunRequest, out pluginv1.Trigger_RunServer) error {
	return serving(s, req.GetInstance(), func(_ *instance, t trigger.Trigger) error {
		steps := protocol.NewSender(out.Send)
		defer steps.Close()
		report := func(p trigger.Progress) { steps.Send(&pluginv1.RunResponse{Progress: protocol.EncodeProgress(p)}) }
		request := protocol.DecodeRequest(req).WithReport(report)
		var requested operations
		if request.CanOperate() {
			request = request.WithOperate(requested.add)
		}
		err := t.Run(out.Context(), request)
		if all := requested.close(); err == nil && len(all) > 0 {
			steps.Send(&pluginv1.RunResponse{Operations: all})
		}
		return err
	})
}

// inPages hands items to send in runs of at most pageBytes, at least one item
// each. No items are one empty page.
func inPages[T any](items []T, size func(T) int, send func(page []T, first bool) error) error {
	start, bytes := 0, 0
	for i, item := range items {
		n := size(item)
		if i > start && bytes+n > pageBytes {
			if err := send(items[start:i], start == 0); err != nil {
				return err
			}
			start, bytes = i, 0
		}
		bytes += n
	}
	return send(items[start:], start == 0)
}
