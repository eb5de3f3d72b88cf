package registries_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/registrytest"
)

// typeOf returns a type that shares nothing with those of other calls.
func typeOf(t testing.TB, name string) registry.Type {
	t.Helper()
	types := registries.Types()
	i := slices.IndexFunc(types, func(typ registry.Type) bool { return typ.Name == name })
	if i < 0 {
		t.Fatalf("there is no type %q", name)
	}
	return types[i]
}

func start(t testing.TB, sim *registrysim.Registry) *registrysim.Server {
	t.Helper()
	server, err := sim.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

const (
	user   = "ann"
	secret = "recognisable-s3cret"
	// auth is base64 of both.
	auth = "YW5uOnJlY29nbmlzYWJsZS1zM2NyZXQ="
)

func TestConformance(t *testing.T) {
	both := func(more ...registrytest.Invalid) []registrytest.Invalid {
		return append(more,
			registrytest.Invalid{Field: "url", Set: map[string]any{"url": "ftp://registry.test"}},
			registrytest.Invalid{Field: "url", Set: map[string]any{"url": "https://ann:pass@registry.test"}},
			registrytest.Invalid{Field: "proxy", Set: map[string]any{"proxy": "gopher://proxy.test"}},
			registrytest.Invalid{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nowhere.pem"}})
	}
	tests := []struct {
		typ     string
		host    string // of image references; the server's own when empty
		user    string // as the registry sees it; ann when empty
		options map[string]any
		invalid []registrytest.Invalid
	}{
		{typ: "hub", host: "docker.io", options: map[string]any{"login": user, "password": secret}, invalid: both(
			registrytest.Invalid{Field: "login", Set: map[string]any{"login": nil}},
			registrytest.Invalid{Field: "password", Set: map[string]any{"password": nil}},
			registrytest.Invalid{Field: "auth", Set: map[string]any{"auth": auth}},
			registrytest.Invalid{Field: "auth", Set: map[string]any{"login": nil, "password": nil, "auth": "not-base64-s3cret"}})},
		{typ: "hub", host: "index.docker.io", options: map[string]any{"login": user, "token": secret}},
		{typ: "hub", host: "docker.io", options: map[string]any{"auth": auth, "watchdigest": "true", "suppressdigestwatchwarning": true}},
		{typ: "ghcr", host: "ghcr.io", options: map[string]any{"username": user, "token": secret}, invalid: both(
			registrytest.Invalid{Field: "token", Set: map[string]any{"token": nil}},
			registrytest.Invalid{Field: "username", Set: map[string]any{"username": nil}})},
		{typ: "quay", host: "quay.io", user: "team+ann", options: map[string]any{"namespace": "team", "account": user, "token": secret}, invalid: both(
			registrytest.Invalid{Field: "token", Set: map[string]any{"token": nil}},
			registrytest.Invalid{Field: "account", Set: map[string]any{"account": nil}},
			registrytest.Invalid{Field: "namespace", Set: map[string]any{"namespace": nil}})},
		{typ: "custom", options: map[string]any{"login": user, "password": secret}, invalid: both(
			registrytest.Invalid{Field: "password", Set: map[string]any{"password": nil}})},
		{typ: "custom", options: map[string]any{"auth": auth}},
		{typ: "oci", options: map[string]any{}},
	}
	for _, test := range tests {
		t.Run(test.typ, func(t *testing.T) {
			service := func(url string) registrytest.Service {
				options := map[string]any{}
				for k, v := range test.options {
					options[k] = v
				}
				if test.typ != "oci" {
					options["url"] = url
				}
				host := test.host
				if host == "" {
					host = strings.TrimPrefix(url, "http://")
				}
				return registrytest.Service{
					Options:    options,
					Repository: registry.Repository{Host: host, Name: "library/nginx", Together: []string{"library/nginx", "library/redis"}},
					Tag:        "1.25.3",
				}
			}
			account := user
			if test.user != "" {
				account = test.user
			}
			registrytest.Run(t, typeOf(t, test.typ), registrytest.Case{
				Working: func(t *testing.T) registrytest.Service {
					sim := registrysim.New(registrysim.Options{
						Auth: registrysim.Token, ETags: true, Users: map[string]string{account: secret},
						Private: func(string) bool { return test.typ != "oci" },
					})
					sim.Push("library/nginx", "1.25.3", "1.25.4")
					s := service(start(t, sim).URL)
					image, _ := sim.Image("library/nginx", s.Tag)
					s.Digest = image.Digest
					return s
				},
				Hanging: func(t *testing.T, reached func()) registrytest.Service {
					return service(plugintest.Hanging(t, reached))
				},
				Failing: registrytest.HTTPFailures(service),
				Invalid: test.invalid,
			})
		})
	}
}
