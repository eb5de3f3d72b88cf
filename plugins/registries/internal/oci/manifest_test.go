package oci

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestResolve(t *testing.T) {
	sim, r := newSim(registrysim.Options{Auth: registrysim.Token})
	image, _ := sim.Image("team/app", "1.1.0")
	for range 2 {
		got, err := r.Resolve(t.Context(), app(), "1.1.0")
		if err != nil || got != image.Digest {
			t.Errorf("%q, %v; want %q", got, err, image.Digest)
		}
	}
	if got := sim.Counts(); got.Manifests != 0 || got.Heads != 3 || got.Tokens != 1 {
		t.Errorf("%+v, want no pull", got)
	}
	// HEAD works here, so its 404 is believed.
	_, err := r.Resolve(t.Context(), app(), "none")
	checkKind(t, err, sdk.ErrNotFound)
	if want := "find the digest of team/app:none at sim.test: 404 not found"; err == nil || err.Error() != want || sim.Counts().Manifests != 0 {
		t.Errorf("error %v, %+v; want %q", err, sim.Counts(), want)
	}
	_, err = r.Resolve(t.Context(), app(), "no tag")
	if err == nil || !strings.Contains(err.Error(), "not a tag") {
		t.Errorf("error %v", err)
	}
}

// Registries that do not answer HEAD as they should are asked with GET, from then on at once.
func TestResolveWithoutHead(t *testing.T) {
	for name, head := range map[string]http.HandlerFunc{
		"405": registrysim.Status(405, ""), "404": registrysim.Status(404, ""), "501": registrysim.Status(501, ""),
		"no digest": registrysim.Status(200, ""), "odd digest": registrysim.Status(200, "", digestHeader, "sha256:abc"),
	} {
		t.Run(name, func(t *testing.T) {
			sim, r := newSim(registrysim.Options{})
			sim.Inject(registrysim.HeadRequest, -1, head)
			image, _ := sim.Image("team/app", "latest")
			for range 2 {
				got, err := r.Resolve(t.Context(), app(), "latest")
				if err != nil || got != image.Digest {
					t.Errorf("%q, %v; want %q", got, err, image.Digest)
				}
			}
			if got := sim.Counts(); got.Heads != 1 || got.Manifests != 2 {
				t.Errorf("%+v", got)
			}
			_, err := r.Resolve(t.Context(), app(), "none")
			checkKind(t, err, sdk.ErrNotFound)
		})
	}
	// A refusal that GET would meet too.
	sim, r := newSim(registrysim.Options{})
	sim.Inject(registrysim.Any, -1, registrysim.Status(500, ""))
	_, err := r.Resolve(t.Context(), app(), "latest")
	checkKind(t, err, sdk.ErrUnavailable)
	if sim.Counts().Total != 1 {
		t.Errorf("%+v", sim.Counts())
	}
}

func TestManifest(t *testing.T) {
	sim, r := newSim(registrysim.Options{Auth: registrysim.Token})
	image, _ := sim.Image("team/app", "latest")
	for _, want := range image.Platforms {
		for _, digest := range []string{image.Digest, want.Digest} {
			got, err := r.Manifest(t.Context(), app(), digest, want.Platform)
			if err != nil || got.Digest != want.Digest || got.Config != want.Config || !got.Created.Equal(want.Created) {
				t.Errorf("%v of %s: %+v, %v; want %+v", want.Platform, digest, got, err, want)
			}
		}
	}
	// Without the configuration, only the date is missing.
	sim.Inject(registrysim.BlobRequest, -1, registrysim.Status(500, ""))
	got, err := r.Manifest(t.Context(), app(), image.Digest, image.Platforms[0].Platform)
	if err != nil || got.Config != image.Platforms[0].Config || !got.Created.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}

	_, err = r.Manifest(t.Context(), app(), image.Digest, sdk.Platform{OS: "linux", Architecture: "riscv64"})
	checkKind(t, err, sdk.ErrNotFound)
	if want := "no image for linux/riscv64; there is linux/amd64, linux/arm/v7, linux/arm64"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	_, err = r.Manifest(t.Context(), app(), "sha256:"+strings.Repeat("0", 64), sdk.Platform{})
	checkKind(t, err, sdk.ErrNotFound)
	if _, err = r.Manifest(t.Context(), app(), "latest", sdk.Platform{}); err == nil {
		t.Error("a tag is taken for a digest")
	}
}

// store serves documents by digest, as one content type.
type store struct {
	documents   map[string]string
	contentType string
}

func (s *store) add(document string) string {
	if s.documents == nil {
		s.documents = map[string]string{}
	}
	digest := digestOf([]byte(document), "")
	s.documents[digest] = document
	return digest
}

