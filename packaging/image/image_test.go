package main

import (
	"archive/tar"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/dogwatch/dogwatch/packaging/registryserver"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// hello builds a program; env is that of go build.
func hello(t *testing.T, env ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "dogwatch")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", file, "./testdata/hello")
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// made runs the command and returns what it prints.
func made(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

// TestImageIsPushed to a registry, from which a real engine runs it: without a network, read-only and unprivileged.
func TestImageIsPushed(t *testing.T) {
	t.Parallel()
	host := registryserver.Start(t)
	programs := []string{hello(t), hello(t, "GOARCH=arm", "GOARM=6"), hello(t, "GOARCH=arm", "GOARM=7")}
	one, latest := host+"/dogwatch:1.2.3", host+"/dogwatch:latest"
	digest := made(t, append([]string{"-version", "1.2.3", "-push", one, "-push", latest}, programs...)...)
	for _, at := range []string{one, latest} {
		ref, err := name.ParseReference(at)
		if err != nil {
			t.Fatal(err)
		}
		index, err := remote.Index(ref)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := index.Digest(); err != nil || got.String() != digest {
			t.Errorf("%s has %s, want %s (%v)", at, got, digest, err)
		}
		checkIndex(t, index, "linux/amd64", "linux/arm/v6", "linux/arm/v7")
	}

	engine := dockertest.Start(t)
	cmd := exec.CommandContext(t.Context(), "docker", "run", "--read-only", "--network", "none", "--cap-drop", "ALL", one)
	cmd.Env = append(os.Environ(), "DOCKER_HOST="+engine.Host)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "hello\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

func checkIndex(t *testing.T, index v1.ImageIndex, platforms ...string) {
	t.Helper()
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range manifest.Manifests {
		got = append(got, m.Platform.String())
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if p := config.Platform().String(); p != m.Platform.String() {
			t.Errorf("the image for %s says that it is for %s", m.Platform, p)
		}
		labels := config.Config.Labels
		if config.Config.User != "1000:1000" || config.Config.Healthcheck == nil ||
			labels["org.opencontainers.image.version"] != "1.2.3" || labels["org.opencontainers.image.source"] != source ||
			!maps.Equal(labels, manifest.Annotations) {
			t.Errorf("%s has %+v, and the index %v", m.Platform, config.Config, manifest.Annotations)
		}
	}
	if !slices.Equal(got, platforms) {
		t.Errorf("it is for %q, want %q", got, platforms)
	}
}

// TestLayoutIsReproducible: another copy of the same program makes the same image, in the folder of an OCI layout.
func TestLayoutIsReproducible(t *testing.T) {
	t.Parallel()
	var digests []string
	for range 2 {
		folder := filepath.Join(t.TempDir(), "image")
		digests = append(digests, made(t, "-version", "1.2.3", "-layout", folder, hello(t)))
		top, err := layout.ImageIndexFromPath(folder)
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := top.IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		index, err := top.ImageIndex(manifest.Manifests[0].Digest)
		if err != nil {
			t.Fatal(err)
		}
		checkIndex(t, index, "linux/amd64")
		if err := run(t.Context(), []string{"-layout", folder, hello(t)}, io.Discard); !errors.Is(err, os.ErrExist) {
			t.Errorf("a folder that is there was written into: %v", err)
		}
	}
	if digests[0] != digests[1] {
		t.Errorf("two builds are %q", digests)
	}
}

// TestFiles: what is in the image, and that its certificates are such.
func TestFiles(t *testing.T) {
	t.Parallel()
	programs, err := readPrograms([]string{hello(t)})
	if err != nil {
		t.Fatal(err)
	}
	image, err := newImage("1.2.3", programs[0])
	if err != nil {
		t.Fatal(err)
	}
	content := mutate.Extract(image)
	defer content.Close()
	var got []string
	for files := tar.NewReader(content); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %o %s%d:%d", h.Name, h.Mode, h.Linkname, h.Uid, h.Gid))
		if strings.HasSuffix(h.Name, ".crt") {
			text, err := io.ReadAll(files)
			if pool := x509.NewCertPool(); err != nil || !pool.AppendCertsFromPEM(text) || strings.Count(string(text), "BEGIN") < 100 {
				t.Errorf("%s has no certificates (%v)", h.Name, err)
			}
		}
	}
	slices.Sort(got)
	want := []string{
		"bin 755 0:0", "bin/curl 777 dogwatch0:0", "bin/dogwatch 755 0:0", "bin/sh 777 dogwatch0:0", "etc 755 0:0",
		"etc/ssl 755 0:0", "etc/ssl/certs 755 0:0", "etc/ssl/certs/ca-certificates.crt 644 0:0", "store 1777 0:0", "tmp 1777 0:0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestImageRefuses(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "image")
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	program := hello(t)
	for _, test := range []struct {
		want string
		args []string
	}{
		{"say where to", []string{program}},
		{"name the programs", []string{"-layout", folder}},
		{"are both for linux/amd64", []string{"-layout", folder, program, program}},
		{"it needs libraries", []string{"-layout", folder, hello(t, "CGO_ENABLED=1")}},
		{"it is for darwin/arm64, and an image is for linux", []string{"-layout", folder, hello(t, "GOOS=darwin", "GOARCH=arm64")}},
		{"text: unrecognized file format", []string{"-layout", folder, text}},
		{"could not parse reference: A:B", []string{"-push", "A:B", program}},
		{"an archive has one program", []string{"-archive", "dogwatch", program, hello(t, "GOARCH=arm")}},
	} {
		if err := run(t.Context(), test.args, io.Discard); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("want %q, got %v", test.want, err)
		}
		if _, err := os.Stat(folder); err == nil {
			t.Errorf("%s: the folder is there", test.want)
		}
	}
}
