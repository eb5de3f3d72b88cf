package oci

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Probe implements sdk.Prober: it resolves an image to its digest, which does not
// count as a pull where the registry tells the two apart. Without an image it takes
// the PublicImage, or one that the registry does not have: to say so, it must respond.
func (r *Registry) Probe(ctx context.Context, req sdk.ProbeRequest) (sdk.ProbeResult, error) {
	image, chosen := req.Image, req.Image == ""
	if chosen {
		var err error
		if image, err = r.imageToProbe(); err != nil {
			return sdk.ProbeResult{}, err
		}
	}
	ref, err := reference.Parse(image)
	if err != nil {
		return sdk.ProbeResult{}, sdk.Invalid("image", "%v", err)
	}
	repo := registry.Repository{Host: ref.Domain, Name: ref.Path, ScopeHints: []string{ref.Path}}
	digest, err := r.resolve(ctx, repo, cmp.Or(ref.Digest, ref.Tag, "latest"))
	if err == nil {
		return sdk.ProbeResult{Summary: fmt.Sprintf("%s is %s", image, digest)}, nil
	}
	err = r.wrap("find the digest of "+strings.TrimPrefix(image, ref.Domain+"/"), repo, err)
	switch {
	case errors.Is(err, sdk.ErrNotFound) && chosen:
		return sdk.ProbeResult{Summary: "it answers; name an image of it to see one"}, nil
	case errors.Is(err, sdk.ErrUnauthorized) && chosen:
		err = fmt.Errorf("%w (many registries answer so for images they do not have: name an image of yours to be sure)", err)
	}
	return sdk.ProbeResult{}, err
}

// imageToProbe returns an image of a host that the registry serves.
func (r *Registry) imageToProbe() (string, error) {
	if ref, err := reference.Parse(r.PublicImage); err == nil &&
		slices.ContainsFunc(r.Config.Hosts, func(h registry.Host) bool { return h.Serves(ref.Domain) }) {
		return r.PublicImage, nil
	}
	i := slices.IndexFunc(r.Config.Hosts, func(h registry.Host) bool { return !strings.Contains(h.Pattern, "*") })
	if i < 0 {
		return "", sdk.WithKind(sdk.ErrUnsupported, errors.New("it serves many hosts: name an image to ask it for"))
	}
	return r.Config.Hosts[i].Pattern + "/dogwatch/test:latest", nil
}
