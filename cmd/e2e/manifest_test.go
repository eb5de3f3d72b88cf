package e2e

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
)

// stubManifest is what a registry answers about the tag latest of a repository.
type stubManifest struct {
	contentType, body string
	// digest is that of body when empty. The digest of a signed schema 1 manifest leaves out its signatures.
	digest string
	// silent leaves the digest out of all responses.
	silent bool
	// get answers GET in place of contentType and body.
	get http.HandlerFunc
}

// schema1 is an image manifest of version 2, schema 1, as registries still keep
// those of images that were pushed before 2017
// (https://distribution.github.io/distribution/spec/manifest-v2-1/).
const schema1 = "{\n" +
	`   "schemaVersion": 1,` + "\n" +
	`   "name": "team/app", "tag": "latest", "architecture": "amd64",` + "\n" +
	`   "fsLayers": [{"blobSum": "sha256:a3ed95caeb02ffe68cdd9fd84406680ae93d633cb16422d00e8a7c22955b46d4"}],` + "\n" +
	`   "history": [{"v1Compatibility": "{\"id\":\"e45a5af57b00\"}"}]` + "\n}"

// sign adds a signature to a schema 1 manifest, in the form of libtrust.
func sign(manifest string) string {
	body := strings.TrimSuffix(manifest, "\n}")
	encode := base64.RawURLEncoding.EncodeToString
	protected := encode(fmt.Appendf(nil, `{"formatLength":%d,"formatTail":%q,"time":"2016-01-02T03:04:05Z"}`, len(body),
		encode([]byte("\n}"))))
	return body +
		fmt.Sprintf(`,"signatures": [{"header": {"alg": "ES256"}, "signature": "c2lnbmF0dXJl", "protected": %q}]`,
			protected) + "\n}"
}

func stubRegistry(t *testing.T, repositories map[string]stubManifest) (host string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		repo, reference, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/"), "/manifests/")
		m, known := repositories[repo]
		if !found || !known || reference != "latest" && reference != m.digest {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if r.Method == http.MethodGet && m.get != nil {
			m.get(w, r)
			return
		}
		w.Header().Set("Content-Type", m.contentType)
		if !m.silent {
			w.Header().Set("Docker-Content-Digest", m.digest)
		}
		if r.Method == http.MethodGet {
			_, _ = w.Write([]byte(m.body)) // a client that has gone needs no answer
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// TestUnreadableManifest: another digest behind the tag is an update, whatever the manifest is;
// what is no manifest, and a registry that cannot be asked for it, is a failure.
func TestUnreadableManifest(t *testing.T) {
	t.Parallel()
	broken := func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }
	repositories := map[string]stubManifest{
		"signed": {
			contentType: "application/vnd.docker.distribution.manifest.v1+prettyjws", body: sign(schema1),
			digest: enginesim.Digest(schema1),
		},
		"unsigned": {contentType: "application/vnd.docker.distribution.manifest.v1+json", body: schema1},
		"artifact": {
			contentType: "application/vnd.oci.artifact.manifest.v1+json",
			body:        `{"mediaType":"application/vnd.oci.artifact.manifest.v1+json","artifactType":"application/vnd.example.sbom","blobs":[]}`,
		},
		"unknown": {contentType: "application/vnd.example.manifest.v9+json", body: `{"schemaVersion":9}`},

		"empty":     {contentType: "application/vnd.oci.image.index.v1+json"},
		"garbage":   {contentType: "application/octet-stream", body: "\x00\x01\x02"},
		"truncated": {contentType: "application/vnd.oci.image.manifest.v1+json", body: `{"schemaVersion":2,"conf`},
		"error":     {contentType: "application/json", body: `{"errors":[{"code":"UNKNOWN","message":"try again"}]}`},
		"unsaid":    {contentType: "application/vnd.oci.image.index.v1+json", silent: true},

		"forged": {
			contentType: "application/vnd.oci.image.manifest.v1+json", body: `{"schemaVersion":2}`,
			digest: enginesim.Digest("another manifest"),
		},
		"down": {
			contentType: "application/json", body: `{}`,
			get: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		},
		"broken": {contentType: "application/json", body: `{}`, get: broken},
		"captive": {
			contentType: "application/json", body: `{}`,
			get: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/html") },
		},
	}
	failing := map[string]string{
		"forged": "answered other content", "down": "502", "broken": "EOF", "captive": "web page",
		"empty": "no manifest (0 bytes)", "garbage": "no manifest (3 bytes)", "truncated": "no manifest",
		"error":  "no manifest",
		"unsaid": "no manifest (0 bytes)",
	}
	for name, m := range repositories {
		if m.digest == "" {
			m.digest = enginesim.Digest(m.body)
		}
		repositories[name] = m
	}
	host := stubRegistry(t, repositories)
	engine := enginesim.New(enginesim.Config{})
	run := func(container, repo, digest string) {
		reference := host + "/" + repo + ":latest"
		engine.AddImage(enginesim.Image{
			ID: enginesim.Digest(container), Tags: []string{reference}, Digests: []string{host + "/" + repo + "@" + digest},
		})
		_, err := engine.Create(enginesim.Container{Name: container, Image: reference})
		must(t, err)
	}
	for name, m := range repositories {
		run(name, name, enginesim.Digest("what ran before"))
		// Created from the same tag when it meant what it still means.
		run(name+"-current", name, m.digest)
	}
	server, err := engine.Listen(shortDir(t))
	must(t, err)
	t.Cleanup(func() { server.Close() })
	d := install(t, "DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET="+server.Address, "DOGWATCH_WATCHER_DOCKER_LOCAL_CRON=0 0 1 1 *",
		"DOGWATCH_REGISTRY_CUSTOM_SIM_URL=http://"+host).start()
	for range 2 { // what is remembered of a manifest decides as the manifest did
		for _, c := range get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch") {
			name, current := strings.CutSuffix(c.Name, "-current")
			m := repositories[name]
			switch want, fails := failing[name]; {
			case current && !m.silent:
				if c.Check.State != sdk.CheckOK || c.UpdateAvailable {
					t.Errorf("%s: %s", c.Name, show(c))
				}
			case fails:
				if c.Check.State != sdk.CheckFailed || c.UpdateAvailable || c.Error == nil ||
					!strings.Contains(c.Error.Message, want) {
					t.Errorf("%s: want a failure with %q, got %s", c.Name, want, show(c))
				}
			case c.Check.State != sdk.CheckOK || !c.UpdateAvailable || c.UpdateKind.Kind != sdk.KindDigest ||
				c.UpdateKind.RemoteValue != m.digest:
				t.Errorf("%s: want the update to %s, got %s", c.Name, m.digest, show(c))
			}
		}
	}
	d.stop()
}