func (s *store) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	digest := req.URL.Path[strings.LastIndexByte(req.URL.Path, '/')+1:]
	document, known := s.documents[digest]
	if !known {
		w.WriteHeader(404)
		return
	}
	w.Header().Set("Content-Type", s.contentType)
	w.Write([]byte(document))
}

// Manifests as registries and builders really write them.
func TestManifestForms(t *testing.T) {
	config := digestOf([]byte("config"), "")
	image := func(mediaType, extra string) string {
		return fmt.Sprintf(`{"schemaVersion":2%s,"config":{"mediaType":"application/octet-stream","digest":%q,"size":6},"layers":[]%s}`, mediaType, config, extra)
	}
	annotated := image("", `,"annotations":{"org.opencontainers.image.created":"2025-03-04T05:06:07Z"}`)
	tests := []struct {
		name, contentType string
		build             func(s *store) string
		created, want     string
	}{
		{"docker", typeDockerManifest, func(s *store) string { return s.add(image(`,"mediaType":"`+typeDockerManifest+`"`, "")) }, "", ""},
		{"no media type, as OCI allows", typeOCIManifest, func(s *store) string { return s.add(image("", "")) }, "", ""},
		{"nothing but its shape", "", func(s *store) string { return s.add(image("", "")) }, "", ""},
		{"wrong content type", "text/plain; charset=utf-8", func(s *store) string { return s.add(image(`,"mediaType":"`+typeOCIManifest+`"`, "")) }, "", ""},
		{"annotation", "application/json", func(s *store) string { return s.add(annotated) }, "2025-03-04T05:06:07.000Z", ""},
		{"annotated entry", "", func(s *store) string {
			return s.add(fmt.Sprintf(`{"manifests":[{"digest":%q,"platform":{"os":"linux","architecture":"amd64"},"annotations":{"org.opencontainers.image.created":"2024-01-01T00:00:00+01:00"}}]}`, s.add(image("", ""))))
		}, "2023-12-31T23:00:00.000Z", ""},
		{"nested", "", func(s *store) string {
			inner := s.add(fmt.Sprintf(`{"manifests":[{"digest":%q,"platform":{"os":"linux","architecture":"amd64"}}]}`, s.add(image("", ""))))
			return s.add(fmt.Sprintf(`{"manifests":[{"digest":%q}]}`, inner))
		}, "", ""},
		{"nested for ever", "", func(s *store) string {
			digest := s.add(image("", ""))
			for range maxNesting {
				digest = s.add(fmt.Sprintf(`{"manifests":[{"digest":%q}]}`, digest))
			}
			return digest
		}, "", "nested deeper than 3"},
		{"legacy", "application/vnd.docker.distribution.manifest.v1+prettyjws", func(s *store) string {
			return s.add(`{"schemaVersion":1,"name":"a","fsLayers":[{"blobSum":"x"}],"history":[{"v1Compatibility":"{}"}]}`)
		}, "", "unsupported legacy manifest (schema 1)"},
		{"legacy by its shape", "application/json", func(s *store) string { return s.add(`{"schemaVersion":1,"fsLayers":[]}`) }, "", "unsupported legacy manifest"},
		{"neither", typeOCIManifest, func(s *store) string { return s.add(`{"schemaVersion":2}`) }, "", "neither a manifest nor an index"},
		{"index that is none", typeOCIIndex, func(s *store) string { return s.add(image("", "")) }, "", "no image for linux/amd64; there is nothing"},
		{"malformed digests", "", func(s *store) string { return s.add(`{"manifests":[{"digest":"../../etc"}]}`) }, "", "malformed digest"},
		{"malformed config", "", func(s *store) string { return s.add(`{"config":{"digest":"sha256:x"}}`) }, "", "neither"},
		{"other content", "", func(s *store) string {
			digest := s.add(image("", ""))
			s.documents[digest] = annotated
			return digest
		}, "", "answered other content (sha256:"},
		{"truncated", "", func(s *store) string { return s.add(`{"schemaVersion":2,"conf`) }, "", "malformed JSON"},
		{"list", "", func(s *store) string { return s.add(`[]`) }, "", "malformed JSON"},
		{"web page", "text/html", func(s *store) string { return s.add(`<html>`) }, "", "web page"},
		{"huge", "", func(s *store) string { return s.add(strings.Repeat(" ", maxManifest+1)) }, "", "too large"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := &store{contentType: test.contentType}
			digest := test.build(s)
			got, err := newRegistry(internet{simHost: s}).Manifest(t.Context(), app(), digest, sdk.Platform{Architecture: "amd64"})
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%+v, error %v; want %q", got, err, test.want)
				}
				return
			}
			if err != nil || got.Config != config || got.Created.String() != test.created {
				t.Errorf("%+v, %v; want %s, %q", got, err, config, test.created)
			}
		})
	}
}

