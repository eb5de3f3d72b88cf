package registrytest

import (
	"cmp"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/conform"
	"github.com/dogwatch/dogwatch/sdk/internal/inprocess"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// digestForm is that of OCI image-spec, descriptor.md, "Digests".
var digestForm = regexp.MustCompile(`^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[a-zA-Z0-9=_-]+$`)

// hostForm is a pattern of registry.Host: a host with optional port, in which "*"
// may stand for labels other than the last, or "*".
var hostForm = regexp.MustCompile(`^(\*|((\*|[a-z0-9-]+)\.)*[a-z0-9-]+(:[0-9]+)?|\[[0-9a-f:]+\](:[0-9]+)?)$`)

func (c Case) hosts(t *testing.T, s conform.Subject) {
	client := inprocess.Serve(t, s.Bundle, io.Discard)
	configured, err := inprocess.Configure(t.Context(), client, s.Type, "main", c.Working(t).Options)
	if err != nil {
		t.Fatalf("configure: %v", err)
	}
	if len(configured.Hosts) == 0 {
		t.Error("the instance serves no hosts")
	}
	for _, h := range configured.Hosts {
		if !hostForm.MatchString(h.Pattern) {
			t.Errorf("%q is no host pattern", h.Pattern)
		}
	}
}

func (c Case) responses(t *testing.T, s conform.Subject) {
	service := c.Working(t)
	if service.Digest == "" {
		t.Fatal("say what the tag of the working service stands for in Service.Digest")
	}
	p := conform.Start(t, s, service.situation(s.Type.Capabilities))
	r, ctx, repo := p.Client.Registry(p.ID), t.Context(), service.Repository

	list, err := r.Tags(ctx, repo, "")
	if err != nil {
		t.Fatalf("tags: %v", err)
	}
	if list.NotModified || !slices.Contains(list.Tags, service.Tag) {
		t.Errorf("without a validator, the tags are %+v; want %q among them", list, service.Tag)
	}
	if list.Validator != "" {
		again, err := r.Tags(ctx, repo, list.Validator)
		if err != nil {
			t.Errorf("tags with a validator: %v", err)
		} else if !again.NotModified && !slices.Equal(again.Tags, list.Tags) {
			t.Errorf("the tags changed under their validator: %q, then %q", list.Tags, again.Tags)
		}
	}
	digest, err := r.Resolve(ctx, repo, service.Tag)
	if err != nil || digest != service.Digest {
		t.Errorf("resolve %s: got %q, %v; want %q", service.Tag, digest, err, service.Digest)
	}
	manifest, err := r.Manifest(ctx, repo, service.Digest, service.platform())
	if err != nil {
		t.Fatalf("manifest of %s: %v", service.Digest, err)
	}
	if !digestForm.MatchString(manifest.Digest) || !digestForm.MatchString(manifest.Config) {
		t.Errorf("the manifest lacks its digest or that of its configuration: %+v", manifest)
	}
	c.credentials(t, s, p, repo)
	c.config(t, s, p, service)
	c.described(t, s, p, service)
	c.limits(t, s, p)
}

// described holds what a registry says of its tags to what it resolves them to. An instance
// that cannot tell says so.
func (c Case) described(t *testing.T, s conform.Subject, p *conform.Instance, service Service) {
	for _, tag := range []string{"", service.Tag} {
		tags, err := p.Client.Registry(p.ID).DescribeTags(t.Context(), service.Repository, tag, service.platform())
		if !s.Offers(t, kind.CapTags, "a description of tags", err) {
			return
		}
		for _, described := range tags {
			if described.Name == "" || tag != "" && described.Name != tag ||
				described.Image != "" && !digestForm.MatchString(described.Image) {
				t.Errorf("described as %+v, for %q", described, tag)
			}
			if described.Name == service.Tag && described.Digest != service.Digest {
				t.Errorf("described as %+v; want the digest %s", described, service.Digest)
			}
		}
	}
}

func (c Case) credentials(t *testing.T, s conform.Subject, p *conform.Instance, repo registry.Repository) {
	_, err := p.Client.Registry(p.ID).Credentials(t.Context(), repo)
	if s.Offers(t, kind.CapCredentials, "its credentials", err) && err != nil {
		t.Errorf("credentials: %v", err)
	}
}

func (c Case) config(t *testing.T, s conform.Subject, p *conform.Instance, service Service) {
	config, err := p.Client.Registry(p.ID).ImageConfig(t.Context(), service.Repository, service.Digest, service.platform())
	if !s.Offers(t, kind.CapConfig, "the configuration of an image", err) {
		return
	}
	if err != nil {
		t.Fatalf("configuration of %s: %v", service.Digest, err)
	}
	if want := service.platform(); config.Platform.OS != want.OS || config.Platform.Architecture != want.Architecture {
		t.Errorf("the configuration is of an image for %+v; want %+v", config.Platform, want)
	}
	if config.Size < 0 {
		t.Errorf("the image has a size of %d", config.Size)
	}
}

func (c Case) limits(t *testing.T, s conform.Subject, p *conform.Instance) {
	limits, err := p.Client.Registry(p.ID).Limits(t.Context())
	if s.Offers(t, kind.CapLimits, "its limits", err) && err != nil {
		t.Errorf("limits: %v", err)
	}
	if !slices.IsSortedFunc(limits, func(a, b registry.Limit) int {
		return cmp.Or(strings.Compare(a.Host, b.Host), -1) // a host twice is out of order
	}) {
		t.Errorf("the limits are not one per host, sorted: %+v", limits)
	}
	for _, l := range limits {
		if l.Host == "" || l.Limit < 0 || l.Remaining < 0 || l.Window < 0 || l.Limit > 0 && l.At.IsZero() {
			t.Errorf("a limit that cannot be: %+v", l)
		}
	}
}

func (c Case) missing(t *testing.T, s conform.Subject) {
	service := c.Working(t)
	p := conform.Start(t, s, service.situation(s.Type.Capabilities))
	elsewhere := service.Repository
	elsewhere.Name, elsewhere.ScopeHints = "nosuch/repository", nil
	request := func(name string, do func(pluginclient.RegistryClient) error) {
		t.Helper()
		err := do(p.Client.Registry(p.ID))
		if !errors.Is(err, sdk.ErrNotFound) {
			t.Errorf("%s: got %v, want an sdk.ErrNotFound", name, err)
		}
		if err != nil {
			p.Record("error of "+name, err.Error())
		}
	}
	request("tags of a missing repository", func(r pluginclient.RegistryClient) error {
		_, err := r.Tags(t.Context(), elsewhere, "")
		return err
	})
	request("resolve in a missing repository", func(r pluginclient.RegistryClient) error {
		_, err := r.Resolve(t.Context(), elsewhere, service.Tag)
		return err
	})
	if slices.Contains(s.Type.Capabilities, kind.CapConfig) {
		request("configuration of a missing image", func(r pluginclient.RegistryClient) error {
			_, err := r.ImageConfig(t.Context(), service.Repository, missingDigest, service.platform())
			return err
		})
	}
	request("resolve a missing tag", func(r pluginclient.RegistryClient) error {
		_, err := r.Resolve(t.Context(), service.Repository, "nosuchtag")
		return err
	})
}
