package oci

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
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
	if want := "find the digest of team/app:none at sim.test: 404 not found"; err == nil || err.Error() != want ||
		sim.Counts().Manifests != 0 {
		t.Errorf("error %v, %+v; want %q", err, sim.Counts(), want)
	}
	_, err = r.Resolve(t.Context(), app(), "no tag")
	if err == nil || !strings.Contains(err.Error(), "not a tag") {
		t.Errorf("error %v", err)
	}
}

// A registry that does not support HEAD gets GET requests, from then on at once.
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

// TestDockerHubGetsNoGetForAFailedHead, which would be a pull.
func TestDockerHubGetsNoGetForAFailedHead(t *testing.T) {
	for _, status := range []int{400, 404, 405, 500} {
		sim := registrysim.New(registrysim.Options{})
		pushAll(sim, "team/app")
		r := newRegistry(internet{dockerHub: sim}, func(c *Config) {
			c.Hosts = []registry.Host{{Pattern: "docker.io", URL: "http://" + dockerHub + "/v2"}}
		})
		sim.Inject(registrysim.HeadRequest, 1, registrysim.Status(status, ""))
		repo := registry.Repository{Host: "docker.io", Name: "team/app"}
		_, err := r.Resolve(t.Context(), repo, "1.0")
		if got := sim.Counts(); err == nil || got.Manifests > 0 || got.Heads != 1 {
			t.Errorf("%d: %v after %+v", status, err, got)
		}
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
	if want := "no image for linux/riscv64; there is linux/amd64, linux/arm/v7, linux/arm64"; err == nil ||
		!strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	_, err = r.Manifest(t.Context(), app(), "sha256:"+strings.Repeat("0", 64), sdk.Platform{})
	checkKind(t, err, sdk.ErrNotFound)
	if _, err = r.Manifest(t.Context(), app(), "latest", sdk.Platform{}); err == nil {
		t.Error("a tag is taken for a digest")
	}
}

// The version costs no request: it is in what is read for the date.
func TestManifestVersion(t *testing.T) {
	labels := map[string]string{versionLabel: "1.27.3"}
	sim, r := newSim(registrysim.Options{
		Config: func(string, int) map[string]any { return map[string]any{"Labels": labels} },
	})
	image, _ := sim.Image("team/app", "latest")
	sim.ResetCounts()
	m, err := r.Manifest(t.Context(), app(), image.Digest, image.Platforms[0].Platform)
	if got := sim.Counts(); err != nil || m.Version != "1.27.3" || got.Total != 3 || got.Manifests != 2 || got.Blobs != 1 {
		t.Errorf("%+v, %v, after %+v", m, err, got)
	}

	s := &store{}
	annotated := s.add(fmt.Sprintf(`{"config":{"mediaType":%q,"digest":%q,"size":6},"annotations":{"org.opencontainers.image.created":"2025-03-04T05:06:07Z",%q:"2.0.0"}}`,
		typeOCIConfig, digestOf([]byte("not there"), ""), versionLabel))
	inherited := s.add(fmt.Sprintf(`{"config":{"mediaType":%q,"digest":%q,"size":6}}`,
		typeOCIConfig, s.add(fmt.Sprintf(`{"config":{"Labels":{%q:"22.04",%q:"ubuntu"}}}`, versionLabel, refNameLabel))))
	for digest, want := range map[string]string{annotated: "2.0.0", inherited: ""} {
		if m, err := newRegistry(internet{simHost: s}).Manifest(t.Context(), app(), digest,
			sdk.Platform{}); err != nil || m.Version != want {
			t.Errorf("version %q, %v; want %q", m.Version, err, want)
		}
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
func TestManifestFormats(t *testing.T) {
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
		{"docker", typeDockerManifest, func(s *store) string {
			return s.add(image(`,"mediaType":"`+typeDockerManifest+`"`, ""))
		}, "", ""},
		{"no media type, as OCI allows", typeOCIManifest, func(s *store) string { return s.add(image("", "")) }, "", ""},
		{"nothing but its shape", "", func(s *store) string { return s.add(image("", "")) }, "", ""},
		{"wrong content type", "text/plain; charset=utf-8", func(s *store) string {
			return s.add(image(`,"mediaType":"`+typeOCIManifest+`"`, ""))
		}, "", ""},
		{"annotation", "application/json", func(s *store) string { return s.add(annotated) }, "2025-03-04T05:06:07.000Z", ""},
		{"annotated entry", "", func(s *store) string {
			return s.add(fmt.Sprintf(`{"manifests":[{"digest":%q,"platform":{"os":"linux","architecture":"amd64"},"annotations":{"org.opencontainers.image.created":"2024-01-01T00:00:00+01:00"}}]}`, s.add(image("", ""))))
		}, "2023-12-31T23:00:00.000Z", ""},
		{"nested", "", func(s *store) string {
			inner := s.add(fmt.Sprintf(`{"manifests":[{"digest":%q,"platform":{"os":"linux","architecture":"amd64"}}]}`,
				s.add(image("", ""))))
			return s.add(fmt.Sprintf(`{"manifests":[{"digest":%q}]}`, inner))
		}, "", ""},
		{"nested for ever", "", func(s *store) string {
			digest := s.add(image("", ""))
			for range maxNesting {
				digest = s.add(fmt.Sprintf(`{"manifests":[{"digest":%q}]}`, digest))
			}
			return digest
		}, "", "nested deeper than 3"},
		{"index that is none", typeOCIIndex, func(s *store) string {
			return s.add(image("", ""))
		}, "", "no image for linux/amd64; there is nothing"},
		{"malformed digests", "", func(s *store) string {
			return s.add(`{"manifests":[{"digest":"../../etc"}]}`)
		}, "", "malformed digest"},
		{"other content", "", func(s *store) string {
			digest := s.add(image("", ""))
			s.documents[digest] = annotated
			return digest
		}, "", "answered other content (sha256:"},
		{"web page", "text/html", func(s *store) string { return s.add(`<html>`) }, "", "web page"},
		{"huge", "", func(s *store) string { return s.add(strings.Repeat(" ", maxManifest+1)) }, "", "too large"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := &store{contentType: test.contentType}
			digest := test.build(s)
			got, err := newRegistry(internet{simHost: s}).Manifest(t.Context(), app(), digest, sdk.Platform{
				Architecture: "amd64",
			})
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

// signedSchema1 is a schema 1 manifest with a signature, and the content that is signed.
func signedSchema1() (signed, content string) {
	const body = `{"schemaVersion":1,"name":"a","fsLayers":[{"blobSum":"x"}],"history":[{"v1Compatibility":"{}"}]`
	encode := base64.RawURLEncoding.EncodeToString
	protected := encode(fmt.Appendf(nil, `{"formatLength":%d,"formatTail":%q}`, len(body), encode([]byte("\n}"))))
	return fmt.Sprintf("%s,\"signatures\":[{\"protected\":%q}]\n}", body, protected), body + "\n}"
}

// A manifest that is neither an index nor of an image is known by its digest, also below an index.
func TestManifestOfOtherSorts(t *testing.T) {
	signed, content := signedSchema1()
	for name, test := range map[string]struct{ contentType, body string }{
		"schema 1":              {"application/vnd.docker.distribution.manifest.v1+json", `{"schemaVersion":1}`},
		"schema 1 by its shape": {"application/json", `{"schemaVersion":1,"fsLayers":[]}`},
		"artifact":              {"application/vnd.oci.artifact.manifest.v1+json", `{"blobs":[]}`},
		"unknown type":          {"application/vnd.example.v9+json", `{"schemaVersion":9}`},
		"odd annotations":       {typeOCIManifest, `{"config":{"digest":"` + digestOf(nil, "") + `"},"annotations":{"a":1}}`},
	} {
		s := &store{contentType: test.contentType}
		digest := s.add(test.body)
		got, err := newRegistry(internet{simHost: s}).Manifest(t.Context(), app(), digest, sdk.Platform{
			Architecture: "amd64",
		})
		if err != nil || got != (registry.Manifest{Digest: digest}) {
			t.Errorf("%s: %+v, %v; want nothing but %s", name, got, err, digest)
		}
	}

	s := &store{}
	inside := s.add(`{"schemaVersion":1}`)
	index := s.add(fmt.Sprintf(`{"manifests":[{"digest":%q,"platform":{"os":"linux","architecture":"amd64"}}]}`, inside))
	got, err := newRegistry(internet{simHost: s}).Manifest(t.Context(), app(), index, sdk.Platform{Architecture: "amd64"})
	if err != nil || got != (registry.Manifest{Digest: inside}) {
		t.Errorf("below an index: %+v, %v; want nothing but %s", got, err, inside)
	}

	// The digest of a signed manifest is that of what is signed; no other content may have it.
	digest := digestOf([]byte(content), "")
	s = &store{documents: map[string]string{digest: signed}}
	got, err = newRegistry(internet{simHost: s}).Manifest(t.Context(), app(), digest, sdk.Platform{})
	if err != nil || got != (registry.Manifest{Digest: digest}) {
		t.Errorf("signed: %+v, %v", got, err)
	}
	s.documents[digest] = strings.Replace(signed, `"name":"a"`, `"name":"b"`, 1)
	_, err = newRegistry(internet{simHost: s}).Manifest(t.Context(), app(), digest, sdk.Platform{})
	if err == nil || !strings.Contains(err.Error(), "answered other content") {
		t.Errorf("signed and altered: error %v", err)
	}
}

// TestResolveSignedManifestWithoutHead: engines know a signed manifest by the digest of what is signed.
func TestResolveSignedManifestWithoutHead(t *testing.T) {
	signed, content := signedSchema1()
	for name, test := range map[string]struct{ body, want string }{
		"signed": {signed, content},
		"odd length": {strings.Replace(signed, `"protected":"`,
			`"protected":"eyJmb3JtYXRMZW5ndGgiOi0xfQ","was":"`, 1), ""},
		"no signatures":     {`{"schemaVersion":1,"signatures":[]}`, ""},
		"other JSON":        {`{"schemaVersion":2,"manifests":[],"signatures":[{"protected":"e30"}]}`, ""},
		"malformed header":  {`{"schemaVersion":1,"signatures":[{"protected":"?"}]}`, ""},
		"length beyond end": {`{"schemaVersion":1,"signatures":[{"protected":"eyJmb3JtYXRMZW5ndGgiOjk5OX0"}]}`, ""},
	} {
		r := newRegistry(internet{simHost: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodHead {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			w.Write([]byte(test.body))
		})})
		want := digestOf([]byte(cmp.Or(test.want, test.body)), "")
		if got, err := r.Resolve(t.Context(), app(), "latest"); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
}

// TestManifestOfArtifacts: what is no image is said so, for the requests it takes anyway.
func TestManifestOfArtifacts(t *testing.T) {
	const chart, model = "application/vnd.cncf.helm.config.v1+json", "application/vnd.example.model.v1"
	config := func(mediaType string) string {
		return fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":2}`, mediaType, digestOf([]byte("{}"), ""))
	}
	for name, test := range map[string]struct{ body, want string }{
		"Helm chart":      {`{"schemaVersion":2,"config":` + config(chart) + `}`, chart},
		"by its own type": {`{"artifactType":"` + model + `","config":` + config(typeOCIEmpty) + `}`, model},
		"empty":           {`{"config":` + config(typeOCIEmpty) + `}`, typeOCIEmpty},
		"artifact manifest": {`{"mediaType":"` + typeOCIArtifact + `","artifactType":"` + model + `","blobs":[]}`,
			model},
		"artifact without a type": {`{"mediaType":"` + typeOCIArtifact + `","blobs":[]}`, typeOCIArtifact},
		"image":                   {`{"config":` + config(typeOCIConfig) + `}`, ""},
		"image with a type":       {`{"artifactType":"` + model + `","config":` + config(typeDockerConfig) + `}`, ""},
		"WebAssembly":             {`{"config":` + config("application/vnd.wasm.config.v0+json") + `}`, ""},
		"careless builder":        {`{"config":` + config("application/octet-stream") + `}`, ""},
		"no type":                 {`{"config":` + config("") + `}`, ""},
		"schema 1":                {`{"schemaVersion":1,"fsLayers":[]}`, ""},
	} {
		s := &store{}
		s.add("{}")
		digest := s.add(test.body)
		got, err := newRegistry(internet{simHost: s}).Manifest(t.Context(), app(), digest, sdk.Platform{})
		if err != nil || got.Artifact != test.want || got.Digest != digest {
			t.Errorf("%s: %+v, %v; want %q", name, got, err, test.want)
		}
	}
}

// notManifests are bodies that registries and proxies answer with a status of 200.
var notManifests = map[string]struct{ contentType, body string }{
	"nothing":               {typeOCIManifest, ""},
	"without configuration": {typeOCIManifest, `{"schemaVersion":2}`},
	"malformed config":      {"", `{"config":{"digest":"sha256:x"}}`},
	"truncated":             {typeOCIIndex, `{"schemaVersion":2,"manif`},
	"list":                  {"", `[]`},
	"null":                  {"", `null`},
	"binary":                {"application/octet-stream", "\x00\x01"},
	"text":                  {"text/plain", "service unavailable"},
	"errors":                {"application/json", `{"errors":[{"code":"UNKNOWN"}]}`},
}

// What is no manifest is no other image either, though it may be what a digest names.
func TestManifestRejectsWhatIsNone(t *testing.T) {
	for name, test := range notManifests {
		s := &store{contentType: test.contentType}
		digest := s.add(test.body)
		index := s.add(fmt.Sprintf(`{"manifests":[{"digest":%q,"platform":{"os":"linux","architecture":"amd64"}}]}`, digest))
		for _, of := range []string{digest, index} {
			_, err := newRegistry(internet{simHost: s}).Manifest(t.Context(), app(), of, sdk.Platform{Architecture: "amd64"})
			checkKind(t, err, sdk.ErrUnavailable)
			if err == nil ||
				!strings.Contains(err.Error(),
					fmt.Sprintf("the registry answered something that is no manifest (%d bytes)", len(test.body))) {
				t.Errorf("%s: error %v", name, err)
			}
			s.contentType = "" // which the index has, too
		}
	}
}

// TestResolveRejectsWhatIsNoManifest, where the digest is that of what GET returns.
func TestResolveRejectsWhatIsNoManifest(t *testing.T) {
	for name, test := range notManifests {
		sim, r := newSim(registrysim.Options{})
		sim.Inject(registrysim.HeadRequest, -1, registrysim.Status(200, ""))
		sim.Inject(registrysim.ManifestRequest, 1, registrysim.Status(200, test.body, "Content-Type", test.contentType))
		got, err := r.Resolve(t.Context(), app(), "latest")
		checkKind(t, err, sdk.ErrUnavailable)
		if got != "" || err == nil || !strings.Contains(err.Error(), "no manifest") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if image, _ := sim.Image("team/app", "latest"); mustResolve(t, r, "latest") != image.Digest {
			t.Errorf("%s: then another digest than %s", name, image.Digest)
		}
	}
}

func mustResolve(t *testing.T, r *Registry, tag string) string {
	t.Helper()
	digest, err := r.Resolve(t.Context(), app(), tag)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// The digest that comes with a body is that of the body.
func TestResolveVerifiesDigestOfGet(t *testing.T) {
	const body = `{"schemaVersion":2,"manifests":[]}`
	signed, content := signedSchema1()
	for name, test := range map[string]struct{ body, said, want string }{
		"none":      {body, "", digestOf([]byte(body), "")},
		"right":     {body, digestOf([]byte(body), ""), digestOf([]byte(body), "")},
		"sha512":    {body, digestOf([]byte(body), "sha512:"), digestOf([]byte(body), "sha512:")},
		"malformed": {body, "sha256:abc", digestOf([]byte(body), "")},
		"signed":    {signed, digestOf([]byte(content), ""), digestOf([]byte(content), "")},
		"other":     {body, digestOf(nil, ""), ""},
	} {
		sim, r := newSim(registrysim.Options{})
		sim.Inject(registrysim.HeadRequest, -1, registrysim.Status(405, ""))
		sim.Inject(registrysim.ManifestRequest, -1, registrysim.Status(200, test.body, digestHeader, test.said))
		got, err := r.Resolve(t.Context(), app(), "latest")
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s: %q, %v; want %q", name, got, err, test.want)
		}
		if err != nil && !strings.Contains(err.Error(), "answered other content") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestManifestWithSHA512(t *testing.T) {
	body := `{"config":{"digest":"` + digestOf(nil, "") + `"}}`
	digest := digestOf([]byte(body), "sha512:")
	s := &store{documents: map[string]string{digest: body}}
	if got, err := newRegistry(internet{simHost: s}).Manifest(t.Context(), app(), digest, sdk.Platform{}); err != nil ||
		got.Digest != digest {
		t.Errorf("%+v, %v", got, err)
	}
}

// Blobs are redirected to another host, which must not get the credentials.
func TestBlobsOfAnotherHost(t *testing.T) {
	config := `{"created":"2025-01-02T03:04:05Z"}`
	s := &store{}
	digest := s.add(fmt.Sprintf(`{"config":{"mediaType":%q,"digest":%q,"size":35}}`, typeDockerConfig,
		digestOf([]byte(config), "")))
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

// TestAnnotationsAreNoLabels: of the annotations of a manifest the version and the date are read, and
// nothing else says anything.
func TestAnnotationsAreNoLabels(t *testing.T) {
	s := &store{}
	config := digestOf([]byte("not there"), "")
	plain := `{"config":{"mediaType":%q,"digest":%q,"size":6}%s}`
	bare := s.add(fmt.Sprintf(plain, typeOCIConfig, config, ""))
	annotated := s.add(fmt.Sprintf(plain, typeOCIConfig, config,
		`,"annotations":{"dogwatch.update":"auto","dogwatch.hook.pre":"sh","com.docker.compose.project":"shop","org.opencontainers.image.source":"x"}`))
	r := newRegistry(internet{simHost: s})
	want, err := r.Manifest(t.Context(), app(), bare, sdk.Platform{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Manifest(t.Context(), app(), annotated, sdk.Platform{})
	if got.Digest = want.Digest; err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if _, err := r.ImageConfig(t.Context(), app(), annotated, sdk.Platform{}); err == nil {
		t.Error("annotations are taken for a configuration")
	}
}
