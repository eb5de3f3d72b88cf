package oci

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

const (
	typeOCIIndex       = "application/vnd.oci.image.index.v1+json"
	typeOCIManifest    = "application/vnd.oci.image.manifest.v1+json"
	typeOCIConfig      = "application/vnd.oci.image.config.v1+json"
	typeDockerList     = "application/vnd.docker.distribution.manifest.list.v2+json"
	typeDockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	typeDockerConfig   = "application/vnd.docker.container.image.v1+json"
	// of release candidates of the image specification 1.1
	typeOCIArtifact = "application/vnd.oci.artifact.manifest.v1+json"
	typeOCIEmpty    = "application/vnd.oci.empty.v1+json"
	typeWasmConfig  = "application/vnd.wasm.config." // which engines run

	// acceptManifest ends as that of containerd does: some registries respond with 404 to
	// what no type of the list names.
	acceptManifest = typeOCIIndex + ", " + typeDockerList + ", " + typeOCIManifest + ", " + typeDockerManifest + ", */*"

	// maxManifest is what the distribution specification requires registries to accept at least.
	maxManifest = 4 << 20
	maxConfig   = 1 << 20
	// maxNesting is how deep an index may be nested in indexes.
	maxNesting = 3

	createdAnnotation = "org.opencontainers.image.created"
	versionLabel      = "org.opencontainers.image.version" // of a configuration, and an annotation of a manifest
	refNameLabel      = "org.opencontainers.image.ref.name"
	baseAnnotation    = "org.opencontainers.image.base.name"
	digestHeader      = "Docker-Content-Digest"
)

// Resolve implements registry.Registry, with one HEAD request. Where a
// registry does not respond to that with a digest, it is that of what GET returns.
func (r *Registry) Resolve(ctx context.Context, repo registry.Repository, tag string) (string, error) {
	if !reference.IsTag(tag) {
		return "", sdk.Invalid("tag", "%.140q is not a tag", tag)
	}
	digest, err := r.resolve(ctx, repo, tag)
	if err != nil {
		return "", r.wrap(fmt.Sprintf("find the digest of %s:%s", repo.Name, tag), repo, err)
	}
	return digest, nil
}

func (r *Registry) resolve(ctx context.Context, repo registry.Repository, tag string) (string, error) {
	base, err := r.base(repo.Host)
	if err != nil {
		return "", err
	}
	h := r.shared.host(base)
	req := request{repo: repo, method: http.MethodHead, path: "manifests/" + tag, accept: acceptManifest}
	if h.head() != headFails {
		var digest string
		err := r.do(ctx, req, func(resp *http.Response) error {
			digest = resp.Header.Get(digestHeader)
			return nil
		})
		if err == nil && isDigest(digest) {
			h.setHead(headWorks)
			return digest, nil
		}
		if err != nil && (h.head() == headWorks || !headRefused(err)) {
			return "", err
		}
	}
	req.method = http.MethodGet
	got, err := r.manifest(ctx, req, "")
	if err != nil {
		return "", err
	}
	h.setHead(headFails)
	return got.digest, nil
}

// headRefused reports whether a registry may support GET where it failed HEAD.
func headRefused(err error) bool {
	status := statusOf(err)
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusBadRequest ||
		status == http.StatusNotImplemented
}

// Manifest implements registry.Registry. Created comes from an annotation or,
// by one more request, from the image's configuration; it is zero when neither
// has it, or when that request fails. A manifest that is what digest names and yet
// neither an index nor an image manifest that can be read (schema 1, artifacts,
// types to come) has its digest and nothing else.
func (r *Registry) Manifest(
	ctx context.Context, repo registry.Repository, digest string, platform sdk.Platform,
) (registry.Manifest, error) {
	if !isDigest(digest) {
		return registry.Manifest{}, sdk.Invalid("digest", "%.140q is not a sha256 or sha512 digest", digest)
	}
	m, err := r.describe(ctx, repo, digest, platform)
	if err != nil {
		return registry.Manifest{}, r.wrap(fmt.Sprintf("read the manifest %s@%s", repo.Name, short(digest)), repo, err)
	}
	return m, nil
}

