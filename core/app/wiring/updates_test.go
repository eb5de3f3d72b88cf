package wiring

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// memory is a cache.
type memory map[string][]byte

func (m memory) Get(_ context.Context, key string) (string, []byte, bool) {
	body, found := m[key]
	return "", body, found
}
func (m memory) Put(_ context.Context, key, _ string, body []byte) { m[key] = body }

// TestImageConfigIsRequestedOnce: what the cache has is not requested, and a registry that
// cannot tell is not requested at all. There is nothing to make a request with: it would panic.
func TestImageConfigIsRequestedOnce(t *testing.T) {
	repo := registry.Repository{Host: "docker.io", Name: "library/nginx"}
	platform := sdk.Platform{OS: "linux", Architecture: "arm", Variant: "v7"}
	body, err := json.Marshal(sdk.ImageConfig{User: "app"})
	if err != nil {
		t.Fatal(err)
	}
	cache := memory{"image config docker.io/library/nginx@sha256:new linux/arm/v7": body}
	able := imageRegistry{&component.Registry{Component: component.Component{Capabilities: []string{kind.CapConfig}}},
		cache, nil}
	got, err := able.ImageConfig(t.Context(), repo, "sha256:new", platform)
	if err != nil || got == nil || got.User != "app" {
		t.Errorf("from the cache: %+v, %v", got, err)
	}
	unable := imageRegistry{&component.Registry{}, cache, nil}
	if got, err := unable.ImageConfig(t.Context(), repo, "sha256:new", platform); err != nil || got != nil {
		t.Errorf("without the capability: %+v, %v", got, err)
	}
	if got, err := unable.Credentials(t.Context(), repo); err != nil || fmt.Sprint(got) != fmt.Sprint(sdk.Credentials{}) {
		t.Errorf("credentials without the capability: %v, %v", got, err)
	}
}
