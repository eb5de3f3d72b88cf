package oci

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestImageConfig(t *testing.T) {
	sim, r := newSim(registrysim.Options{Auth: registrysim.Token, Config: func(repo string, _ int) map[string]any {
		return map[string]any{
			"User": "app", "Env": []string{"PATH=/bin", "REPO=" + repo}, "Entrypoint": []string{"/app"}, "Cmd": nil,
			"WorkingDir":   "/srv",
			"Labels":       map[string]string{"a": "b"},
			"ExposedPorts": map[string]any{"80/tcp": struct{}{}, "443/tcp": struct{}{}},
			"Volumes":      map[string]any{"/data": struct{}{}}, "StopSignal": "SIGINT",
			"Healthcheck": map[string]any{"Test": []string{"CMD", "/app", "-ok"}, "Interval": 1000000000},
		}
	}})
	image, _ := sim.Image("team/app", "latest")
	for _, platform := range image.Platforms {
		for _, digest := range []string{image.Digest, platform.Digest} {
			got, err := r.ImageConfig(t.Context(), app(), digest, platform.Platform)
			if got.Size <= 0 || len(got.Layers) != 2 || got.Layers[0].Size+got.Layers[1].Size != got.Size ||
				!isDigest(got.Layers[0].Digest) {
				t.Errorf("%v: the size is %d, the layers are %v", platform.Platform, got.Size, got.Layers)
			}
			want := sdk.ImageConfig{
				User: "app", Env: []string{"PATH=/bin", "REPO=team/app"}, Entrypoint: []string{"/app"},
				WorkingDir: "/srv", Labels: map[string]string{"a": "b"},
				ExposedPorts: []string{"443/tcp", "80/tcp"}, Volumes: []string{"/data"}, StopSignal: "SIGINT",
				Healthcheck: []string{"CMD", "/app", "-ok"},
				Platform:    platform.Platform, Size: got.Size, Layers: got.Layers,
			}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v of %s:\ngot  %+v, %v\nwant %+v", platform.Platform, digest, got, err, want)
			}
		}
	}
	_, err := r.ImageConfig(t.Context(), app(), image.Digest, sdk.Platform{OS: "linux", Architecture: "riscv64"})
	checkKind(t, err, sdk.ErrNotFound)
	if err == nil ||
		!strings.HasSuffix(err.Error(), "no image for linux/riscv64; there is linux/amd64, linux/arm/v7, linux/arm64") {
		t.Errorf("error %v", err)
	}
	_, err = r.ImageConfig(t.Context(), app(), "sha256:"+strings.Repeat("0", 64), sdk.Platform{})
	checkKind(t, err, sdk.ErrNotFound)
	if _, err = r.ImageConfig(t.Context(), app(), "latest", sdk.Platform{}); err == nil {
		t.Error("a tag is taken for a digest")
	}
}

// What a plan costs: the configuration by the digest that a check has found needs no
// index, and the token serves everything.
func TestImageConfigRequestCount(t *testing.T) {
	sim, r := newSim(registrysim.Options{Auth: registrysim.Token})
	image, _ := sim.Image("team/app", "latest")
	if _, err := r.Resolve(t.Context(), app(), "latest"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		digest    string
		manifests int
	}{{image.Digest, 2}, {image.Platforms[0].Digest, 1}} {
		sim.ResetCounts()
		if _, err := r.ImageConfig(t.Context(), app(), test.digest, image.Platforms[0].Platform); err != nil {
			t.Error(err)
		}
		if got := sim.Counts(); got.Total != test.manifests+1 || got.Manifests != test.manifests || got.Blobs != 1 ||
			got.Tokens != 0 {
			t.Errorf("%s: %+v, want %d manifests and the configuration", test.digest, got, test.manifests)
		}
	}
}