func TestSHA512(t *testing.T) {
	body := `{"config":{"digest":"` + digestOf(nil, "") + `"}}`
	digest := digestOf([]byte(body), "sha512:")
	s := &store{documents: map[string]string{digest: body}}
	if got, err := newRegistry(internet{simHost: s}).Manifest(t.Context(), app(), digest, sdk.Platform{}); err != nil || got.Digest != digest {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestChoose(t *testing.T) {
	tests := []struct{ want, has, chosen string }{
		{"linux/amd64", "linux/arm64 linux/amd64", "linux/amd64"},
		{"linux/amd64/v1", "linux/amd64", "linux/amd64"},
		{"linux/amd64", "linux/amd64/v3 linux/amd64/v1", "linux/amd64/v1"},
		{"linux/amd64", "linux/amd64/v2", ""},
		{"linux/amd64/v3", "linux/amd64 linux/amd64/v2 linux/amd64/v4", "linux/amd64/v2"},
		{"linux/x86_64", "linux/amd64", "linux/amd64"},
		{"Linux/AMD64", "linux/amd64", "linux/amd64"},
		{"/amd64", "linux/amd64", "linux/amd64"},
		{"linux/arm64", "linux/arm64/v8", "linux/arm64/v8"},
		{"linux/aarch64/8", "linux/arm64", "linux/arm64"},
		{"linux/arm64/v8", "linux/arm64/v9", ""},
		{"linux/arm/v7", "linux/arm/v5 linux/arm/v6 linux/arm/v7", "linux/arm/v7"},
		{"linux/arm/v7", "linux/arm/v5 linux/arm/v6", "linux/arm/v6"},
		{"linux/arm/v7", "linux/arm/v5", "linux/arm/v5"},
		{"linux/arm/v6", "linux/arm/v7", ""},
		{"linux/arm/v5", "linux/arm/v7 linux/arm/v6", ""},
		{"linux/arm", "linux/arm/v6 linux/arm/v7", "linux/arm/v7"},
		{"linux/armhf", "linux/arm/v7", "linux/arm/v7"},
		{"linux/armel", "linux/arm/v6", "linux/arm/v6"},
		{"linux/arm/v7", "linux/arm/odd", ""},
		{"windows/amd64", "linux/amd64 windows/amd64 windows/amd64", "windows/amd64"},
		{"linux/amd64", "unknown/unknown linux/amd64", "linux/amd64"},
		{"unknown/unknown", "unknown/unknown linux/amd64", ""},
		{"linux/386", "linux/amd64 linux/386", "linux/386"},
		{"linux/s390x", "-", "-"},
		{"linux/s390x", "- linux/amd64", ""},
		{"linux", "linux/s390x linux/amd64", "linux/s390x"},
		{"linux/amd64", "", ""},
	}
	for _, test := range tests {
		var entries []descriptor
		for text := range strings.FieldsSeq(test.has) {
			e := descriptor{Digest: text}
			if text != "-" {
				p := platform(text)
				e.Platform = &p
			}
			entries = append(entries, e)
		}
		got, err := choose(entries, platform(test.want))
		if got.Digest != test.chosen || (err == nil) != (test.chosen != "") {
			t.Errorf("%s of %q: %q, %v; want %q", test.want, test.has, got.Digest, err, test.chosen)
		}
		if err != nil {
			checkKind(t, err, sdk.ErrNotFound)
		}
	}
}

func platform(text string) sdk.Platform {
	parts := append(strings.Split(text, "/"), "", "")
	return sdk.Platform{OS: parts[0], Architecture: parts[1], Variant: parts[2]}
}

// Blobs lie elsewhere, and that place must not see credentials.
func TestBlobsElsewhere(t *testing.T) {
	config := `{"created":"2025-01-02T03:04:05Z"}`
	s := &store{}
	digest := s.add(fmt.Sprintf(`{"config":{"mediaType":%q,"digest":%q,"size":35}}`, typeDockerConfig, digestOf([]byte(config), "")))
	storage := &seen{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(config)) })}
	front := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch user, _, _ := req.BasicAuth(); {
		case user == "":
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(401)
		case strings.Contains(req.URL.Path, "/blobs/"):
			http.Redirect(w, req, "http://storage.test/bucket?signature=s3cret-signature", http.StatusTemporaryRedirect)
		default:
			s.ServeHTTP(w, req)
		}
	})
	r := newRegistry(internet{simHost: front, "storage.test": storage}, withLogin("ann", "s3cret"))
	got, err := r.Manifest(t.Context(), app(), digest, sdk.Platform{})
	if err != nil || got.Created.String() != "2025-01-02T03:04:05.000Z" || len(storage.got) != 0 {
		t.Errorf("%+v, %v, sent %q", got, err, storage.got)
	}
}
