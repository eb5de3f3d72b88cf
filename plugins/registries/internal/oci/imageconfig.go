package oci

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// imageConfig is the configuration of an image (OCI image specification, config.md,
// and Docker's health check).
type imageConfig struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	Variant      string `json:"variant"`
	Config       struct {
		User         string
		Env          []string
		Entrypoint   []string
		Cmd          []string
		WorkingDir   string
		Labels       map[string]string
		ExposedPorts map[string]struct{}
		Volumes      map[string]struct{}
		StopSignal   string
		Healthcheck  struct{ Test []string }
	} `json:"config"`
}

// ImageConfig implements registry.ConfigReader, with one request for each index, the
// manifest and the configuration.
func (r *Registry) ImageConfig(ctx context.Context, repo registry.Repository, digest string, platform sdk.Platform) (sdk.ImageConfig, error) {
	if !isDigest(digest) {
		return sdk.ImageConfig{}, sdk.Invalid("digest", "%.140q is not a sha256 or sha512 digest", digest)
	}
	c, err := r.imageConfig(ctx, repo, digest, platform)
	if err != nil {
		return sdk.ImageConfig{}, r.wrap(fmt.Sprintf("read the configuration of %s@%s", repo.Name, short(digest)), repo, err)
	}
	return c, nil
}

func (r *Registry) imageConfig(ctx context.Context, repo registry.Repository, digest string, platform sdk.Platform) (sdk.ImageConfig, error) {
	image, err := r.find(ctx, repo, digest, platform)
	if err != nil {
		return sdk.ImageConfig{}, err
	}
	switch {
	case image.Config == nil:
		return sdk.ImageConfig{}, unsupported("the manifest is of a kind that cannot be read")
	case !isImageConfig(*image.Config):
		return sdk.ImageConfig{}, unsupported("it is no image but %.80q", image.Config.MediaType)
	case image.Config.Size > maxConfig:
		return sdk.ImageConfig{}, unsupported("it has %d bytes, more than the %d that are read", image.Config.Size, maxConfig)
	}
	var read imageConfig
	if err := r.config(ctx, repo, *image.Config, &read); err != nil {
		return sdk.ImageConfig{}, err
	}
	c := read.Config
	config := sdk.ImageConfig{
		User: c.User, Env: c.Env, Entrypoint: c.Entrypoint, Cmd: c.Cmd, WorkingDir: c.WorkingDir, Labels: c.Labels,
		ExposedPorts: slices.Sorted(maps.Keys(c.ExposedPorts)), Volumes: slices.Sorted(maps.Keys(c.Volumes)), StopSignal: c.StopSignal,
		Platform: sdk.Platform{OS: read.OS, Architecture: read.Architecture, Variant: read.Variant},
		Size:     layersSize(image.Layers),
	}
	if len(c.Healthcheck.Test) > 0 && c.Healthcheck.Test[0] != "NONE" {
		config.Healthcheck = c.Healthcheck.Test
	}
	return config, nil
}

func unsupported(format string, args ...any) error {
	return sdk.WithKind(sdk.ErrUnsupported, fmt.Errorf(format, args...))
}

// layersSize is the compressed size of all layers; 0 when the manifest does not say
// it, or says what cannot be. A layer that occurs twice is downloaded once.
func layersSize(list json.RawMessage) int64 {
	var layers []descriptor
	if json.Unmarshal(list, &layers) != nil {
		return 0
	}
	var sum int64
	counted := map[string]bool{}
	for _, l := range layers {
		if counted[l.Digest] {
			continue
		}
		counted[l.Digest] = true
		if l.Size < 0 || sum+l.Size < sum {
			return 0
		}
		sum += l.Size
	}
	return sum
}
