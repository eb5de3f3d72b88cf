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
func (r *Registry) ImageConfig(
	ctx context.Context, repo registry.Repository, digest string, platform sdk.Platform,
) (sdk.ImageConfig, error) {
	if !isDigest(digest) {
		return sdk.ImageConfig{}, sdk.Invalid("digest", "%.140q is not a sha256 or sha512 digest", digest)
	}
	c, err := r.imageConfig(ctx, repo, digest, platform)
	if err != nil {
		return sdk.ImageConfig{}, r.wrap(fmt.Sprintf("read the configuration of %s@%s", repo.Name, short(digest)), repo, err)
	}
	return c, nil
}

func (r *Registry) imageConfig(
	ctx context.Context, repo registry.Repository, digest string, platform sdk.Platform,
) (sdk.ImageConfig, error) {
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
		ExposedPorts: slices.Sorted(maps.Keys(c.ExposedPorts)), Volumes: slices.Sorted(maps.Keys(c.Volumes)),
		StopSignal: c.StopSignal,
		Platform:   sdk.Platform{OS: read.OS, Architecture: read.Architecture, Variant: read.Variant},
		Base:       image.Annotations[baseAnnotation],
	}
	config.Layers, config.Size = layers(image.Layers)
	if len(c.Healthcheck.Test) > 0 && c.Healthcheck.Test[0] != "NONE" {
		config.Healthcheck = c.Healthcheck.Test
	}
	return config, nil
}

func unsupported(format string, args ...any) error {
	return sdk.WithKind(sdk.ErrUnsupported, fmt.Errorf(format, args...))
}

// maxLayers is how many layers an image has at most; engines take 127.
const maxLayers = 500

// layers are the layers of an image and their compressed size; nil and 0 when the
// manifest does not say it, or says what cannot be. A layer that occurs twice is
// downloaded once, and is in the list once.
func layers(list json.RawMessage) ([]sdk.Layer, int64) {
	var all []descriptor
	if json.Unmarshal(list, &all) != nil || len(all) > maxLayers {
		return nil, 0
	}
	var found []sdk.Layer
	var sum int64
	counted := map[string]bool{}
	for _, l := range all {
		if counted[l.Digest] {
			continue
		}
		counted[l.Digest] = true
		if l.Size < 0 || sum+l.Size < sum {
			return nil, 0
		}
		sum += l.Size
		found = append(found, sdk.Layer{Digest: l.Digest, Size: l.Size})
	}
	return found, sum
}