func (r *Registry) describe(
	ctx context.Context, repo registry.Repository, digest string, platform sdk.Platform,
) (registry.Manifest, error) {
	image, err := r.find(ctx, repo, digest, platform)
	if err != nil {
		return registry.Manifest{}, err
	}
	m := registry.Manifest{Digest: image.digest, Created: parseCreated(image.created), Artifact: image.artifact()}
	if image.Config == nil {
		return m, nil
	}
	m.Config = image.Config.Digest
	m.Created = parseCreated(cmp.Or(image.Annotations[createdAnnotation], image.created))
	m.Version = image.Annotations[versionLabel]
	if m.Created.IsZero() { // and only then the configuration is read, which may say the version too
		var version string
		m.Created, version = r.created(ctx, repo, *image.Config)
		m.Version = cmp.Or(m.Version, version)
	}
	return m, ctx.Err()
}

// found is the manifest of one platform.
type found struct {
	// document has no Config when the manifest cannot be read.
	document
	digest string
	// created is what an index says of it; "" when it says nothing.
	created string
}

// find follows indexes down to the manifest of a platform.
func (r *Registry) find(
	ctx context.Context, repo registry.Repository, digest string, platform sdk.Platform,
) (found, error) {
	var created string
	for range maxNesting {
		req := request{repo: repo, method: http.MethodGet, path: "manifests/" + digest, accept: acceptManifest}
		got, err := r.manifest(ctx, req, digest)
		if err != nil {
			return found{}, err
		}
		if got.Manifests == nil {
			return found{document: got.document, digest: digest, created: created}, nil
		}
		entry, err := choosePlatform(got.Manifests, platform)
		if err != nil {
			return found{}, err
		}
		if !isDigest(entry.Digest) {
			return found{}, protocolError("has an index with a malformed digest")
		}
		digest, created = entry.Digest, entry.Annotations[createdAnnotation]
	}
	return found{}, protocolError("has indexes nested deeper than %d", maxNesting)
}

// named is what is behind a tag or digest.
type named struct {
	// document has neither Config nor Manifests when it cannot be read.
	document
	digest string
}

// manifest returns what is behind a tag or digest. What is not what the digest names, of the
// request or else of the response, or no manifest at all, is an error: registries and proxies
// do answer 200 with nothing, or with half a document.
func (r *Registry) manifest(ctx context.Context, req request, digest string) (named, error) {
	var body []byte
	var contentType, headerDigest string
	err := r.do(ctx, req, func(resp *http.Response) (err error) {
		if isWebPage(resp) {
			return webPage(resp)
		}
		contentType, headerDigest = resp.Header.Get("Content-Type"), resp.Header.Get(digestHeader)
		body, err = httpclient.ReadAll(resp, maxManifest)
		return err
	})
	if err != nil {
		return named{}, err
	}
	if digest == "" && isDigest(headerDigest) {
		digest = headerDigest
	}
	if digest == "" {
		digest = digestOf(signedContent(body), "")
	} else if err := verifyManifest(body, digest); err != nil {
		return named{}, err
	}
	d, err := readDocument(body, contentType)
	return named{document: d, digest: digest}, err
}

// document is a manifest or an index: exactly one of Config and Manifests is set.
type document struct {
	MediaType    string            `json:"mediaType"`
	ArtifactType string            `json:"artifactType"`
	Config       *descriptor       `json:"config"`
	Manifests    []descriptor      `json:"manifests"`
	FSLayers     json.RawMessage   `json:"fsLayers"`
	Layers       json.RawMessage   `json:"layers"`
	Annotations  map[string]string `json:"annotations"`
}

// artifact returns the type of what is no image, which is that of its configuration, or what it
// says itself where it has none (OCI image specification, "Guidelines for Artifact Usage");
// "" for images, and for what says nothing of it.
func (d document) artifact() string {
	switch {
	case d.Config == nil && d.MediaType == typeOCIArtifact:
		return cmp.Or(d.ArtifactType, d.MediaType)
	case d.Config == nil || isImageConfig(*d.Config) || strings.HasPrefix(d.Config.MediaType, typeWasmConfig):
		return ""
	case d.Config.MediaType == typeOCIEmpty:
		return cmp.Or(d.ArtifactType, d.Config.MediaType)
	case strings.HasPrefix(d.Config.MediaType, "application/vnd."):
		return d.Config.MediaType
	}
	return ""
}

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Platform    *sdk.Platform     `json:"platform"`
	Annotations map[string]string `json:"annotations"`
}