func TestImageConfigFormats(t *testing.T) {
	const healthy = `{"os":"linux","architecture":"amd64","config":{"Env":["A=b"]}}`
	manifest := func(mediaType, digest, rest string) string {
		return fmt.Sprintf(`{"schemaVersion":2,"config":{"mediaType":%q,"digest":%q,"size":6}%s}`, mediaType, digest, rest)
	}
	tests := []struct {
		name  string
		build func(s *store) string
		kind  error
		want  string // the size, the health check, how many layers and the base, or a part of the error
	}{
		{"docker", func(s *store) string {
			return s.add(manifest(typeDockerConfig, s.add(healthy),
				`,"layers":[{"digest":"a","size":5},{"digest":"b","size":7}],"annotations":{"org.opencontainers.image.base.name":"debian:12"}`))
		}, nil, "12 [] 2 debian:12"},
		{"OCI", func(s *store) string {
			return s.add(manifest(typeOCIConfig, s.add(healthy), `,"layers":[{"digest":"a","size":5},{"digest":"a","size":5}]`))
		}, nil, "5 [] 1 "},
		{"a health check that was taken away", func(s *store) string {
			return s.add(manifest(typeOCIConfig, s.add(`{"config":{"Healthcheck":{"Test":["NONE"]}}}`), ""))
		}, nil, "0 [] 0 "},
		{"sizes that cannot be", func(s *store) string {
			return s.add(manifest(typeOCIConfig, s.add(healthy), `,"layers":[{"digest":"a","size":-5}]`))
		}, nil, "0 [] 0 "},
		{"sizes that overflow", func(s *store) string {
			return s.add(manifest(typeOCIConfig, s.add(healthy),
				`,"layers":[{"digest":"a","size":9223372036854775807},{"digest":"b","size":1}]`))
		}, nil, "0 [] 0 "},
		{"more layers than can be", func(s *store) string {
			return s.add(manifest(typeOCIConfig, s.add(healthy), `,"layers":[{}`+strings.Repeat(",{}", maxLayers)+`]`))
		}, nil, "0 [] 0 "},
		{"layers that are none", func(s *store) string {
			return s.add(manifest(typeOCIConfig, s.add(healthy), `,"layers":"many"`))
		}, nil, "0 [] 0 "},
		{"no config at all", func(s *store) string {
			return s.add(manifest(typeOCIConfig, s.add(`{}`), ""))
		}, nil, "0 [] 0 "},
		{"schema 1", func(s *store) string {
			return s.add(`{"schemaVersion":1,"fsLayers":[]}`)
		}, sdk.ErrUnsupported, "cannot be read"},
		{"a chart", func(s *store) string {
			return s.add(manifest("application/vnd.cncf.helm.config.v1+json", s.add(healthy), ""))
		}, sdk.ErrUnsupported, "helm"},
		{"a huge one that says so", func(s *store) string {
			return s.add(fmt.Sprintf(`{"config":{"mediaType":%q,"digest":%q,"size":9999999}}`, typeOCIConfig, s.add(healthy)))
		}, sdk.ErrUnsupported, "9999999 bytes"},
		{"a huge one that does not", func(s *store) string {
			return s.add(manifest(typeOCIConfig, s.add(healthy+strings.Repeat(" ", maxConfig)), ""))
		}, sdk.ErrUnavailable, "too large"},
		{"other content", func(s *store) string {
			digest := s.add(healthy)
			s.documents[digest] = `{}`
			return s.add(manifest(typeOCIConfig, digest, ""))
		}, sdk.ErrUnavailable, "answered other content"},
		{"no JSON", func(s *store) string {
			return s.add(manifest(typeOCIConfig, s.add(`config`), ""))
		}, sdk.ErrUnavailable, "cannot be read"},
		{"an index without the configuration", func(s *store) string {
			return s.add(manifest(typeOCIConfig, digestOf([]byte("gone"), ""), ""))
		}, sdk.ErrNotFound, "404"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := &store{}
			digest := test.build(s)
			got, err := newRegistry(internet{simHost: s}).ImageConfig(t.Context(), app(), digest, sdk.Platform{
				Architecture: "amd64",
			})
			if test.kind != nil {
				checkKind(t, err, test.kind)
				if err != nil && !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %v, want %q", err, test.want)
				}
				return
			}
			if text := fmt.Sprintf("%d %v %d %s", got.Size, got.Healthcheck, len(got.Layers), got.Base); err != nil ||
				text != test.want {
				t.Errorf("%s, %v; want %s", text, err, test.want)
			}
		})
	}
}
