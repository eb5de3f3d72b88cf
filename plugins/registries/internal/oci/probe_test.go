package oci

import (
	"errors"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

func TestProbeResolvesTheImage(t *testing.T) {
	_, r := newSim(registrysim.Options{})
	host := r.Config.Hosts[0].Pattern
	digest, err := r.Resolve(t.Context(), app(), "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	for image, want := range map[string]string{
		host + "/team/app:1.0.0":     host + "/team/app:1.0.0 is " + digest,
		host + "/team/app@" + digest: host + "/team/app@" + digest + " is " + digest,
	} {
		found, err := r.Probe(t.Context(), sdk.ProbeRequest{Image: image})
		if err != nil || found.Summary != want {
			t.Errorf("%s: %+v, %v", image, found, err)
		}
	}
	if _, err := r.Probe(t.Context(), sdk.ProbeRequest{Image: host + "/team/app:none"}); !errors.Is(err, sdk.ErrNotFound) {
		t.Errorf("a missing tag: %v", err)
	}
	var invalid *sdk.InvalidError
	if _, err := r.Probe(t.Context(), sdk.ProbeRequest{Image: "UPPER"}); !errors.As(err, &invalid) {
		t.Errorf("no image: %v", err)
	}
	// Without an image, a registry that says that it does not have one responds.
	found, err := r.Probe(t.Context(), sdk.ProbeRequest{})
	if err != nil || !strings.HasPrefix(found.Summary, "it answers") {
		t.Errorf("of its own choice: %+v, %v", found, err)
	}
	r.PublicImage = host + "/team/app:1.0.0"
	if found, err := r.Probe(t.Context(), sdk.ProbeRequest{}); err != nil || !strings.HasSuffix(found.Summary, digest) {
		t.Errorf("of its public image: %+v, %v", found, err)
	}
	r.Config.Hosts = []registry.Host{{Pattern: "*"}}
	r.PublicImage = ""
	if _, err := r.Probe(t.Context(), sdk.ProbeRequest{}); !errors.Is(err, sdk.ErrUnsupported) {
		t.Errorf("for every host: %v", err)
	}
}
