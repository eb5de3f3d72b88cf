package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

const source = "https://github.com/dogwatch/dogwatch"

// newIndex returns the image for all platforms.
func newIndex(version string, programs []program) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range programs {
		image, err := newImage(version, p)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &p.platform},
		})
	}
	annotated, _ := mutate.Annotations(index, labels(version, programs[0])).(v1.ImageIndex)
	return annotated, nil
}

// labels are those of https://specs.opencontainers.org/image-spec/annotations/.
func labels(version string, p program) map[string]string {
	const prefix = "org.opencontainers.image."
	all := map[string]string{
		prefix + "title":         "Dogwatch",
		prefix + "description":   "Watches containers for newer images",
		prefix + "url":           source,
		prefix + "source":        source,
		prefix + "documentation": source + "/blob/main/docs/README.md",
		prefix + "licenses":      "MIT",
		prefix + "version":       version,
	}
	if p.revision != "" {
		all[prefix+"revision"] = p.revision
		all[prefix+"created"] = p.date.Format(time.RFC3339)
	}
	return all
}

// newImage returns the image for one platform. What changes least is its first layer.
func newImage(version string, p program) (v1.Image, error) {
	system, err := newLayer(p.date, folders, certificates)
	if err != nil {
		return nil, err
	}
	own, err := newLayer(p.date, p.write)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS: p.platform.OS, Architecture: p.platform.Architecture, Variant: p.platform.Variant,
		Created: v1.Time{Time: p.date}, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			Env: []string{"PATH=/bin"},
			// Nobody in particular: /store and /tmp can be written by any user.
			User:         "1000:1000",
			ExposedPorts: map[string]struct{}{"3000/tcp": {}},
			Healthcheck: &v1.HealthConfig{
				Test:     []string{"CMD", "/bin/dogwatch", "healthcheck"},
				Interval: 30 * time.Second, Timeout: 5 * time.Second, StartPeriod: 10 * time.Second, Retries: 3,
			},
			Entrypoint: []string{"/bin/dogwatch"},
			Labels:     labels(version, p),
		},
	})
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: p.date}
	return mutate.Append(image,
		mutate.Addendum{Layer: system, History: v1.History{Created: created, CreatedBy: "folders and certificates"}},
		mutate.Addendum{Layer: own, History: v1.History{Created: created, CreatedBy: "dogwatch " + version}})
}

// writer writes files of a layer; header completes what it knows of one.
type writer func(w *tar.Writer, header func(tar.Header) *tar.Header) error

// newLayer returns a compressed layer, whose files belong to root and were changed at a time.
func newLayer(changed time.Time, writers ...writer) (v1.Layer, error) {
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	header := func(h tar.Header) *tar.Header {
		h.ModTime, h.Format = changed, tar.FormatPAX
		return &h
	}
	for _, write := range writers {
		if err := write(w, header); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching,
		tarball.WithCompressionLevel(gzip.DefaultCompression))
}

func folders(w *tar.Writer, header func(tar.Header) *tar.Header) error {
	for _, f := range []struct {
		name string
		mode int64
	}{
		{"bin/", 0o755}, {"etc/", 0o755}, {"etc/ssl/", 0o755}, {"etc/ssl/certs/", 0o755},
		// Plugins have their sockets in /tmp, the database is in /store.
		{"store/", 0o1777}, {"tmp/", 0o1777},
	} {
		if err := w.WriteHeader(header(tar.Header{Typeflag: tar.TypeDir, Name: f.name, Mode: f.mode})); err != nil {
			return err
		}
	}
	return nil
}

// certificates writes those of the authorities that Mozilla trusts.
func certificates(w *tar.Writer, header func(tar.Header) *tar.Header) error {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if err := pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return err
		}
	}
	h := header(tar.Header{Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644, Size: int64(text.Len())})
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err := text.WriteTo(w)
	return err
}

// write writes the program, and the names under which health checks that were written for other images find it.
func (p program) write(w *tar.Writer, header func(tar.Header) *tar.Header) error {
	content, err := os.ReadFile(p.file)
	if err != nil {
		return err
	}
	if err := w.WriteHeader(header(tar.Header{Name: "bin/dogwatch", Mode: 0o755, Size: int64(len(content))})); err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	for _, name := range []string{"curl", "sh"} {
		link := tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + name, Linkname: "dogwatch", Mode: 0o777}
		if err := w.WriteHeader(header(link)); err != nil {
			return err
		}
	}
	return nil
}