// readDocument reads a manifest. Its type is the content type of the
// response, else its own media type, else by its shape: both are optional or
// wrong on some registries. What is neither an index nor an
// image manifest, such as one of schema 1 or of a type to come, is empty. What is no manifest
// of any sort is an error.
func readDocument(body []byte, contentType string) (document, error) {
	if !isManifest(body) {
		return document{}, protocolError("answered something that is no manifest (%d bytes)", len(body))
	}
	var d document
	if json.Unmarshal(body, &d) != nil {
		return document{}, nil
	}
	other := document{MediaType: d.MediaType, ArtifactType: d.ArtifactType}
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil || !isManifestType(kind) {
		kind = d.MediaType
	}
	index := kind == typeOCIIndex || kind == typeDockerList
	image := kind == typeOCIManifest || kind == typeDockerManifest
	switch {
	case d.FSLayers != nil || strings.Contains(kind, "distribution.manifest.v1"):
		return other, nil
	case index, !image && d.Manifests != nil:
		d.Config, d.Manifests = nil, append([]descriptor{}, d.Manifests...) // an index without entries is one, too
		return d, nil
	case d.Config != nil && isDigest(d.Config.Digest):
		d.Manifests = nil
		return d, nil
	}
	return other, nil
}

// isManifest reports whether a body has what makes a manifest of some sort, though the rest
// may be unreadable: the configuration of an image, the entries of an index, the layers of
// schema 1, the blobs of an artifact. Of schemas to come only the number is known.
func isManifest(body []byte) bool {
	var m struct {
		SchemaVersion int `json:"schemaVersion"`
		Config        struct {
			Digest string `json:"digest"`
		} `json:"config"`
		Manifests []json.RawMessage `json:"manifests"`
		FSLayers  []json.RawMessage `json:"fsLayers"`
		Blobs     []json.RawMessage `json:"blobs"`
	}
	if json.Unmarshal(body, &m) != nil {
		return false
	}
	return isDigest(m.Config.Digest) || m.Manifests != nil || m.FSLayers != nil || m.Blobs != nil ||
		m.SchemaVersion == 1 || m.SchemaVersion > 2
}

func isManifestType(kind string) bool {
	return strings.HasPrefix(kind, "application/vnd.oci.image.") ||
		strings.HasPrefix(kind, "application/vnd.docker.distribution.manifest.")
}

// created reads when an image was made, and which version it says it is, from its configuration.
func (r *Registry) created(
	ctx context.Context, repo registry.Repository, config descriptor,
) (created sdk.Time, version string) {
	var image struct {
		Created string `json:"created"`
		Config  struct {
			Labels map[string]string
		} `json:"config"`
	}
	if !isImageConfig(config) || config.Size > maxConfig || r.config(ctx, repo, config, &image) != nil {
		return sdk.Time{}, ""
	}
	version = image.Config.Labels[versionLabel]
	if image.Config.Labels[refNameLabel] == "ubuntu" && path.Base(repo.Name) != "ubuntu" && isUbuntuVersion(version) {
		version = "" // of what it is built on, whose labels it inherits
	}
	return parseCreated(image.Created), version
}

// isUbuntuVersion reports whether a version may be one of Ubuntu: a year, and April or October.
func isUbuntuVersion(version string) bool {
	return len(version) == len("24.04") && (strings.HasSuffix(version, ".04") || strings.HasSuffix(version, ".10"))
}

func isImageConfig(d descriptor) bool {
	return d.MediaType == typeOCIConfig || d.MediaType == typeDockerConfig
}

// config reads the configuration of an image into v.
func (r *Registry) config(ctx context.Context, repo registry.Repository, config descriptor, v any) error {
	req := request{repo: repo, method: http.MethodGet, path: "blobs/" + config.Digest, accept: "*/*"}
	var body []byte
	err := r.do(ctx, req, func(resp *http.Response) (err error) {
		body, err = httpclient.ReadAll(resp, maxConfig)
		return err
	})
	if err == nil {
		err = verify(body, config.Digest)
	}
	if err == nil && json.Unmarshal(body, v) != nil {
		err = protocolError("has a configuration of the image that cannot be read")
	}
	return err
}

func parseCreated(text string) sdk.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return sdk.Time{}
	}
	return sdk.TimeOf(t)
}
