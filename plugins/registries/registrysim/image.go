package registrysim

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar"
	typeChart    = "application/vnd.cncf.helm.config.v1+json"
)

// Image names what is behind a tag.
type Image struct {
	// Digest is that of the index.
	Digest string
	// Platforms are its images, in the order of Options.Platforms.
	Platforms []PlatformImage
}

// PlatformImage is the image for one platform.
type PlatformImage struct {
	Platform sdk.Platform
	// Digest is that of its manifest, Config that of its configuration.
	Digest, Config string
	Created        time.Time
	// Settings are what its configuration says under "config", Labels the labels among them.
	Settings map[string]any
	Labels   map[string]string
	// Size is that of its layers, in bytes.
	Size int64
}

// part is one document of an image.
type part struct {
	repo     string
	revision int
}

// content is an image as it is served: documents by digest.
type content struct {
	index     string
	documents map[string]document
	platforms []PlatformImage
}

type document struct {
	mediaType string
	body      []byte
}

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Platform    *sdk.Platform     `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

type index struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

type config struct {
	sdk.Platform
	Created string         `json:"created"`
	Config  map[string]any `json:"config"`
	RootFS  rootFS         `json:"rootfs"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

// firstRevision is an hour before the first image was made, when Options.Created is nil.
var firstRevision = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// publish makes an image and remembers where its documents are. The caller holds the lock.
func (r *Registry) publish(repo string, revision int) *content {
	c := r.build(repo, revision)
	for digest := range c.documents {
		r.parts[digest] = part{repo: repo, revision: revision}
	}
	return c
}

// build makes a chart, or an image: for each platform a layer of the repository and one of the image, a configuration
// and a
// manifest, and an index over them with an attestation as BuildKit adds.
func (r *Registry) build(repo string, revision int) *content {
	c := &content{documents: map[string]document{}}
	created := r.options.Created(revision)
	if r.charts[revision] {
		chart := manifest{
			SchemaVersion: 2, MediaType: typeManifest,
			Config: c.addJSON(typeChart, map[string]string{"name": repo, "version": fmt.Sprint(revision)}),
			Layers: []descriptor{},
		}
		c.index = c.addJSON(typeManifest, chart).Digest
		return c
	}
	list := index{SchemaVersion: 2, MediaType: typeIndex}
	settings := r.options.Config(repo, revision)
	labels, _ := settings["Labels"].(map[string]string)
	for _, platform := range r.options.Platforms {
		layer := c.add(typeLayer,
			[]byte(fmt.Sprintf("%s %d %s/%s%s", repo, revision, platform.OS, platform.Architecture, platform.Variant)))
		base := c.add(typeLayer,
			[]byte(fmt.Sprintf("%s %s/%s%s", repo, platform.OS, platform.Architecture, platform.Variant)))
		if size := r.options.Size; size != nil {
			layer.Size = size(repo, revision)
			base.Size = 2 * layer.Size
		}
		conf := c.addJSON(typeConfig, config{
			Platform: platform, Created: created.Format(time.RFC3339), Config: settings,
			RootFS: rootFS{Type: "layers", DiffIDs: []string{base.Digest, layer.Digest}},
		})
		entry := c.addJSON(typeManifest, manifest{
			SchemaVersion: 2, MediaType: typeManifest, Config: conf, Layers: []descriptor{base, layer},
		})
		entry.Platform = &platform
		list.Manifests = append(list.Manifests, entry)
		c.platforms = append(c.platforms, PlatformImage{
			Platform: platform, Digest: entry.Digest, Config: conf.Digest, Created: created,
			Settings: settings, Labels: labels, Size: base.Size + layer.Size,
		})
	}
	proof := c.addJSON(typeManifest, manifest{
		SchemaVersion: 2, MediaType: typeManifest, Config: c.addJSON(typeConfig, struct{}{}), Layers: []descriptor{},
	})
	proof.Platform = &sdk.Platform{OS: "unknown", Architecture: "unknown"}
	proof.Annotations = map[string]string{"vnd.docker.reference.type": "attestation-manifest"}
	list.Manifests = append(list.Manifests, proof)
	c.index = c.addJSON(typeIndex, list).Digest
	return c
}

func (c *content) addJSON(mediaType string, v any) descriptor {
	body, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("the simulated image cannot be written: %v", err)) // its types have only texts and numbers
	}
	return c.add(mediaType, body)
}

func (c *content) add(mediaType string, body []byte) descriptor {
	sum := sha256.Sum256(body)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	c.documents[digest] = document{mediaType: mediaType, body: body}
	return descriptor{MediaType: mediaType, Digest: digest, Size: int64(len(body))}
}

func (c *content) image() Image { return Image{Digest: c.index, Platforms: c.platforms} }
