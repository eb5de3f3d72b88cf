package artifact_test

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
)

func TestLookForNewer(t *testing.T) {
	s := newServed(t)
	file := lamp(write(t, script))
	first := s.push(t, "1.0.0", nil, file)
	s.push(t, "latest", nil, file)
	source := func(end string) artifact.Source {
		source, err := artifact.ParseSource(s.host + "/me/lamp" + end)
		must(t, err)
		return source
	}
	f := artifact.Fetcher{Logins: plain{}, Platform: amd64}
	accept := func(artifact.Fetched) error { return nil }
	look := func(end, digest, want string) {
		t.Helper()
		got, err := f.LookForNewer(t.Context(), artifact.Have{Source: source(end), Digest: digest, Accept: accept})
		if want != "" {
			want = s.host + "/me/lamp:" + want
		}
		if err != nil || got.Ref != want {
			t.Errorf("newer than %s is %+v, %v; want %q", end, got, err, want)
		}
	}
	look(":1.0.0", first, "")
	for _, version := range []string{"1.2.0", "1.10.0"} {
		s.push(t, version, nil, versioned(lamp(write(t, script+"# "+version)), version))
	}
	s.push(t, "sha256-"+strings.Repeat("9", 64)+".sig", nil, file)
	look(":1.0.0", first, "1.10.0")
	look(":latest", first, "")
	look("@"+first, first, "")
	s.push(t, "latest", nil, lamp(write(t, script+"# 1.2.0")))
	look(":latest", first, "latest")
	if _, err := f.LookForNewer(t.Context(), artifact.Have{
		Source: artifact.Source{File: "/lamp"}, Digest: first,
	}); err != nil {
		t.Error(err)
	}
	gone, err := artifact.ParseSource(s.host + "/me/none:1")
	must(t, err)
	if _, err := f.LookForNewer(t.Context(), artifact.Have{Source: gone, Digest: first}); err == nil ||
		!strings.Contains(err.Error(), "the registry has no such artifact") {
		t.Errorf("a repository that is gone: %v", err)
	}
}

// TestWriteLayout: what is written is a layout that other tools read.
func TestWriteLayout(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "oci")
	signer, _ := newSigner(t)
	both := []artifact.Built{lamp(write(t, script)), lamp(write(t, script+"# arm"))}
	both[0].Platform, both[1].Platform = "linux/amd64", "linux/arm/v7"
	digests := map[string]string{}
	for _, tag := range []string{"1", "1", "2"} { // the same once more changes nothing
		digest, err := artifact.WriteLayout(t.Context(), dir, tag, both, signer)
		must(t, err)
		digests[tag] = digest
	}
	l, err := layout.FromPath(dir)
	must(t, err)
	index, err := l.ImageIndex()
	must(t, err)
	m, err := index.IndexManifest()
	must(t, err)
	if len(m.Manifests) != 2 || m.Manifests[0].Digest.String() != digests["1"] ||
		m.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "1" {
		t.Fatalf("its index is %+v", m)
	}
	root, err := index.ImageIndex(m.Manifests[0].Digest)
	must(t, err)
	images, err := root.IndexManifest()
	must(t, err)
	if len(images.Manifests) != 2 || images.Manifests[1].Platform.String() != "linux/arm/v7" {
		t.Errorf("the artifact is %+v", images)
	}
	image, err := root.Image(images.Manifests[1].Digest)
	must(t, err)
	layers, err := image.Layers()
	must(t, err)
	r, err := layers[0].Compressed()
	must(t, err)
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil || string(text) != script+"# arm" {
		t.Errorf("the executable is %q, %v", text, err)
	}
}
